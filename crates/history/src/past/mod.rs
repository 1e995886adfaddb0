//! The history as a source of series for expressions: those of the machine, and the tasks'.

mod at_rest;
mod batched_source;
#[cfg(test)]
mod batching;
mod brief_bounds;
mod exits;
mod labelling;
mod lines;
#[cfg(test)]
#[path = "../../../store/tests/machine/mod.rs"]
mod machine;
mod moment;
mod parts;
mod past_sums;
mod process;
#[cfg(test)]
mod random_machine;
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

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use facts::catalog::{AGENT_METRICS, METRICS, agent_metric};
use facts::container::ContainerNames;
use facts::task::TaskRow;
use facts::task::rounds::Scope;
use formats::series_name::{METRIC, SeriesName};
use query::{Condition, Samples, Selection, Series, Source, Sums};
use sampling::users::Users;
use store::{History, Reading, SeriesKind, StoreError};

pub use at_rest::PastAtRest;
pub use batched_source::BatchedSource;
pub use exits::EndedProcess;
pub use exits::PastExit;
pub use labelling::Names;
pub use moment::{PastMachine, PastTasks};
pub use process::{PastProcess, ProcessKey, Relative};
pub use task_selection::BriefProcesses;
pub use watched::WatchedSummary;

use self::past_sums::PastSums;
use self::recorded_series::{RecordedSeries, SeriesAtRest};
use self::task_selection::{TaskSelection, VisibleTasks};
use self::task_series::TaskSeries;
use crate::metrics;
use crate::metrics::series_kind;

/// The name of the history of checks in the data directory.
pub const CHECKS: &str = "checks-history.sqlite";
/// The name of the history of exporters.
pub const EXPORTERS: &str = "exporters-history.sqlite";
/// The beginning of the names of series of checks.
const OF_CHECKS: &str = "whit_check_";
/// The names of whit's own series in the history of exporters.
const OF_EXPORTERS: [&str; 6] = [
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "scrape_samples_post_metric_relabeling",
    "node_textfile_mtime_seconds",
    "node_textfile_scrape_error",
];

/// A history that expressions can be asked about. It stays as it was when it was opened, or went on.
#[derive(Debug)]
pub struct Past {
    recorded: RecordedSeries,
    /// The histories of checks and of exporters.
    checks: OtherHistory,
    exporters: OtherHistory,
    /// The path of the history, and the sums beside it; opened when they are asked for.
    path: PathBuf,
    sums: OnceCell<Option<PastSums>>,
    users: Users,
    /// Those of containers; read from the names of series when they are needed.
    containers: OnceCell<ContainerNames>,
    /// The scope of the tasks that are there.
    scope: Scope,
    /// The first and the last tick; read when it is needed.
    extent_ns: OnceCell<Option<(i64, i64)>>,
}

/// A history beside that of the machine, which is opened when it is asked for.
#[derive(Debug, Default)]
struct OtherHistory {
    /// `None`: it is not seen.
    path: Option<PathBuf>,
    /// What an earlier question opened.
    at_rest: RefCell<Option<SeriesAtRest>>,
    opened: OnceCell<Result<Option<RecordedSeries>, String>>,
}

impl OtherHistory {
    fn new(path: &Path, name: &str) -> Self {
        Self { path: Some(path.with_file_name(name)), ..Self::default() }
    }

    /// Returns it; `None` if there is none.
    ///
    /// # Errors
    /// If it is there and cannot be opened: an answer without it would be wrong.
    fn series(&self) -> Result<Option<&RecordedSeries>, &str> {
        let open = |path: &Path| match SeriesAtRest::go_on_or_open(self.at_rest.take(), path) {
            Ok(series) => Ok(Some(series)),
            Err(StoreError::Empty) => Ok(None),
            Err(_) if !path.exists() => Ok(None),
            Err(error) => Err(format!("{}: {error}", path.display())),
        };
        let opened = self.opened.get_or_init(|| self.path.as_deref().map_or(Ok(None), open));
        opened.as_ref().map(Option::as_ref).map_err(String::as_str)
    }
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
        let [checks, exporters] = [CHECKS, EXPORTERS].map(|name| OtherHistory::new(path, name));
        Ok(Self::new(path.to_owned(), recorded, checks, exporters))
    }

    fn new(path: PathBuf, recorded: RecordedSeries, checks: OtherHistory, exporters: OtherHistory) -> Self {
        Self {
            recorded,
            checks,
            exporters,
            path,
            sums: OnceCell::new(),
            users: Users::read(),
            containers: OnceCell::new(),
            scope: Scope::All,
            extent_ns: OnceCell::new(),
        }
    }

    /// Returns the same without what a user may not see.
    #[must_use]
    pub fn seen_by(mut self, scope: Scope) -> Self {
        if scope != Scope::All {
            // The own tasks have the names of their containers.
            self.container_names();
            self.recorded.series.retain(|(labels, _)| !metrics::RESTRICTED.contains(&labels.metric()));
            // What plugins and exporters say is for those who configured them.
            self.checks = OtherHistory::default();
            self.exporters = OtherHistory::default();
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

    /// The names of containers.
    pub fn container_names(&self) -> &ContainerNames {
        self.containers.get_or_init(|| self.recorded.container_names())
    }

    /// The names of what tasks have numbers and ids of.
    pub fn names(&self) -> Names<'_> {
        Names { users: &self.users, containers: self.container_names() }
    }

    /// The history itself.
    pub fn history(&self) -> &History {
        &self.recorded.history
    }

    /// The labels of all series of the machine, of checks and of exporters.
    pub fn series(&self) -> impl Iterator<Item = &SeriesName> {
        self.all_names().collect::<BTreeSet<_>>().into_iter()
    }

    /// Returns whether a series of the machine, of checks or of exporters is so.
    fn has_series(&self, is_so: impl Fn(&SeriesName) -> bool) -> bool {
        self.all_names().any(is_so)
    }

    /// The labels of all recorded series; some may be in several histories.
    fn all_names(&self) -> impl Iterator<Item = &SeriesName> {
        let others = [self.checks.series(), self.exporters.series()].into_iter().flatten().flatten();
        std::iter::once(&self.recorded).chain(others).flat_map(|other| &other.series).map(|(name, _)| name)
    }
}

