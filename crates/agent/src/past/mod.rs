//! The history as a source of series for expressions: those of the machine, and the tasks'.

mod exits;
mod labelling;
mod moment;
mod task_lines;
mod tasks;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use facts::catalog::{METRICS, TASK_METRICS};
use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::rounds::Scope;
use formats::series_name::{METRIC, SeriesName};
use query::{Limits, Point, QueryError, STALE_BITS, Samples, Selection, Series, Source};
use sampling::users::Users;
use store::{History, Reading, SeriesKind, StoreError};

pub(crate) use exits::PastExit;
pub use moment::{PastMachine, PastTasks};

use crate::alert;
use crate::machine_series::series_kind;
use crate::own_series;
use crate::task_series;

/// So much of a history is read before it is asked whether that is too much: six hours.
const READ_AT_ONCE_NS: i64 = 21_600_000_000_000;

/// A history that expressions can be asked about. It stays as it was when it was opened.
#[derive(Debug)]
pub struct Past {
    history: History,
    /// Each series with its labels. Its name is in the history.
    series: Vec<(SeriesName, String)>,
    users: Users,
    /// Whose tasks are there.
    scope: Scope,
    /// The first and the last tick; read when it is needed.
    extent_ns: OnceCell<Option<(i64, i64)>>,
}

/// A tick of the past.
#[derive(Debug)]
pub(crate) struct PastTick<'p> {
    /// When it was, in milliseconds since 1970.
    pub(crate) at_ms: i64,
    /// The names of its series, and their values.
    pub(crate) values: Vec<(&'p str, f64)>,
}

impl Past {
    /// Opens a history.
    ///
    /// # Errors
    /// If there is none, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let history = History::open(path)?;
        let parse = |(name, _): (&str, SeriesKind)| Some((SeriesName::parse(name).ok()?, name.to_owned()));
        let series = history.series().into_iter().filter_map(parse).collect();
        Ok(Self { history, series, users: Users::read(), scope: Scope::All, extent_ns: OnceCell::new() })
    }

    /// The same without what a user may not see.
    #[must_use]
    pub(crate) fn seen_by(mut self, scope: Scope) -> Self {
        if scope != Scope::All {
            // The labels of alerts may be names of others' tasks, and the sums contain what these did.
            let is_others = |metric: &str| [alert::SERIES, task_series::METRIC].contains(&metric);
            self.series.retain(|(labels, _)| !is_others(labels.metric()));
        }
        Self { scope, ..self }
    }

    /// The labels of tasks.
    pub(crate) const TASK_LABELS: [&'static str; 5] = labelling::LABELS;

    /// The names of the tasks' metrics.
    pub(crate) fn task_metrics() -> impl Iterator<Item = &'static str> {
        TASK_METRICS.iter().map(|metric| metric.exported)
    }

    /// The series of the last tick with their values.
    pub(crate) fn last_tick(&self) -> Vec<(&SeriesName, f64)> {
        let names: Vec<&str> = self.series.iter().map(|(_, name)| name.as_str()).collect();
        let mut values: Vec<Option<f64>> = vec![None; names.len()];
        // What is left of it if a part is damaged.
        let _ = self.history.read_last(&names, |place, value| values[place] = Some(value));
        let series = self.series.iter().zip(values);
        series.filter_map(|((labels, _), value)| value.map(|value| (labels, value))).collect()
    }

    /// The ticks of the last so many milliseconds, in order.
    pub(crate) fn last_ticks(&self, length_ms: i64) -> Result<Vec<PastTick<'_>>, StoreError> {
        let Some((_, last_ns)) = self.extent_ns()? else { return Ok(Vec::new()) };
        let names: Vec<&str> = self.series.iter().map(|(_, name)| name.as_str()).collect();
        let from_ns = last_ns.saturating_sub(length_ms.saturating_mul(1_000_000));
        let mut ticks: BTreeMap<i64, Vec<(&str, f64)>> = BTreeMap::new();
        self.history.read_all(&names, from_ns, last_ns, |place, reading| {
            if let Reading::Sample(sample) = reading {
                let at_ms = sample.clock.realtime.0.cast_signed() / 1_000_000;
                ticks.entry(at_ms).or_default().push((names[place], sample.value));
            }
        })?;
        Ok(ticks.into_iter().map(|(at_ms, values)| PastTick { at_ms, values }).collect())
    }

    /// The distance of ticks at a time, in milliseconds: it is longer where the history is older. `None` if there are none.
    pub(crate) fn tick_ms(&self, at_ms: i64) -> Result<Option<i64>, StoreError> {
        let Some(first_ns) = self.tick_after(at_ms.saturating_mul(1_000_000))? else { return Ok(None) };
        let next_ns = self.tick_after(first_ns)?;
        // Rounded up: one may be late.
        Ok(next_ns.map(|next_ns| (next_ns - first_ns) / 1_000_000 + 1))
    }

    /// Whether a task is one that is seen.
    pub(crate) fn sees(&self, row: &TaskRow) -> bool {
        match self.scope {
            Scope::All => true,
            Scope::User(uid) => row.uid == Some(uid),
        }
    }

    /// The process that started most of those that ended between two times in milliseconds since 1970: its name, its number, and which
    /// part of them it started.
    pub(crate) fn parent_of_most(
        &self,
        from_ms: i64,
        to_ms: i64,
        limits: &Limits<'_>,
    ) -> Result<Option<(String, u32, f64)>, QueryError> {
        let failed = |error: StoreError| QueryError::Unreadable(error.to_string());
        let nanoseconds = |milliseconds: i64| milliseconds.saturating_mul(1_000_000);
        let mut replay = self.history.tasks(nanoseconds(from_ms), nanoseconds(to_ms)).map_err(failed)?;
        let mut children: HashMap<u32, u64> = HashMap::new();
        let mut names: HashMap<u32, Comm> = HashMap::new();
        while replay.advance().map_err(failed)? {
            if (limits.is_interrupted)() {
                return Err(QueryError::Interrupted);
            }
            let store = replay.store();
            for ended in store.ended() {
                let row = ended.row();
                if let Some(parent) = row.ppid.filter(|_| self.sees(row) && row.tgid == Some(row.key.pid)) {
                    *children.entry(parent).or_default() += 1;
                    let parent_row = store.row(parent);
                    if let Some(row) = parent_row.filter(|row| self.sees(row)) {
                        names.insert(parent, row.comm);
                    }
                }
            }
        }
        let all: u64 = children.values().sum();
        let most = children
            .into_iter()
            .filter(|(parent, _)| names.contains_key(parent))
            .max_by_key(|(_, count)| *count);
        Ok(most.map(|(parent, count)| (names[&parent].to_lossy(), parent, count as f64 / all as f64)))
    }

    /// The names of users.
    pub(crate) fn users(&self) -> &Users {
        &self.users
    }

    /// The history itself.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The labels of all series of the machine.
    pub fn series(&self) -> impl Iterator<Item = &SeriesName> {
        self.series.iter().map(|(labels, _)| labels)
    }

    fn machine_series(&self, selection: &Selection<'_>) -> Result<Vec<Series>, StoreError> {
        let selected: Vec<&(SeriesName, String)> =
            self.series.iter().filter(|(labels, _)| selection.is_met_by(labels)).collect();
        if selected.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = selected.iter().map(|(_, name)| name.as_str()).collect();
        let mut points: Vec<Vec<Point>> = vec![Vec::new(); names.len()];
        let nanoseconds = |milliseconds: i64| milliseconds.saturating_mul(1_000_000);
        // To the end of the last millisecond.
        let to_ns = nanoseconds(selection.to_ms).saturating_add(999_999);
        let (mut from_ns, mut count) = (nanoseconds(selection.from_ms), 0);
        // What is nowhere near the history is not walked through.
        let first_ns = self.extent_ns()?.map_or(to_ns, |(first_ns, _)| first_ns);
        from_ns = from_ns.max(first_ns.min(to_ns));
        loop {
            let until_ns = to_ns.min(from_ns.saturating_add(READ_AT_ONCE_NS));
            let mut push = |place: usize, reading: Reading| {
                let at_ms = reading.clock().realtime.0.cast_signed() / 1_000_000;
                let value = match reading {
                    Reading::Sample(sample) => sample.value,
                    Reading::End(_) => f64::from_bits(STALE_BITS),
                };
                let points: &mut Vec<Point> = &mut points[place];
                let is_replaced = match (points.last(), selection.step_after) {
                    (Some(_), _) if selection.is_newest => true,
                    (Some(last), Some(step)) => last.at_ms <= at_ms && step.of(last.at_ms) == step.of(at_ms),
                    _ => false,
                };
                if is_replaced {
                    points.pop();
                } else {
                    count += 1;
                }
                points.push(Point { at_ms, value });
            };
            match selection.is_newest {
                true => self.history.read_newest(&names, from_ns, until_ns, &mut push)?,
                false => self.history.read_all(&names, from_ns, until_ns, &mut push)?,
            };
            let Selection { limits, .. } = selection;
            if until_ns >= to_ns || count > limits.most_points || (limits.is_interrupted)() {
                break;
            }
            from_ns = until_ns + 1;
        }
        let series = selected.into_iter().zip(points).filter(|(_, points)| !points.is_empty());
        let series = series.map(|((labels, _), mut points)| {
            // The clock was set, or something was imported.
            if !points.is_sorted_by_key(|point| point.at_ms) {
                points.sort_by_key(|point| point.at_ms);
            }
            Series { name: labels.clone(), samples: Samples::Points(points) }
        });
        Ok(series.collect())
    }
}

