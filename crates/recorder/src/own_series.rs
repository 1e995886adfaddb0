//! The cost of the agent itself, recorded like everything else.

use facts::unit::Nanos;
use store::{SeriesId, Store};

use crate::budget::RecordingCost;
use crate::registry::Registry;
use history::metrics::agent_series_kind;

/// The parts of a tick, each with its CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Reading the machine, and naming what was read.
    Machine,
    /// Reading its slow sources.
    Slow,
    /// Reading all tasks.
    Tasks,
    /// Writing the history.
    Store,
    /// Writing the file for scripts.
    Now,
}

/// The series, in the order of [`OwnSeries::collect`]; those of the parts come first. The catalogue says what they are.
const SERIES: [&str; 21] = [
    "whit_agent_part_cpu_seconds_total{part=\"machine\"}",
    "whit_agent_part_cpu_seconds_total{part=\"slow\"}",
    "whit_agent_part_cpu_seconds_total{part=\"tasks\"}",
    "whit_agent_part_cpu_seconds_total{part=\"store\"}",
    "whit_agent_part_cpu_seconds_total{part=\"now\"}",
    "whit_agent_cpu_seconds_total",
    "whit_agent_tick_lateness_seconds",
    "whit_agent_missed_ticks_total",
    "whit_agent_reading_system_calls_total",
    "whit_agent_lost_exit_records_total",
    "whit_agent_impossible_values_total",
    "whit_agent_lost_ticks_total",
    "whit_agent_store_bytes",
    "whit_agent_resident_bytes",
    "whit_agent_ticks_between_task_readings",
    "whit_agent_server_cpu_seconds_total",
    "whit_agent_requests_cpu_seconds_total",
    "whit_agent_server_resident_bytes",
    "whit_agent_server_peak_bytes",
    "whit_agent_server_starts_total",
    concat!("whit_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}"),
];
const PARTS: usize = 5;

/// The agent's own cost, summed since it started.
#[derive(Debug, Default)]
pub(crate) struct OwnSeries {
    cpu_by_part: [Nanos; PARTS],
    /// CPU time of the thread when the part that runs now started.
    mark: Nanos,
    /// How much later than its deadline the last tick started.
    lateness: Nanos,
    /// Ticks that were not taken because the one before them took too long, or the machine stood still.
    missed_ticks: u64,
    /// In the order of `SERIES`; `None` if it is not recorded.
    names: Vec<Option<(String, SeriesId)>>,
    values: [Option<f64>; SERIES.len()],
}

/// The figures that the agent knows about itself beside its CPU time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnState {
    /// `None` if tasks are not read.
    pub(crate) resident_bytes: Option<u64>,
    /// `None` if no service is configured.
    pub(crate) server: Option<OwnServer>,
    /// Ticks between two readings of all tasks; `None` if they are not read.
    pub(crate) task_stride: Option<u32>,
    pub(crate) system_calls: u64,
    pub(crate) lost_exits: u64,
    pub(crate) impossible_values: u64,
    pub(crate) lost_ticks: u64,
    pub(crate) store_bytes: u64,
}

/// The cost of the server process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnServer {
    /// CPU time in seconds, including processes that have exited.
    pub(crate) cpu_s: f64,
    /// The part that answers to requests took, since the process started.
    pub(crate) requests_cpu_s: f64,
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) peak_bytes: u64,
    pub(crate) starts: u64,
}

impl OwnSeries {
    /// A tick begins, so much later than its deadline, after so many that were not taken.
    pub(crate) fn begin(&mut self, lateness: Nanos, missed_ticks: u64) {
        self.lateness = lateness;
        self.missed_ticks += missed_ticks;
        self.mark = probe::own_thread_cpu_time();
    }

    /// A part of the tick has ended, and the next begins.
    pub(crate) fn end(&mut self, part: Part) {
        let now = probe::own_thread_cpu_time();
        self.cpu_by_part[part as usize] += now.saturating_sub(self.mark);
        self.mark = now;
    }

    /// Returns the CPU time of recording so far.
    pub(crate) fn cost(&self) -> RecordingCost {
        let [tasks, store] = [Part::Tasks, Part::Store].map(|part| self.cpu_by_part[part as usize]);
        // Without what the server is sent for its clients.
        let all = self.cpu_by_part.iter().fold(Nanos(0), |all, part| all + *part);
        RecordingCost { all, of_rounds: tasks + store }
    }

    /// The values of this tick; the costs are those up to the one before.
    pub(crate) fn collect(&mut self, state: OwnState, registry: &mut Registry, store: &mut Store) {
        if self.names.is_empty() {
            self.names =
                SERIES.iter().map(|name| registry.register(name, agent_series_kind(name), store)).collect();
        }
        let [machine, slow, tasks, writing, now] = self.cpu_by_part.map(|cpu| Some(cpu.as_secs_f64()));
        let server = state.server;
        let server_cpu_s = server.map_or(0.0, |server| server.cpu_s);
        self.values = [
            machine,
            slow,
            tasks,
            writing,
            now,
            Some(probe::own_cpu_time().as_secs_f64() + server_cpu_s),
            Some(self.lateness.as_secs_f64()),
            Some(self.missed_ticks as f64),
            Some(state.system_calls as f64),
            Some(state.lost_exits as f64),
            Some(state.impossible_values as f64),
            Some(state.lost_ticks as f64),
            Some(state.store_bytes as f64),
            state.resident_bytes.map(|bytes| bytes as f64),
            state.task_stride.map(f64::from),
            server.map(|server| server.cpu_s),
            server.map(|server| server.requests_cpu_s),
            server.and_then(|server| Some(server.resident_bytes? as f64)),
            server.map(|server| server.peak_bytes as f64),
            server.map(|server| server.starts as f64),
            Some(1.0),
        ];
    }

    /// The values that were collected, with the names under which they are recorded.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        self.names.iter().zip(self.values).filter_map(|(name, value)| {
            let (name, id) = name.as_ref()?;
            Some((name.as_str(), *id, value?))
        })
    }

    /// Returns the values with their own names, whatever they are recorded as.
    pub(crate) fn status(&self) -> impl Iterator<Item = (&str, f64)> {
        SERIES.iter().zip(self.values).filter_map(|(name, value)| Some((*name, value?)))
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        self.names.clear();
    }
}
