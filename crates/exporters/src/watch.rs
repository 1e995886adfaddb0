//! The thread that says when targets are read, and records what has come.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use facts::sample::Clock;
use facts::unit::Nanos;
use probe::clock_now;
use service::{Level, Log};

use crate::options::{ExporterOptions, TargetOptions};
use crate::recording::{Recording, TargetId};
use crate::status::TargetStatus;
use crate::target::Target;
use crate::worker::{Done, Worker};

/// After so long a history that could not be opened is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// Ticks are as far apart as the readings of the most frequent target, within these bounds: a value that no tick repeats is gone after minutes.
const MIN_TICK_MS: u64 = 1_000;
const MAX_TICK_MS: u64 = 30_000;
/// A tick waits so long for those that are read for it. What comes later is in the next tick.
const PATIENCE: Nanos = Nanos(2_000_000_000);
/// The clock is looked at so often: it may be set, and a suspend may end.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The thread, as long as this is kept.
#[derive(Debug)]
pub struct ExporterWatch {
    events: Sender<Event>,
}

/// Something that the thread acts on.
#[derive(Debug)]
enum Event {
    /// Other options; `None`: without targets.
    Changed(Option<ExporterOptions>),
    /// A target was read.
    Done(Done),
    End,
}

impl ExporterWatch {
    /// Begins. The directory is one that this process has locked.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(options: ExporterOptions, data: PathBuf) -> io::Result<Self> {
        let (events, inbox) = channel();
        let results = events.clone();
        std::thread::Builder::new().name("exporters".to_owned()).spawn(move || {
            let mut log = Log::open();
            let Some((recording, options)) = open(options, &data, &inbox, &mut log) else { return };
            let mut rounds = Rounds {
                data,
                recording,
                results,
                targets: Vec::new(),
                last_id: 0,
                tick_ms: MAX_TICK_MS,
                slot: None,
                open: None,
                log,
            };
            rounds.begin(Some(options));
            rounds.run(&inbox);
        })?;
        Ok(Self { events })
    }

    /// Goes on with other options; `None`: without targets. Those whose options are the same go on as they are.
    pub fn reconfigure(&self, options: Option<ExporterOptions>) {
        // The thread ends with this alone.
        let _ = self.events.send(Event::Changed(options));
    }
}

impl Drop for ExporterWatch {
    fn drop(&mut self) {
        let _ = self.events.send(Event::End);
    }
}

