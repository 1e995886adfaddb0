//! The threads that send, one for each receiver.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver as Inbox, RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use history::past::CHECKS;
use service::{Level, Log};
use store::{History, StoreError};

use crate::delivery::{Delivery, Later, Shipment, Suspects};
use crate::options::ReceiverOptions;
use crate::progress::Progress;
use crate::samples::{Part, Reader};
use crate::selection::Selection;

/// The part of a CPU that catching up may take.
const CPU_RATIO: f64 = 0.2;
/// The pauses before what failed is tried again: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// What a new receiver is behind.
const AT_FIRST: &str = "a new receiver";

/// The threads, as long as this is kept. A request that is on its way is waited for by its thread alone.
#[derive(Debug)]
pub struct RemoteWriteWatch {
    options: Vec<ReceiverOptions>,
    /// Dropped, they end the threads.
    _ends: Vec<Sender<()>>,
}

impl RemoteWriteWatch {
    /// Begins. The history is that of a data directory that this process has locked.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(options: Vec<ReceiverOptions>, history: &Path) -> io::Result<Self> {
        let mut ends = Vec::new();
        for receiver in options.iter().cloned() {
            let (end, inbox) = channel();
            ends.push(end);
            let history = history.to_owned();
            let work = move || match Sending::new(receiver, history) {
                Ok(mut sending) => sending.run(&inbox),
                // They were parsed when the configuration was read.
                Err(message) => Log::open().write(Level::Warning, &message),
            };
            std::thread::Builder::new().name("remote write".to_owned()).spawn(work)?;
        }
        Ok(Self { options, _ends: ends })
    }

    /// The receivers.
    pub fn options(&self) -> &[ReceiverOptions] {
        &self.options
    }
}

/// A history of which samples go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Machine,
    Checks,
}

/// Samples on their way, and where they are from.
struct OnItsWay {
    origin: Origin,
    /// The place behind them.
    to_ns: i64,
    shipment: Shipment,
}

struct Sending {
    options: ReceiverOptions,
    history: PathBuf,
    data: PathBuf,
    delivery: Delivery,
    machine: (Reader, Selection),
    checks: (Reader, Selection),
    suspects: Suspects,
    progress: Progress,
    on_its_way: Option<OnItsWay>,
    /// Where it goes on, by origin, where that is before the receiver's place: it may have lost what it took last.
    from_ns: [Option<i64>; 2],
    has_stepped_back: bool,
    pause: Duration,
    log: Log,
}

impl Sending {
    fn new(options: ReceiverOptions, history: PathBuf) -> Result<Self, String> {
        let log = Log::open();
        let data = history.parent().unwrap_or(Path::new(".")).to_owned();
        let selection =
            || Selection::new(&options).map_err(|error| format!("remote write to {}: {error}", options.name));
        let (machine, checks) = ((Reader::new(), selection()?), (Reader::new(), selection()?));
        let mut progress = Progress::read(&data, &options.name).unwrap_or_else(|error| {
            let name = &options.name;
            log.write(
                Level::Warning,
                &format!("remote write to {name}: {error}; it is taken for {AT_FIRST}"),
            );
            Progress::default()
        });
        progress.name.clone_from(&options.name);
        progress.url = shown(&options.url);
        Ok(Self {
            delivery: Delivery::new(&options),
            history,
            data,
            machine,
            checks,
            suspects: Suspects::default(),
            progress,
            on_its_way: None,
            from_ns: [None; 2],
            has_stepped_back: false,
            pause: FIRST_PAUSE,
            log,
            options,
        })
    }