impl Past {
    /// The series of tasks that are selected.
    pub(crate) fn select_tasks(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let mut series = Vec::new();
        for metric in &TASK_METRICS {
            if (selection.limits.is_interrupted)() {
                break;
            }
            let is_named = |matcher: &&query::Matcher| matcher.label == METRIC;
            if selection.matchers.iter().filter(is_named).all(|matcher| matcher.accepts(metric.exported)) {
                series.extend(tasks::select(&self.history, (&self.users, self.scope), metric, selection)?);
            }
        }
        Ok(series)
    }
}

impl Source for Past {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let mut series = self.machine_series(selection).map_err(|error| error.to_string())?;
        series.extend(self.select_tasks(selection)?);
        Ok(series)
    }
}

/// How a metric behaves and what it is: its kind as OpenMetrics names it, and its help; `None` if whit has no such metric.
pub fn metadata(metric: &str) -> Option<(&'static str, &'static str)> {
    let of_machine = METRICS.iter().map(|row| (row.name, row.kind, row.help));
    let of_tasks = TASK_METRICS.iter().map(|row| (row.exported, row.kind, row.help));
    let found = of_machine.chain(of_tasks).find(|(name, ..)| *name == metric);
    let found = found.map(|(_, kind, help)| (series_kind(kind), help));
    let of_all_tasks = || (metric == task_series::METRIC).then_some((SeriesKind::Counter, task_series::HELP));
    let (kind, help) = found.or_else(|| own_series::metadata(metric)).or_else(of_all_tasks)?;
    let kind = match kind {
        SeriesKind::Counter => "counter",
        SeriesKind::Gauge => "gauge",
    };
    Some((kind, help))
}
