//! Checks as series: their states, what plugins measured, and what plugins cost. They have a history of their own, whose ticks are
//! seconds apart: results come every few minutes, and may be many. Tens of thousands of series that change every five minutes would be most
//! of the machine's history.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use formats::plugin_output::{PluginRange, read_data};
use formats::series_name::SeriesName;
use history::past::CHECKS;
use probe::{Roots, clock_now};
use store::{Retention, SeriesId, SeriesKind, Store, StoreError, Tick};

use super::definition::Check;
use super::registry::CheckRegistry;
use super::runner::RunCost;
use super::slot;
use super::status::CheckStatus;

/// Series at a time, at most.
const MAX_SERIES: usize = 200_000;
/// Series in all; a plugin that names what it measures otherwise each time makes more.
const MAX_NAMES: usize = 2 * MAX_SERIES;
/// Figures of one check.
const MAX_FIGURES: usize = 100;
/// A result is worth something for so many intervals.
const INTERVALS: u32 = 3;

/// The state of a check.
pub const STATE: &str = "whit_check_state";
const FIGURE: &str = "whit_check_figure";
const THRESHOLD: &str = "whit_check_threshold";
const RUNS: &str = "whit_check_runs_total";
const COSTS: [&str; 4] = [
    "whit_check_run_seconds_total",
    "whit_check_spawn_seconds_total",
    "whit_check_cpu_seconds_total",
    "whit_check_wait_seconds_total",
];
const WAITS: [&str; 3] = ["run_queue", "block_io", "memory"];

/// The history of checks, as it is written.
#[derive(Debug)]
pub(super) struct CheckHistory {
    store: Store,
    boot_id: String,
    /// The last results, by a hash of each check's name.
    results: HashMap<u64, ResultValues>,
    /// By the names of checks: runs, and what they cost.
    costs: BTreeMap<String, (u64, RunCost)>,
    series: usize,
    /// Some series are not recorded: there were too many names.
    is_full: bool,
}

/// The values of a result.
#[derive(Debug)]
struct ResultValues {
    /// Until when they hold, in milliseconds since 1970.
    until_ms: i64,
    values: Box<[(SeriesId, f64)]>,
}

impl CheckHistory {
    /// Opens that of a data directory.
    pub(super) fn open(directory: &Path, retention: Retention) -> Result<Self, StoreError> {
        let store = Store::open(&directory.join(CHECKS), retention)?;
        let boot_id = probe::boot_id(&Roots::live()).unwrap_or_default();
        Ok(Self {
            store,
            boot_id,
            results: HashMap::new(),
            costs: BTreeMap::new(),
            series: 0,
            is_full: false,
        })
    }

    /// Takes a check's result.
    pub(super) fn take(&mut self, check: &Check, status: &CheckStatus, at_ms: i64) {
        let key = slot::hash(&status.name);
        let mut values = Vec::new();
        let known = self.results.remove(&key).map_or(0, |known| known.values.len());
        self.series -= known.min(self.series);
        let others = self.series;
        let state = self.store.series(&check.series(STATE).to_string(), SeriesKind::Gauge);
        values.push((state, f64::from(status.state.unwrap_or_default().number())));
        self.series += 1;
        let mut add = |series: &SeriesName, value: f64| {
            if self.series >= MAX_SERIES {
                return;
            }
            let name = series.to_string();
            let id = match self.store.series_count() < MAX_NAMES {
                true => Some(self.store.series(&name, SeriesKind::Gauge)),
                false => self.store.known_series(&name),
            };
            self.is_full |= id.is_none();
            if let Some(id) = id {
                self.series += 1;
                values.push((id, value));
            }
        };
        for figure in read_data(&status.figures).0.iter().take(MAX_FIGURES) {
            let Some(value) = figure.value else { continue };
            let (unit, scale) = figure.base_unit();
            let of_figure = |metric: &str| {
                let mut series = check.series(metric);
                series.set("figure", &figure.label);
                series.set("unit", unit);
                series
            };
            add(&of_figure(FIGURE), scale.apply(value));
            for (severity, range) in [("warning", figure.warn), ("critical", figure.crit)] {
                for (bound, value) in range.into_iter().flat_map(bounds) {
                    let mut series = of_figure(THRESHOLD);
                    series.set("severity", severity);
                    series.set("bound", bound);
                    add(&series, scale.apply(value));
                }
            }
        }
        // Each series once in a tick: a plugin may name two figures alike.
        values.sort_by_key(|(id, _)| *id);
        values.dedup_by_key(|(id, _)| *id);
        self.series = others + values.len();
        let lasts_ms = (check.interval * INTERVALS).as_millis() as i64;
        // No result follows one that is too old by itself.
        let until_ms = if status.is_stale { i64::MAX } else { at_ms.saturating_add(lasts_ms) };
        self.results.insert(key, ResultValues { until_ms, values: values.into() });
    }

