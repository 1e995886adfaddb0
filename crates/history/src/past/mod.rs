//! The history as a source of series for expressions: those of the machine, and the tasks'.

mod batched_source;
#[cfg(test)]
mod batching;
mod doubts;
mod exits;
mod labelling;
mod lines;
mod moment;
mod parts;
mod past_sums;
mod process;
mod recorded_series;
#[cfg(test)]
mod reused;
mod round;
#[cfg(test)]
pub(crate) mod scratch;
mod stuck;
#[cfg(test)]
mod summing;
mod task_lines;
mod task_selection;
mod task_series;
mod tasks;
#[cfg(test)]
mod waiting;
mod watched;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use facts::catalog::{AGENT_METRICS, METRICS};
use facts::task::TaskRow;
use facts::task::rounds::Scope;
use formats::series_name::{METRIC, SeriesName};
use query::{Selection, Series, Source, Sums};
use sampling::users::Users;
use store::{History, Reading, SeriesKind, StoreError};

pub use batched_source::BatchedSource;
pub use exits::EndedProcess;
pub use exits::PastExit;
pub use moment::{PastMachine, PastTasks};
pub use process::{PastProcess, ProcessKey, Relative};
pub use task_selection::BriefProcesses;
pub use watched::WatchedSummary;

use self::past_sums::PastSums;
use self::recorded_series::RecordedSeries;
use self::task_selection::{TaskSelection, VisibleTasks};
use self::task_series::TaskSeries;
use crate::metrics;
use crate::metrics::series_kind;

/// The name of the history of checks in the data directory.
pub const CHECKS: &str = "checks-history.sqlite";
/// The beginning of the names of series of checks.
const OF_CHECKS: &str = "whit_check_";

/// A history that expressions can be asked about. It stays as it was when it was opened.
#[derive(Debug)]
pub struct Past {
    recorded: RecordedSeries,
    /// The history of checks, which is opened when it is asked for; `None`: it is not seen.
    checks_path: Option<PathBuf>,
    checks: OnceCell<Option<RecordedSeries>>,
    /// The path of the history, and the sums beside it; opened when they are asked for.
    path: PathBuf,
    sums: OnceCell<Option<PastSums>>,
    users: Users,
    /// The scope of the tasks that are there.
    scope: Scope,
    /// The first and the last tick; read when it is needed.
    extent_ns: OnceCell<Option<(i64, i64)>>,
}

/// A tick of the past.
#[derive(Debug)]
pub struct PastTick<'p> {
    /// When it was, in milliseconds since 1970.
    pub at_ms: i64,
    /// The names of its series, and their values.
    pub values: Vec<(&'p str, f64)>,
}

impl Past {
    /// Opens a history.
    ///
    /// # Errors
    /// If there is none, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let recorded = RecordedSeries::new(History::open(path)?);
        Ok(Self {
            recorded,
            checks_path: Some(path.with_file_name(CHECKS)),
            checks: OnceCell::new(),
            path: path.to_owned(),
            sums: OnceCell::new(),
            users: Users::read(),
            scope: Scope::All,
            extent_ns: OnceCell::new(),
        })
    }

    /// Returns the same without what a user may not see.
    #[must_use]
    pub fn seen_by(mut self, scope: Scope) -> Self {
        if scope != Scope::All {
            self.recorded.series.retain(|(labels, _)| !metrics::RESTRICTED.contains(&labels.metric()));
            // What plugins print is for those who configured them.
            self.checks_path = None;
        }
        Self { scope, ..self }
    }

    /// The names of the tasks' metrics, and the labels of each.
    pub fn task_metrics() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        TaskSeries::all().map(|metric| (metric.name(), metric.labels()))
    }

    /// The series of the last tick with their values.
    pub fn last_tick(&self) -> Vec<(&SeriesName, f64)> {
        let names: Vec<&str> = self.recorded.series.iter().map(|(_, name)| name.as_str()).collect();
        let mut values: Vec<Option<f64>> = vec![None; names.len()];
        // What is left of it if a part is damaged.
        let _ = self.recorded.history.read_last(&names, |place, value| values[place] = Some(value));
        let series = self.recorded.series.iter().zip(values);
        series.filter_map(|((labels, _), value)| value.map(|value| (labels, value))).collect()
    }

    /// The ticks of the last so many milliseconds, in order.
    pub fn last_ticks(&self, length_ms: i64) -> Result<Vec<PastTick<'_>>, StoreError> {
        let Some((_, last_ns)) = self.extent_ns()? else { return Ok(Vec::new()) };
        let names: Vec<&str> = self.recorded.series.iter().map(|(_, name)| name.as_str()).collect();
        let from_ns = last_ns.saturating_sub(length_ms.saturating_mul(1_000_000));
        let mut ticks: BTreeMap<i64, Vec<(&str, f64)>> = BTreeMap::new();
        self.recorded.history.read_all(&names, from_ns, last_ns, |place, reading| {
            if let Reading::Sample(sample) = reading {
                let at_ms = sample.clock.realtime.0.cast_signed() / 1_000_000;
                ticks.entry(at_ms).or_default().push((names[place], sample.value));
            }
        })?;
        Ok(ticks.into_iter().map(|(at_ms, values)| PastTick { at_ms, values }).collect())
    }

    /// The distance of ticks at a time, in milliseconds: it is longer where the history is older. `None` if there are none.
    pub fn tick_ms(&self, at_ms: i64) -> Result<Option<i64>, StoreError> {
        let Some(first_ns) = self.tick_after(at_ms.saturating_mul(1_000_000))? else { return Ok(None) };
        let next_ns = self.tick_after(first_ns)?;
        // Rounded up: one may be late.
        Ok(next_ns.map(|next_ns| (next_ns - first_ns) / 1_000_000 + 1))
    }

    /// Returns whether all tasks are seen.
    pub fn sees_all(&self) -> bool {
        self.scope == Scope::All
    }

    /// Returns whether a task is one that is seen.
    pub fn sees(&self, row: &TaskRow) -> bool {
        self.scope.contains(row)
    }

    /// The names of users.
    pub fn users(&self) -> &Users {
        &self.users
    }

    /// The history itself.
    pub fn history(&self) -> &History {
        &self.recorded.history
    }

    /// The history of checks; `None` if there is none.
    fn checks(&self) -> Option<&RecordedSeries> {
        let open = || self.checks_path.as_ref().and_then(|path| History::open(path).ok());
        self.checks.get_or_init(|| open().map(RecordedSeries::new)).as_ref()
    }

    /// The labels of all series of the machine.
    pub fn series(&self) -> impl Iterator<Item = &SeriesName> {
        let of_checks = self.checks().into_iter().flat_map(|checks| &checks.series);
        self.recorded.series.iter().chain(of_checks).map(|(labels, _)| labels)
    }
}

