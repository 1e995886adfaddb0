//! What the thread of a receiver does: it reads what is behind the receiver's place, sends it, and moves the place.

mod report;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver as Inbox, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use service::{Level, Log};
use store::{History, StoreError};
use text::printable::Shown as _;

use crate::delivery::{Delivery, Later};
use crate::options::ReceiverOptions;
use crate::pause::Pause;
use crate::progress::{Found, Lock, Progress};
use crate::samples::Part;
use crate::shipment::Shipment;
use crate::source::{ORIGIN_COUNT, ORIGINS, Origin, Source};
use crate::suspects::Suspects;
use crate::unsettled::Unsettled;

/// The part of a CPU that catching up may take.
const CPU_RATIO: f64 = 0.2;
/// A place that is so far ahead of the clock is of a time before the clock was set back, and what was recorded since is this old at most.
const AHEAD_NS: i64 = 1_000_000_000;
const SINCE_SET_BACK_NS: i64 = 10_000_000_000;

/// Stands for the series of samples that a receiver has not written, of a request that it has taken.
const UNNAMED: &str = "(not named)";

/// The progress of a receiver; `None`: its thread has not begun.
pub(crate) type SharedProgress = Arc<Mutex<Option<Progress>>>;

/// Samples on their way, and what is true once they have arrived.
struct OnItsWay {
    origin: Origin,
    /// The place before them, and the one behind them.
    behind_ns: i64,
    to_ns: i64,
    /// They were taken before.
    is_again: bool,
    /// There was an outage since they were read: what was taken of them may be lost.
    is_in_doubt: bool,
    /// How much history before them the retention has removed.
    missed_ns: u64,
    /// Parts of the history that are damaged.
    damaged: u64,
    /// Recording rules that have no answer, and why.
    faults: Vec<String>,
    shipment: Shipment,
}

pub(crate) struct Sending {
    options: ReceiverOptions,
    data: PathBuf,
    delivery: Delivery,
    /// By [`Origin`].
    sources: [Source; ORIGIN_COUNT],
    suspects: Suspects,
    progress: Progress,
    shared: SharedProgress,
    on_its_way: Option<OnItsWay>,
    /// Shipments that were refused as a whole, by [`Origin`]. They are tried again after pauses, until they are taken or left out.
    refused: [Option<OnItsWay>; ORIGIN_COUNT],
    /// When all origins were asked anew.
    passed_at: Instant,
    /// The place of the origin whose turn it is: a receiver that is slow keeps none of them back.
    next_origin: usize,
    unsettled: Unsettled,
    /// It could not be reached when it was tried last.
    is_unreached: bool,
    pause: Pause,
    log: Log,
    is_in_trouble: bool,
}

impl Sending {
    pub(crate) fn new(options: ReceiverOptions, history: PathBuf, shared: SharedProgress) -> Self {
        let data = history.parent().unwrap_or(Path::new(".")).to_owned();
        Self {
            delivery: Delivery::new(&options),
            sources: Source::all(&options, &history),
            data,
            suspects: Suspects::default(),
            progress: Progress::default(),
            shared,
            on_its_way: None,
            refused: Default::default(),
            passed_at: Instant::now(),
            next_origin: 0,
            unsettled: Unsettled::new(options.again),
            is_unreached: false,
            pause: Pause::default(),
            log: Log::open(),
            is_in_trouble: false,
            options,
        }
    }

