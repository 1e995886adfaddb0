//! A target between its readings.

use std::time::Duration;

use formats::series_name::SeriesName;
use service::{Level, Log};
use text::printable::Shown as _;

use crate::options::{Place, TargetOptions};
use crate::reading::Reading;
use crate::recording::{Recording, TargetId};
use crate::status::TargetStatus;
use crate::worker::{Done, Worker};

/// A reading is overdue so long after its interval.
const BEYOND: Duration = Duration::from_secs(1);

/// A target, and the thread that reads it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) id: TargetId,
    pub(crate) options: TargetOptions,
    pub(crate) status: TargetStatus,
    worker: Worker,
    /// The number of the interval since 1970 in which it was due last.
    slot: Option<u64>,
    /// When the reading began that is being made, in milliseconds since 1970; `None`: none is.
    began_ms: Option<u64>,
    /// The reading should have ended by now.
    is_overdue: bool,
}

impl Target {
    pub(crate) fn new(id: TargetId, options: TargetOptions, worker: Worker) -> Self {
        let status = TargetStatus {
            name: options.name.clone(),
            place: options.place.shown(),
            ..TargetStatus::default()
        };
        Self { id, options, status, worker, slot: None, began_ms: None, is_overdue: false }
    }

    pub(crate) fn interval_ms(&self) -> u64 {
        self.options.interval.as_millis() as u64
    }

    /// Returns whether it is being read, and may end in time.
    pub(crate) fn is_being_read(&self) -> bool {
        self.began_ms.is_some() && !self.is_overdue
    }

    /// Begins a reading if it is time for one. If the last one has not ended, it has failed.
    pub(crate) fn read_if_due(&mut self, now_ms: u64, recording: &mut Recording, log: &Log) {
        let slot = Some(now_ms / self.interval_ms());
        if self.slot == slot {
            return;
        }
        self.slot = slot;
        match self.began_ms.map(|began_ms| Duration::from_millis(now_ms.saturating_sub(began_ms))) {
            None => {
                self.began_ms = Some(now_ms);
                self.worker.order();
            }
            // A request ends by itself: its timeout is not longer than the interval.
            Some(waited) if waited < self.options.interval + BEYOND => {}
            Some(waited) => {
                self.is_overdue = true;
                let fault = format!("no answer for {} s; it is read again when it has one", waited.as_secs());
                recording.take(self.id, Reading::default());
                self.status.samples_count = 0;
                self.set_own(&Reading::default(), waited, Some(fault), recording, log);
            }
        }
    }

    /// Takes a reading.
    pub(crate) fn take(&mut self, done: Done, recording: &mut Recording, log: &Log) {
        let began_ms = self.began_ms.take();
        self.is_overdue = false;
        let Done { reading, took, fault, .. } = done;
        let figures = Reading { count: reading.count, kept: reading.kept, ..Reading::default() };
        let (samples_count, left_out) = recording.take(self.id, reading);
        self.status.read_ns = began_ms.map(|began_ms| (began_ms * 1_000_000).cast_signed());
        self.status.samples_count = samples_count as u64;
        self.set_own(&figures, took, fault.or(left_out), recording, log);
    }

    /// Sets whit's own series about it, and its status.
    fn set_own(
        &mut self,
        reading: &Reading,
        took: Duration,
        fault: Option<String>,
        recording: &mut Recording,
        log: &Log,
    ) {
        let is_without = fault.is_some() && self.status.samples_count == 0;
        let own = match self.options.place {
            Place::Http { .. } => vec![
                ("up", f64::from(u8::from(!is_without))),
                ("scrape_duration_seconds", took.as_secs_f64()),
                ("scrape_samples_scraped", reading.count as f64),
                ("scrape_samples_post_metric_relabeling", reading.kept as f64),
            ],
            Place::Directory(_) => vec![("node_textfile_scrape_error", f64::from(u8::from(fault.is_some())))],
        };
        let named = own.into_iter().map(|(metric, value)| {
            let mut series = SeriesName::new(metric);
            self.options.labels.iter().for_each(|(label, label_value)| series.set(label, label_value));
            (series, value)
        });
        recording.set_own(self.id, &named.collect::<Vec<_>>());
        let status = &mut self.status;
        let name = &status.name;
        match (&fault, &status.fault) {
            (Some(fault), None) => {
                log.write(Level::Warning, &format!("exporter {name}: {}", fault.shown()));
            }
            (None, Some(_)) => log.write(Level::Info, &format!("exporter {name}: works again")),
            _ => {}
        }
        status.took_ns = took.as_nanos() as u64;
        status.failures_count += u64::from(fault.is_some());
        status.fault = fault;
    }
}