    /// Adds what a run cost.
    pub(super) fn add_cost(&mut self, check: &Check, run: &RunCost) {
        let (runs, sum) = self.costs.entry(check.name.service.clone()).or_default();
        *runs += 1;
        sum.add(run);
    }

    /// Forgets checks that are configured no more.
    pub(super) fn keep_of(&mut self, registry: &CheckRegistry) {
        let known: HashSet<u64> = registry.statuses.iter().map(|status| slot::hash(&status.name)).collect();
        self.results.retain(|name, _| known.contains(name));
        self.series = self.results.values().map(|known| known.values.len()).sum();
    }

    /// Records a tick.
    pub(super) fn tick(&mut self) -> Result<(), StoreError> {
        let clock = clock_now();
        let now_ms = clock.realtime.0.cast_signed() / 1_000_000;
        let mut values = Vec::with_capacity(self.series + self.costs.len() * 7);
        for result in self.results.values().filter(|result| result.until_ms >= now_ms) {
            values.extend_from_slice(&result.values);
        }
        for (name, (runs, sum)) in &self.costs {
            let mut add = |metric: &str, label: Option<&str>, value: f64| {
                let mut series = SeriesName::new(metric);
                series.set("check", name);
                label.into_iter().for_each(|label| series.set("cause", label));
                values.push((self.store.series(&series.to_string(), SeriesKind::Counter), value));
            };
            add(RUNS, None, *runs as f64);
            for (metric, nanos) in COSTS.into_iter().zip([sum.wall_ns, sum.spawn_ns, sum.cpu_ns]) {
                add(metric, None, nanos as f64 / 1e9);
            }
            for (cause, nanos) in WAITS.into_iter().zip([sum.run_queue_ns, sum.blkio_ns, sum.memory_ns]) {
                if let Some(nanos) = nanos {
                    add(COSTS[3], Some(cause), nanos as f64 / 1e9);
                }
            }
        }
        match self.store.append(&Tick { clock, boot_id: &self.boot_id, values: &values, tasks: None }) {
            // Nothing is new about it.
            Err(StoreError::Waiting) => Ok(()),
            appended => appended,
        }
    }

    /// Takes the messages that are to be logged about the history.
    pub(super) fn take_findings(&mut self) -> Vec<String> {
        self.store.take_findings()
    }

    /// Returns what is not recorded, and what to do, as long as that is so.
    pub(super) fn fault(&self) -> Option<String> {
        let text = || {
            format!(
                "checks have had {MAX_NAMES} different figures, and new ones are not recorded: mend the plugin that names them otherwise each time, end the agent, remove {CHECKS}, which has what was recorded of checks, and start the agent"
            )
        };
        self.is_full.then(text)
    }
}

/// The bounds of a range that a plugin names.
fn bounds(range: PluginRange) -> impl Iterator<Item = (&'static str, f64)> {
    // A range that begins at 0 has no lower bound in the plugin's text.
    let is_named = |(bound, value): &(&str, f64)| value.is_finite() && (*bound == "upper" || *value != 0.0);
    [("lower", range.start), ("upper", range.end)].into_iter().filter(is_named)
}
