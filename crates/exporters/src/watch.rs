//! Reads all targets when they are due, in a thread of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use facts::unit::Nanos;
use probe::clock_now;
use service::{Level, Log};
use text::printable::Shown as _;

use crate::options::ExporterOptions;
use crate::recording::Recording;
use crate::status::TargetStatus;
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
            Rounds { data, recording, targets: Vec::new(), results, log }.run(options, &inbox);
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
    data: PathBuf,
    recording: Recording,
    targets: Vec<Target>,
    results: Receiver<Done>,
    log: Log,
}

/// A target, between readings.
struct Target {
    status: TargetStatus,
    interval_ms: u64,
    worker: Worker,
    /// The number of the interval since 1970 in which it was ordered last.
    slot: Option<u64>,
    /// When the reading was ordered that is being made, in milliseconds since 1970; `None`: none is.
    ordered_ms: Option<u64>,
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
                    status: TargetStatus {
                        name: target.name.clone(),
                        place: target.place.shown(),
                        ..TargetStatus::default()
                    },
                    interval_ms: target.interval.as_millis() as u64,
                    worker,
                    slot: None,
                    ordered_ms: None,
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
        let fault = fault.map(|error| format!("the history of exporters: {error}"));
        self.log.fault("the history of exporters", fault);
        for finding in self.recording.take_findings() {
            self.log.write(Level::Warning, &format!("the history of exporters: {finding}"));
        }
        self.write_status();
    }

    fn write_status(&mut self) {
        let statuses: Vec<&TargetStatus> = self.targets.iter().map(|target| &target.status).collect();
        let fault = TargetStatus::write_all(&self.data, &statuses).err();
        let fault = fault.map(|error| format!("exporters: {}: {error}", self.data.display()));
        self.log.fault("the status of exporters", fault);
    }

    fn take(&mut self, done: Done) {
        let Some(Target { status, interval_ms, ordered_ms, .. }) = self.targets.get_mut(done.target) else {
            return;
        };
        let read_ms = ordered_ms.take().unwrap_or_default();
        let samples_count = done.reading.samples.len();
        let until_ms = read_ms + INTERVALS * *interval_ms;
        let left_out = self.recording.take(done.target, done.reading, until_ms.cast_signed());
        let of_names = || format!("{left_out} series are left out: too many have been named since the start");
        let fault = done.fault.or_else(|| (left_out > 0).then(of_names));
        let name = &status.name;
        match (&fault, &status.fault) {
            (Some(fault), None) => {
                self.log.write(Level::Warning, &format!("exporter {name}: {}", fault.shown()))
            }
            (None, Some(_)) => self.log.write(Level::Info, &format!("exporter {name}: works again")),
            _ => {}
        }
        status.read_ns = Some((read_ms * 1_000_000).cast_signed());
        status.took_ns = done.took.as_nanos() as u64;
        status.samples_count = (samples_count - left_out) as u64;
        status.failures_count += u64::from(fault.is_some());
        status.fault = fault;
    }
}

/// Milliseconds since 1970.
const fn ms(realtime: Nanos) -> u64 {
    realtime.0 / 1_000_000
}