    /// Sends until the other end of the inbox is dropped.
    fn run(&mut self, inbox: &Inbox<()>) {
        // The receiver may have ended while no agent was there to see it.
        self.step_back();
        loop {
            let before = probe::own_thread_cpu_time();
            let outcome = self.turn();
            let cpu = probe::own_thread_cpu_time().saturating_sub(before);
            let pause = match outcome {
                Ok(true) => Duration::from_nanos((cpu.0 as f64 * (1.0 / CPU_RATIO - 1.0)) as u64),
                Ok(false) => self.options.interval,
                Err(later) => self.wait_after(later),
            };
            if inbox.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }

    /// Makes the next request. Returns whether there is more to do.
    fn turn(&mut self) -> Result<bool, Later> {
        if self.on_its_way.is_none() {
            let later =
                |error| Later { message: format!("the history: {error}"), is_unreached: false, after: None };
            self.on_its_way = self.next().map_err(later)?;
        }
        let Some(on_its_way) = &mut self.on_its_way else { return Ok(false) };
        let sent = self.delivery.send_next(&mut on_its_way.shipment);
        if let Err(later) = sent {
            self.progress.failures_count += 1;
            if later.is_unreached {
                self.step_back();
            }
            return Err(later);
        }
        (self.pause, self.has_stepped_back) = (FIRST_PAUSE, false);
        if on_its_way.shipment.is_over() {
            self.finish();
        }
        Ok(true)
    }

    /// Reads what goes out next: of the machine, and where there is nothing, of checks.
    fn next(&mut self) -> Result<Option<OnItsWay>, StoreError> {
        for origin in [Origin::Machine, Origin::Checks] {
            if let Some(on_its_way) = self.next_of(origin)? {
                return Ok(Some(on_its_way));
            }
        }
        Ok(None)
    }

    fn next_of(&mut self, origin: Origin) -> Result<Option<OnItsWay>, StoreError> {
        let path = match origin {
            Origin::Machine => self.history.clone(),
            Origin::Checks => self.history.with_file_name(CHECKS),
        };
        if !path.exists() {
            return Ok(None);
        }
        let behind_ns = match *self.place(origin) {
            Some(behind_ns) => behind_ns,
            // A new receiver begins with the last tick.
            None => {
                let Some((_, last_ns)) = History::open(&path)?.extent()?.realtime_ns else { return Ok(None) };
                let behind_ns = last_ns.saturating_sub(self.options.first.as_nanos() as i64 + 1);
                *self.place(origin).insert(behind_ns)
            }
        };
        let (reader, selection) = match origin {
            Origin::Machine => &mut self.machine,
            Origin::Checks => &mut self.checks,
        };
        let from_ns = self.from_ns[origin as usize].unwrap_or(behind_ns);
        let Some(part) = reader.next(&path, selection, from_ns)? else { return Ok(None) };
        let Part { series, to_ns, first_ns, damaged } = part;
        // A new receiver's place is right before a tick.
        if first_ns > behind_ns + 1 {
            self.progress.missed_s += (first_ns - behind_ns) as f64 / 1e9;
        }
        self.progress.damaged_count += damaged;
        Ok(Some(OnItsWay { origin, to_ns, shipment: Shipment::new(series, &self.suspects) }))
    }

    /// The place of the receiver in a history.
    fn place(&mut self, origin: Origin) -> &mut Option<i64> {
        match origin {
            Origin::Machine => &mut self.progress.place_ns,
            Origin::Checks => &mut self.progress.checks_place_ns,
        }
    }

    /// All of a shipment is taken or refused: the receiver's place is behind it.
    fn finish(&mut self) {
        let Some(OnItsWay { origin, to_ns, shipment }) = self.on_its_way.take() else { return };
        // What went out again may lie before it.
        let place = self.place(origin);
        let is_again = place.is_some_and(|place_ns| to_ns < place_ns);
        *place = (*place).max(Some(to_ns));
        self.from_ns[origin as usize] = is_again.then_some(to_ns);
        self.progress.requests_count += shipment.requests_count;
        self.progress.sent_bytes += shipment.sent_bytes;
        self.progress.taken_count += shipment.taken_count;
        for (name, count, message) in shipment.refused() {
            self.progress.refuse(name.to_string(), count, message);
        }
        self.suspects.learn(&shipment);
        self.note(None);
    }

    /// Lets what the receiver took last go out again, once in an outage.
    fn step_back(&mut self) {
        if std::mem::replace(&mut self.has_stepped_back, true) || self.options.again.is_zero() {
            return;
        }
        self.on_its_way = None;
        let again_ns = self.options.again.as_nanos() as i64;
        self.from_ns = [Origin::Machine, Origin::Checks]
            .map(|origin| self.place(origin).map(|place_ns| place_ns - again_ns));
    }

    /// Says what is wrong. Returns how long to wait: longer each time, and not as long as others that failed at the same time.
    fn wait_after(&mut self, Later { message, after, .. }: Later) -> Duration {
        self.note(Some(message));
        let jitter = f64::from((now_ns() / 1000 % 400) as u32) / 1000.0;
        let pause = after.unwrap_or_else(|| self.pause.mul_f64(0.8 + jitter));
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        pause
    }

    fn note(&mut self, trouble: Option<String>) {
        let name = &self.options.name;
        let said = trouble.as_ref().map(|trouble| format!("remote write to {name}: {trouble}; it is tried again, and nothing is lost while the history has it"));
        self.log.fault("remote write", said);
        self.progress.trouble = trouble;
        self.progress.written_ms = now_ns() / 1_000_000;
        let written = self.progress.write(&self.data);
        let unwritten =
            written.err().map(|error| format!("remote write to {name}: its place cannot be kept: {error}"));
        self.log.fault("the place of a receiver", unwritten);
    }
}

/// An address without a password.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}/{path}")
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(shown("https://ann:secret@store:8428/api/v1/write"), "https://store:8428/api/v1/write");
        assert_eq!(shown("http://store/a@b"), "http://store/a@b");
    }
}