impl Past {
    fn visible_tasks(&self) -> VisibleTasks<'_> {
        // Without them everything is replayed.
        let history = &self.recorded.history;
        let sums = self.sums.get_or_init(|| PastSums::open(&self.path, history)).as_ref();
        VisibleTasks { history, sums, names: self.names(), scope: self.scope }
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
        // Most questions are about series that only one history has.
        let is_of_exporters = |matcher: &query::Matcher| match &matcher.condition {
            Condition::Equal(name) if matcher.label == METRIC => {
                OF_EXPORTERS.contains(&name.as_str()) || metadata(name).is_none()
            }
            _ => true,
        };
        let is_of_checks = |matcher: &query::Matcher| {
            matcher.label != METRIC
                || AGENT_METRICS
                    .iter()
                    .any(|row| row.name.starts_with(OF_CHECKS) && matcher.accepts(row.name))
        };
        let may_be_of_checks = selection.matchers.iter().all(is_of_checks);
        let may_be_of_exporters = selection.matchers.iter().all(is_of_exporters);
        let others =
            [may_be_of_checks.then_some(&self.checks), may_be_of_exporters.then_some(&self.exporters)];
        // What names one metric may want those of a file that cannot be read; what names many has the others, if there are some.
        let mut unreadable = None;
        let is_of_one = selection
            .matchers
            .iter()
            .any(|matcher| matcher.label == METRIC && matches!(matcher.condition, Condition::Equal(_)));
        for other in others.into_iter().flatten() {
            let other = match other.series() {
                Ok(Some(other)) => other,
                Err(error) if is_of_one => return Err(error.to_owned()),
                Err(error) => {
                    unreadable = Some(error);
                    continue;
                }
                Ok(None) => continue,
            };
            let first_ns = other.extent_ns().map_err(failed)?.map(|(first_ns, _)| first_ns);
            add_series(&mut series, other.select(selection, first_ns).map_err(failed)?);
        }
        series.extend(self.select_tasks(selection)?);
        match unreadable.filter(|_| series.is_empty()) {
            Some(error) => Err(error.to_owned()),
            None => Ok(series),
        }
    }
}

/// Adds series, and the points of those that are there already: what was imported may go on in another history.
fn add_series(series: &mut Vec<Series>, more: Vec<Series>) {
    let places: HashMap<SeriesName, usize> = series.iter().map(|one| one.name.clone()).zip(0..).collect();
    for other in more {
        let known = places.get(&other.name).and_then(|place| series.get_mut(*place));
        match (known, other.samples) {
            (Some(Series { samples: Samples::Points(points), .. }), Samples::Points(others)) => {
                let points = Arc::make_mut(points);
                points.extend_from_slice(&others);
                points.sort_by_key(|point| point.at_ms);
            }
            (_, samples) => series.push(Series { name: other.name, samples }),
        }
    }
}

/// Returns whether everyone may see the series of a metric: those of the machine and of the agent, without those that tell what others' tasks
/// do, and what plugins and exporters say.
pub fn is_for_everyone(metric: &str) -> bool {
    let is_of_machine = METRICS.iter().any(|row| row.name == metric) || agent_metric(metric).is_some();
    is_of_machine
        && !metrics::RESTRICTED.contains(&metric)
        && !metric.starts_with(OF_CHECKS)
        && !OF_EXPORTERS.contains(&metric)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_and_their_programs_do_is_not_for_everyone() {
        for metric in ["node_load1", "whit_agent_cpu_seconds_total", "whit_remote_write_behind_seconds"] {
            assert!(is_for_everyone(metric), "{metric}");
        }
        for metric in ["whit_task_on_cpu_seconds_total", "whit_check_state", "up", "redis_keys"] {
            assert!(!is_for_everyone(metric), "{metric}");
        }
        assert!(metrics::RESTRICTED.iter().all(|metric| !is_for_everyone(metric)));
    }
}