impl Past {
    fn visible_tasks(&self) -> VisibleTasks<'_> {
        // Without them everything is replayed.
        let history = &self.recorded.history;
        let sums = self.sums.get_or_init(|| PastSums::open(&self.path, history)).as_ref();
        VisibleTasks { history, sums, users: &self.users, scope: self.scope }
    }

    /// The series of tasks that are selected.
    pub fn select_tasks(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        // A sum may be over several metrics, so that the largest of one are not those of all.
        let sums = selection.sums.map(|sums| Sums { largest: None, ..sums });
        let selection = &Selection { sums, ..*selection };
        let mut series = Vec::new();
        for metric in TaskSeries::all() {
            if (selection.limits.is_interrupted)() {
                break;
            }
            let is_named = |matcher: &&query::Matcher| matcher.label == METRIC;
            if selection.matchers.iter().filter(is_named).all(|matcher| matcher.accepts(metric.name())) {
                series.extend(tasks::select(
                    self.visible_tasks(),
                    &TaskSelection { metric, selection, brief: BriefProcesses::Exact },
                )?);
            }
        }
        Ok(series)
    }
}

impl Source for Past {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let failed = |error: StoreError| error.to_string();
        let first_ns = self.extent_ns().map_err(failed)?.map(|(first_ns, _)| first_ns);
        let mut series = self.recorded.select(selection, first_ns).map_err(failed)?;
        let is_of_checks = |matcher: &query::Matcher| {
            matcher.label != METRIC
                || AGENT_METRICS
                    .iter()
                    .any(|row| row.name.starts_with(OF_CHECKS) && matcher.accepts(row.name))
        };
        if selection.matchers.iter().all(is_of_checks)
            && let Some(checks) = self.checks()
        {
            let first_ns = checks.extent_ns().map_err(failed)?.map(|(first_ns, _)| first_ns);
            series.extend(checks.select(selection, first_ns).map_err(failed)?);
        }
        series.extend(self.select_tasks(selection)?);
        Ok(series)
    }
}

/// Returns how a metric behaves and what it is: its kind as OpenMetrics names it, and its help; `None` if whit has no such metric.
pub fn metadata(metric: &str) -> Option<(&'static str, &'static str)> {
    let of_machine = METRICS.iter().map(|row| (row.name, row.kind, row.help));
    let of_tasks = TaskSeries::all().map(|row| (row.name(), row.kind(), row.help()));
    let of_agent = AGENT_METRICS.iter().map(|row| (row.name, row.kind, row.help));
    let (_, kind, help) = of_machine.chain(of_tasks).chain(of_agent).find(|(name, ..)| *name == metric)?;
    let kind = match series_kind(kind) {
        SeriesKind::Counter => "counter",
        SeriesKind::Gauge => "gauge",
    };
    Some((kind, help))
}