/// Opens the history, as often as it takes: the disk may be full. `None` if this is to end first.
fn open(
    mut options: ExporterOptions,
    data: &Path,
    inbox: &Receiver<Event>,
    log: &mut Log,
) -> Option<(Recording, ExporterOptions)> {
    loop {
        match Recording::open(data, options.retention.clone()) {
            Ok(recording) => {
                log.fault("exporters", None);
                return Some((recording, options));
            }
            Err(error) => log.fault("exporters", Some(format!("exporters: {error}; it is tried again"))),
        }
        match inbox.recv_timeout(AGAIN) {
            Ok(Event::Changed(Some(new))) => options = new,
            Ok(Event::Changed(None)) => options.targets.clear(),
            Ok(Event::Done(_)) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Targets, and what comes of them.
struct Rounds {
    data: PathBuf,
    recording: Recording,
    results: Sender<Event>,
    targets: Vec<Target>,
    last_id: TargetId,
    tick_ms: u64,
    /// The number of the last tick since 1970.
    slot: Option<u64>,
    /// A tick whose targets are being read.
    open: Option<OpenTick>,
    log: Log,
}

#[derive(Clone, Copy)]
struct OpenTick {
    clock: Clock,
    /// On the boot clock.
    deadline: Nanos,
}

impl Rounds {
    fn run(&mut self, inbox: &Receiver<Event>) {
        loop {
            match inbox.recv_timeout(self.next_in()) {
                Ok(Event::Changed(options)) => self.begin(options),
                Ok(Event::Done(done)) => self.take(done),
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.advance();
        }
    }

    /// Goes on with these targets; `None`: with none.
    fn begin(&mut self, options: Option<ExporterOptions>) {
        let mut old = std::mem::take(&mut self.targets);
        if let Some(options) = &options {
            self.recording.set_retention(options.retention.clone());
        }
        for options in options.into_iter().flat_map(|options| options.targets) {
            match old.iter().position(|target| target.options == options) {
                Some(place) => self.targets.push(old.swap_remove(place)),
                None => self.start(options),
            }
        }
        for target in old {
            self.recording.forget(target.id);
        }
        let intervals = self.targets.iter().map(Target::interval_ms);
        self.tick_ms = intervals.min().unwrap_or(MAX_TICK_MS).clamp(MIN_TICK_MS, MAX_TICK_MS);
        self.slot = None;
        if self.targets.is_empty() {
            // The last values end here.
            self.open = None;
            self.record(clock_now());
            let cleared = TargetStatus::clear(&self.data).err().map(|error| format!("exporters: {error}"));
            self.log.fault("the status of exporters", cleared);
        }
    }

    fn start(&mut self, options: TargetOptions) {
        self.last_id += 1;
        let results = self.results.clone();
        let done = move |done| results.send(Event::Done(done)).is_ok();
        match Worker::start(self.last_id, options.clone(), done) {
            Ok(worker) => self.targets.push(Target::new(self.last_id, options, worker)),
            Err(error) => {
                let message = format!("exporter {}: {error}; it is not read", options.name);
                self.log.write(Level::Warning, &message);
            }
        }
    }

    /// The longest time until something is to be done.
    fn next_in(&self) -> Duration {
        let now = clock_now();
        let next_ms = match (self.open, self.slot) {
            (Some(open), _) => open.deadline.0.saturating_sub(now.boottime.0).div_ceil(1_000_000),
            (None, Some(slot)) => ((slot + 1) * self.tick_ms).saturating_sub(ms(now.realtime)),
            (None, None) => 0,
        };
        if self.targets.is_empty() { MAX_WAIT } else { Duration::from_millis(next_ms).min(MAX_WAIT) }
    }

    /// Ends and begins ticks as the time has come.
    fn advance(&mut self) {
        let now = clock_now();
        let slot = Some(ms(now.realtime) / self.tick_ms);
        let is_next = self.slot != slot && !self.targets.is_empty();
        if let Some(open) = self.open
            && (is_next || now.boottime >= open.deadline || !self.targets.iter().any(Target::is_being_read))
        {
            self.open = None;
            self.record(open.clock);
        }
        if is_next {
            self.slot = slot;
            self.open = Some(OpenTick { clock: now, deadline: now.boottime + PATIENCE });
            for target in &mut self.targets {
                target.read_if_due(ms(now.realtime), &mut self.recording, &self.log);
            }
        }
    }

    fn take(&mut self, done: Done) {
        // Its target may have been removed meanwhile.
        if let Some(target) = self.targets.iter_mut().find(|target| target.id == done.target) {
            target.take(done, &mut self.recording, &self.log);
        }
    }

    /// Writes a tick, and what is said of the targets.
    fn record(&mut self, clock: Clock) {
        let fault = self.recording.tick(clock).err();
        let fault = fault.map(|error| format!("the history of exporters: {error}"));
        self.log.fault("the history of exporters", fault);
        for finding in self.recording.take_findings() {
            self.log.write(Level::Warning, &format!("the history of exporters: {finding}"));
        }
        let statuses: Vec<&TargetStatus> = self.targets.iter().map(|target| &target.status).collect();
        let fault = TargetStatus::write_all(&self.data, &statuses).err();
        let fault = fault.map(|error| format!("exporters: {}: {error}", self.data.display()));
        self.log.fault("the status of exporters", fault);
    }
}

/// Milliseconds since 1970.
const fn ms(realtime: Nanos) -> u64 {
    realtime.0 / 1_000_000
}