    /// Sends until the other end of the inbox is dropped.
    pub(crate) fn run(mut self, inbox: &Inbox<()>) {
        let is_ended = |pause| inbox.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected);
        // A thread from before a reload may still wait for an answer.
        let _lock = loop {
            match Lock::take(&self.data, &self.options.name) {
                Ok(Some(lock)) => break lock,
                Ok(None) => {}
                Err(error) => self.say(Some(format!("its place cannot be locked: {error}"))),
            }
            if is_ended(Pause::FIRST) {
                return;
            }
        };
        while let Err(trouble) = self.begin() {
            self.say(Some(trouble));
            if is_ended(Pause::LONGEST) {
                return;
            }
        }
        loop {
            let before = probe::own_thread_cpu_time();
            let outcome = self.turn();
            let cpu = probe::own_thread_cpu_time().saturating_sub(before);
            let pause = match outcome {
                Ok(true) => Duration::from_nanos((cpu.0 as f64 * (1.0 / CPU_RATIO - 1.0)) as u64),
                Ok(false) => self.options.interval,
                Err(later) => self.wait_after(later),
            };
            if is_ended(pause) {
                return;
            }
        }
    }

    /// Reads how far the receiver is.
    fn begin(&mut self) -> Result<(), String> {
        let name = &self.options.name;
        let found = Progress::read(&self.data, name).map_err(|error| format!("its place: {error}"))?;
        self.progress = match found {
            Found::Known(progress) => *progress,
            Found::New => Progress::default(),
            Found::Damaged(aside) => {
                let message = format!(
                    "remote write to {name}: its place is damaged, and is {} now; all of the history goes out again",
                    aside.display()
                );
                self.log.write(Level::Warning, &message);
                Progress {
                    place_ns: Some(0),
                    checks_place_ns: Some(0),
                    rules_place_ns: Some(0),
                    exporters_place_ns: Some(0),
                    ..Progress::default()
                }
            }
        };
        self.progress.name.clone_from(name);
        self.progress.url = http_client::shown_url(&self.options.url);
        // Another version knew fewer origins.
        self.progress.sending_to_ns.resize(ORIGINS.len(), None);
        self.progress.again_from_ns.resize(ORIGINS.len(), None);
        for origin in ORIGINS {
            let until_ns = self.progress.sending_to_ns[origin as usize];
            self.sources[origin as usize].until_ns =
                until_ns.filter(|until_ns| self.progress.place(origin) < Some(*until_ns));
        }
        if self.options.again.is_zero() {
            self.progress.again_from_ns.fill(None);
        } else {
            // The receiver may have ended while no agent was there to see it. When it took what, is not known any more.
            let again_ns = i64::try_from(self.options.again.as_nanos()).unwrap_or(i64::MAX);
            let places = ORIGINS.map(|origin| Some(self.progress.place(origin)?.saturating_sub(again_ns)));
            self.progress.send_again_from(places);
        }
        Ok(())
    }

    /// Makes the next request. Returns whether there is more to do.
    fn turn(&mut self) -> Result<bool, Later> {
        if self.on_its_way.is_none() {
            // Where nothing else is to go, what was refused is tried again.
            self.on_its_way = self.next().or_else(|| self.next_refused());
        }
        let Some(on_its_way) = &mut self.on_its_way else {
            self.sources.iter_mut().for_each(|source| source.is_done = false);
            self.rest();
            return Ok(false);
        };
        if let Err(later) = self.delivery.send_next(&mut on_its_way.shipment) {
            self.progress.failures_count += 1;
            // It may take long, and the histories may be removed meanwhile.
            self.sources.iter_mut().for_each(Source::close);
            if later.refuses_all
                && let Some(refused) = self.on_its_way.take()
            {
                // That it may be left out is said once, also behind another trouble.
                self.is_in_trouble &= !refused.shipment.is_newly_refused();
                let origin = refused.origin as usize;
                self.refused[origin] = Some(refused);
            }
            if later.is_unreached && !std::mem::replace(&mut self.is_unreached, true) {
                self.step_back();
            }
            return Err(later);
        }
        self.is_unreached = false;
        self.unsettled.answer(Instant::now());
        self.progress.clock_ahead_s = self.delivery.clock_ahead_s;
        self.progress.version = self.delivery.version.map(|version| version.name().to_owned());
        if on_its_way.shipment.taken_count > 0 {
            self.pause = Pause::default();
        }
        if on_its_way.shipment.is_over() {
            self.finish();
        }
        Ok(true)
    }

    /// Reads what goes out next: of each origin in turn.
    fn next(&mut self) -> Option<OnItsWay> {
        // What is new of the machine does not wait until all rules have caught up.
        if self.passed_at.elapsed() >= self.options.interval {
            self.passed_at = Instant::now();
            self.sources.iter_mut().for_each(|source| source.is_done = false);
        }
        for step in 0..ORIGIN_COUNT {
            let origin = ORIGINS[(self.next_origin + step) % ORIGIN_COUNT];
            let refused = &mut self.refused[origin as usize];
            if refused.as_ref().is_some_and(|refused| refused.shipment.is_receiver_fine()) {
                return refused.take();
            }
            if self.sources[origin as usize].is_done || refused.is_some() {
                continue;
            }
            let next = self.next_of(origin);
            let source = &mut self.sources[origin as usize];
            source.fault = next.as_ref().err().map(|error| format!("{}: {error}", source.path.display()));
            source.is_done = !matches!(next, Ok(Some(_)));
            if let Ok(Some(next)) = next {
                self.next_origin = origin as usize + 1;
                return Some(next);
            }
        }
        None
    }

    /// Tries again what was refused, one origin after the other.
    fn next_refused(&mut self) -> Option<OnItsWay> {
        let mut places = (0..ORIGIN_COUNT).map(|step| (self.next_origin + step) % ORIGIN_COUNT);
        let is_due = |place: &usize| {
            self.refused[*place].as_ref().is_some_and(|refused| refused.shipment.may_be_tried())
        };
        let place = places.find(is_due)?;
        self.next_origin = place + 1;
        self.refused[place].take()
    }

    fn next_of(&mut self, origin: Origin) -> Result<Option<OnItsWay>, String> {
        let now_ns = now_ns();
        if self.progress.place(origin).is_none() {
            // All begin at the same time, and so will checks that there are not yet.
            self.begin_new().map_err(|error| error.to_string())?;
        }
        let Some(mut place_ns) = self.progress.place(origin) else { return Ok(None) };
        if place_ns > now_ns + AHEAD_NS {
            let name = &self.options.name;
            let message = format!(
                "remote write to {name}: the clock was set back, and what was recorded since goes out"
            );
            self.log.write(Level::Warning, &message);
            place_ns = now_ns - SINCE_SET_BACK_NS;
            self.progress.set_place(origin, place_ns);
        }
        let again_from_ns = self.progress.again_from_ns[origin as usize];
        let (behind_ns, is_again) = (again_from_ns.unwrap_or(place_ns), again_from_ns.is_some());
        let source = &mut self.sources[origin as usize];
        let Some(part) = source.next(behind_ns, is_again, now_ns)? else {
            // Nothing is there that could go out again.
            self.progress.again_from_ns[origin as usize] = None;
            return Ok(None);
        };
        let Part { series, to_ns, is_last, first_ns, damaged, faults } = part;
        // Each has its turn, also where another always has more.
        source.is_done = is_last;
        // The place of a new receiver is right before a tick of the machine. Checks may begin at any time.
        let may_miss = origin == Origin::Machine && place_ns > 0;
        let missed_ns = if may_miss { u64::try_from(first_ns - 1 - place_ns).unwrap_or(0) } else { 0 };
        let shipment = Shipment::new(series, &self.suspects);
        self.progress.sending_to_ns[origin as usize] = Some(to_ns);
        self.keep();
        Ok(Some(OnItsWay {
            origin,
            behind_ns,
            to_ns,
            is_again,
            is_in_doubt: false,
            missed_ns,
            damaged,
            faults,
            shipment,
        }))
    }

    /// Gives a new receiver its places: the last tick, or as much before it as it wants. An origin that another version did not know begins where
    /// the machine is.
    fn begin_new(&mut self) -> Result<(), StoreError> {
        let path = &self.sources[Origin::Machine as usize].path;
        if !path.exists() {
            return Ok(());
        }
        let history = History::open(path)?;
        if let Some((first_ns, last_ns)) = history.extent()?.realtime_ns {
            let first = i64::try_from(self.options.first.as_nanos()).unwrap_or(i64::MAX);
            let behind_ns = last_ns.min(now_ns()).saturating_sub(first).max(first_ns) - 1;
            let behind_ns = self.progress.place_ns.unwrap_or(behind_ns);
            for origin in ORIGINS {
                self.progress.set_place(origin, self.progress.place(origin).unwrap_or(behind_ns));
            }
        }
        Ok(())
    }

    /// All of a shipment is taken or refused: the receiver's place is behind it.
    fn finish(&mut self) {
        let Some(on_its_way) = self.on_its_way.take() else { return };
        let OnItsWay {
            origin,
            behind_ns,
            to_ns,
            is_again,
            is_in_doubt,
            missed_ns,
            damaged,
            faults,
            shipment,
        } = on_its_way;
        // What went out again may lie before it.
        let place_ns = self.progress.place(origin).map_or(to_ns, |place_ns| place_ns.max(to_ns));
        self.progress.set_place(origin, place_ns);
        // Rules that are configured later begin then, and not where the last ones ended.
        if origin == Origin::Machine && self.sources[Origin::Rules as usize].is_empty() {
            self.progress.set_place(Origin::Rules, place_ns);
        }
        self.unsettled.take(origin, [behind_ns, to_ns]);
        if is_again && !is_in_doubt {
            self.progress.again_from_ns[origin as usize] = Some(to_ns).filter(|to_ns| *to_ns < place_ns);
        }
        if shipment.taken_count > 0 {
            self.refused.iter_mut().flatten().for_each(|refused| refused.shipment.set_receiver_fine());
        }
        self.progress.missed_ns += missed_ns;
        self.progress.damaged_count += damaged;
        self.progress.rule_failures_count += faults.len() as u64;
        if origin == Origin::Rules {
            let fault =
                faults.last().map(|fault| format!("a recording rule has no answer: {}", fault.shown()));
            self.log.fault("a recording rule", fault);
        }
        self.progress.rule_failure = faults.into_iter().next_back().or(self.progress.rule_failure.take());
        self.progress.requests_count += shipment.requests_count;
        self.progress.sent_bytes += shipment.sent_bytes;
        self.progress.taken_count += shipment.taken_count;
        for (name, count, message) in shipment.refused() {
            self.progress.refuse(name.to_string(), count, message);
        }
        if shipment.unwritten_count > 0 {
            self.progress.refuse(UNNAMED.to_owned(), shipment.unwritten_count, &shipment.unwritten_message);
        }
        self.say_unwritten(&shipment);
        shipment.teach(&mut self.suspects);
        let name = &self.options.name;
        let refused = self.suspects.first().map(|(series, message)| {
            format!(
                "remote write to {name}: {} is refused: {}; whit history remote has more",
                series.shown(),
                message.shown()
            )
        });
        self.log.fault("a refused series", refused);
        let conflict = self.sources.iter().find_map(|source| source.selection.conflict());
        let conflict = conflict.map(|(one, other)| {
            format!(
                "remote write to {name}: {} and {} get the same name, and the first goes out",
                one.shown(),
                other.shown()
            )
        });
        self.log.fault("the names of series", conflict);
        self.say_end();
    }

    /// Lets what the receiver took last go out again, in an outage that begins. What is on its way stays.
    fn step_back(&mut self) {
        let taken_of = |one: &OnItsWay| {
            (one.shipment.taken_count > 0).then_some((one.origin, [one.behind_ns, one.to_ns]))
        };
        let taken = self.on_its_way.as_ref().and_then(taken_of);
        if let Some((origin, range)) = taken {
            self.unsettled.take(origin, range);
        }
        let has_moved = self.progress.send_again_from(self.unsettled.places());
        if let Some(on_its_way) = &mut self.on_its_way {
            on_its_way.is_in_doubt |= taken.is_some() || has_moved[on_its_way.origin as usize];
        }
        for refused in self.refused.iter_mut().flatten() {
            refused.shipment.whole_refusal = None;
            refused.is_in_doubt |= has_moved[refused.origin as usize];
        }
        self.keep();
    }
}

fn now_ns() -> i64 {
    probe::clock_now().realtime.0.cast_signed()
}
