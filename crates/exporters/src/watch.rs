//! Reads all targets when they are due, in a thread of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use facts::unit::Nanos;
use probe::clock_now;
use service::{Level, Log};

use crate::options::ExporterOptions;
use crate::recording::Recording;
use crate::worker::{Done, Worker};

/// After so long a history that could not be opened is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// Without targets nothing is due.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// A reading holds for so many intervals if no other comes.
const INTERVALS: u64 = 3;

/// The thread, as long as this is kept.
#[derive(Debug)]
pub struct ExporterWatch {
    changes: Sender<Option<ExporterOptions>>,
}

impl ExporterWatch {
    /// Begins. The directory is one that this process has locked.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(options: ExporterOptions, data: PathBuf) -> io::Result<Self> {
        let (changes, inbox) = channel();
        std::thread::Builder::new().name("exporters".to_owned()).spawn(move || {
            let mut log = Log::open();
            let Some((recording, options)) = open(options, &data, &inbox, &mut log) else { return };
            let (_, results) = channel();
            Rounds { recording, targets: Vec::new(), results, log }.run(options, &inbox);
        })?;
        Ok(Self { changes })
    }

    /// Goes on with other options; `None`: without targets.
    pub fn reconfigure(&self, options: Option<ExporterOptions>) {
        // The thread ends with this process alone.
        let _ = self.changes.send(options);
    }
}

/// Opens the history, as often as it takes: the disk may be full. `None` if this process ends first.
fn open(
    mut options: ExporterOptions,
    data: &Path,
    inbox: &Receiver<Option<ExporterOptions>>,
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
            Ok(new) => options = new.unwrap_or_else(|| options.without_targets()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Targets, and what comes of them.
struct Rounds {
    recording: Recording,
    targets: Vec<Target>,
    results: Receiver<Done>,
    log: Log,
}

/// A target, between readings.
struct Target {
    name: String,
    interval_ms: u64,
    worker: Worker,
    /// The number of the interval since 1970 in which it was ordered last.
    slot: Option<u64>,
    /// When the reading was ordered that is being made, in milliseconds since 1970; `None`: none is.
    ordered_ms: Option<u64>,
    is_failing: bool,
}

impl Rounds {
    fn run(mut self, mut options: ExporterOptions, inbox: &Receiver<Option<ExporterOptions>>) {
        self.begin(&options);
        loop {
            match inbox.recv_timeout(self.next_in()) {
                Ok(new) => {
                    options = new.unwrap_or_else(|| options.without_targets());
                    self.begin(&options);
                }
                Err(RecvTimeoutError::Timeout) => self.read_due(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Goes on with these targets.
    fn begin(&mut self, options: &ExporterOptions) {
        // Results of the threads before go nowhere.
        let (sender, results) = channel();
        self.results = results;
        self.targets.clear();
        for (place, target) in options.targets.iter().enumerate() {
            match Worker::start(place, target.clone(), sender.clone()) {
                Ok(worker) => self.targets.push(Target {
                    name: target.name.clone(),
                    interval_ms: target.interval.as_millis() as u64,
                    worker,
                    slot: None,
                    ordered_ms: None,
                    is_failing: false,
                }),
                Err(error) => {
                    let message = format!("exporters: {error}; those from {} on are not read", target.name);
                    self.log.write(Level::Warning, &message);
                    break;
                }
            }
        }
        self.recording.begin(self.targets.len(), options.retention.clone());
    }

    /// The time until a target is due.
    fn next_in(&self) -> Duration {
        let now_ms = ms(clock_now().realtime);
        let next_ms = self.targets.iter().map(|target| match target.slot {
            Some(slot) if slot == now_ms / target.interval_ms => (slot + 1) * target.interval_ms - now_ms,
            _ => 0,
        });
        next_ms.min().map_or(LONGEST_WAIT, Duration::from_millis)
    }

    /// Reads the targets that are due, and records what has come when they have answered, or when the next is due.
    fn read_due(&mut self) {
        let clock = clock_now();
        let now_ms = ms(clock.realtime);
        let mut awaited = 0;
        for target in &mut self.targets {
            let slot = Some(now_ms / target.interval_ms);
            if target.slot == slot {
                continue;
            }
            target.slot = slot;
            // One that hangs is not ordered twice.
            if target.ordered_ms.is_none() {
                target.worker.order();
                target.ordered_ms = Some(now_ms);
                awaited += 1;
            }
        }
        while awaited > 0 {
            let Ok(done) = self.results.recv_timeout(self.next_in()) else { break };
            // One that was late comes in between.
            awaited -= usize::from(self.targets[done.target].ordered_ms == Some(now_ms));
            self.take(done);
        }
        let fault = self.recording.tick(clock).err();
        self.log.fault(
            "the history of exporters",
            fault.map(|error| format!("the history of exporters: {error}")),
        );
        for finding in self.recording.take_findings() {
            self.log.write(Level::Warning, &format!("the history of exporters: {finding}"));
        }
    }

    fn take(&mut self, done: Done) {
        let target = &mut self.targets[done.target];
        let until_ms = target.ordered_ms.take().unwrap_or_default() + INTERVALS * target.interval_ms;
        let left_out = self.recording.take(done.target, done.reading, until_ms.cast_signed());
        let of_names = || format!("{left_out} series are left out: too many have been named since the start");
        let fault = done.fault.or_else(|| (left_out > 0).then(of_names));
        match (fault, target.is_failing) {
            (Some(fault), false) => {
                self.log.write(Level::Warning, &format!("exporter {}: {fault}", target.name))
            }
            (None, true) => self.log.write(Level::Info, &format!("exporter {}: works again", target.name)),
            _ => return,
        }
        target.is_failing = !target.is_failing;
    }
}

/// Milliseconds since 1970.
const fn ms(realtime: Nanos) -> u64 {
    realtime.0 / 1_000_000
}
