//! Tasks as series: evaluated from the chunks of the history, so that it costs nothing that there are many.

use std::collections::HashMap;

use facts::catalog::{Kind, TaskMetric, Unit};
use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::figure::Figures;
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use query::{Limits, Selection, Series};
use sampling::users::Users;
use store::{History, TaskReplay};

use super::labelling::{Labelling, TaskLabels};
use super::parents::Parents;
use super::task_lines::TaskLines;

/// The most series of tasks in an answer.
const MOST_SERIES: usize = 1_000_000;
/// Times before an instant in which its round is looked for, in milliseconds, the likeliest first.
const NEWEST_WITHIN_MS: [i64; 3] = [3_000, 75_000, i64::MAX];

/// The tasks of a history that a requester may see.
#[derive(Clone, Copy)]
pub(super) struct VisibleTasks<'p> {
    pub(super) history: &'p History,
    pub(super) users: &'p Users,
    pub(super) scope: Scope,
}

/// A selection of one metric of tasks.
pub(super) struct TaskSelection<'s> {
    pub(super) metric: &'static TaskMetric,
    pub(super) selection: &'s Selection<'s>,
}

impl<'s> TaskSelection<'s> {
    /// Returns whether the increases of tasks are added: of a counter in a range.
    fn adds_up(&self) -> bool {
        self.selection.is_range && self.metric.kind == Kind::Counter
    }

    fn labelling(&self, tasks: VisibleTasks<'s>) -> Option<Labelling<'s>> {
        let sums = self.selection.sums.filter(|_| self.adds_up()).map(|sums| sums.by);
        Labelling::new((tasks.users, tasks.scope), self.selection.matchers, sums, self.metric.exported)
    }
}

/// Returns the series of a selection.
pub(super) fn select(tasks: VisibleTasks<'_>, selected: &TaskSelection<'_>) -> Result<Vec<Series>, String> {
    let Selection { from_ms, to_ms, is_newest, limits, .. } = *selected.selection;
    let only = |from_ms| {
        let found = replay_all(tasks, [from_ms, to_ms], std::slice::from_ref(selected), None, limits)?;
        Ok(found.into_iter().next().unwrap_or_default())
    };
    if !is_newest {
        return only(from_ms);
    }
    let length_ms = to_ms.saturating_sub(from_ms);
    for within_ms in NEWEST_WITHIN_MS {
        let series: Result<Vec<Series>, String> = only(to_ms.saturating_sub(within_ms.min(length_ms)));
        match series {
            Ok(series) if series.is_empty() && within_ms < length_ms => {}
            series => return series,
        }
    }
    Ok(Vec::new())
}

/// Returns the series of each selection between two times, and counts whose children ended then. Reads the history in one replay.
///
/// # Errors
/// If the history cannot be read, it takes too long, or there are too many series.
pub(super) fn replay_all(
    tasks: VisibleTasks<'_>,
    [from_ms, to_ms]: [i64; 2],
    selections: &[TaskSelection<'_>],
    mut parents: Option<&mut Parents>,
    limits: &Limits<'_>,
) -> Result<Vec<Vec<Series>>, String> {
    let nanoseconds = |milliseconds: i64| milliseconds.saturating_mul(1_000_000);
    let to_ns = nanoseconds(to_ms).saturating_add(999_999);
    // `None`: no task can meet the matchers.
    let mut lines: Vec<Option<Lines<'_>>> = selections
        .iter()
        .map(|one| Some(Lines::new(one.metric, one.adds_up(), one.labelling(tasks)?)))
        .collect();
    let has_counters = lines.iter().flatten().any(|lines| lines.adds_up);
    let has_gauges = lines.iter().flatten().any(|lines| !lines.adds_up);
    if has_counters || has_gauges || parents.is_some() {
        let mut replay =
            tasks.history.tasks(nanoseconds(from_ms), to_ns).map_err(|error| error.to_string())?;
        let mut round = RoundRows::default();
        while replay.advance().map_err(|error| error.to_string())? {
            round.take(replay.store(), has_counters, has_gauges);
            if let Some(parents) = &mut parents {
                parents.add(replay.store(), tasks.scope);
            }
            let at_ms = replay.round().clock.realtime.0.cast_signed() / 1_000_000;
            for lines in lines.iter_mut().flatten() {
                lines.take(at_ms, &round, &mut replay)?;
            }
            if (limits.is_interrupted)() {
                return Err("it takes too long".to_owned());
            }
            if lines.iter().flatten().map(|lines| lines.of_tasks.len()).sum::<usize>() > MOST_SERIES {
                return Err(format!(
                    "there are more than {MOST_SERIES} series of tasks: take fewer, or sum by (comm)"
                ));
            }
        }
    }
    let series = lines.into_iter().zip(selections).map(|(lines, one)| match lines {
        Some(lines) => lines.into_series(one.selection),
        None => Vec::new(),
    });
    Ok(series.collect())
}

/// The tasks of a round, copied once for all selections: to look up names of cgroups the replay must not be borrowed.
#[derive(Default)]
struct RoundRows {
    /// All tasks, in the first round and after a gap.
    all: Vec<TaskRow>,
    changed: Vec<TaskRow>,
    /// Exited tasks with their increases in the round.
    ended: Vec<(TaskRow, Figures)>,
    gone: Vec<u32>,
    rounds: usize,
    has_interval: bool,
}

impl RoundRows {
    fn take(&mut self, store: &TaskStore, has_counters: bool, has_gauges: bool) {
        self.rounds += 1;
        self.has_interval = store.interval().is_some();
        for rows in [&mut self.all, &mut self.changed] {
            rows.clear();
        }
        self.ended.clear();
        self.gone.clear();
        if self.rounds == 1 || has_gauges && !self.has_interval {
            self.all.extend(store.rows());
        }
        if self.rounds > 1 {
            self.changed.extend(store.changed_rows());
        }
        if self.rounds > 1 && has_counters {
            self.ended.extend(store.ended().map(|ended| (*ended.row(), ended.delta)));
        }
        if has_gauges {
            self.gone.extend(store.gone().map(|key| key.pid));
        }
    }
}

/// The series of one selection, while they are built.
struct Lines<'s> {
    metric: &'static TaskMetric,
    adds_up: bool,
    labelling: Labelling<'s>,
    of_tasks: TaskLines<TaskLabels>,
    /// Whether the matchers accept a name, if they are about names only.
    accepted: HashMap<Comm, bool>,
    /// The line of each living task, for gauges.
    living: HashMap<u32, usize>,
}

impl<'s> Lines<'s> {
    fn new(metric: &'static TaskMetric, adds_up: bool, labelling: Labelling<'s>) -> Self {
        let (of_tasks, accepted, living) = (TaskLines::new(), HashMap::new(), HashMap::new());
        Self { metric, adds_up, labelling, of_tasks, accepted, living }
    }

    fn take(&mut self, at_ms: i64, round: &RoundRows, replay: &mut TaskReplay<'_>) -> Result<(), String> {
        self.of_tasks.begin(at_ms);
        match self.adds_up {
            true => self.add(round, replay),
            false => self.set(round, replay),
        }
    }

    /// Adds to each series what its tasks did, those that ended among them. In the first round: what they have done before.
    fn add(&mut self, round: &RoundRows, replay: &mut TaskReplay<'_>) -> Result<(), String> {
        let metric = self.metric;
        if round.rounds == 1 {
            for row in &round.all {
                if let Some(figure) = figure(row, metric) {
                    self.grow(row, figure, false, replay)?;
                }
            }
            return Ok(());
        }
        for row in &round.changed {
            // Also one that has done nothing: it is there.
            if figure(row, metric).is_some() {
                let growth = replay.store().delta(row.key.pid, metric.figure).unwrap_or(0);
                self.grow(row, growth, true, replay)?;
            }
        }
        for (row, delta) in &round.ended {
            if figure(row, metric).is_some() {
                let growth = delta.get(metric.figure).unwrap_or(0);
                self.grow(row, growth, true, replay)?;
            }
        }
        Ok(())
    }

    fn grow(
        &mut self,
        row: &TaskRow,
        growth: u64,
        is_padded: bool,
        replay: &mut TaskReplay<'_>,
    ) -> Result<(), String> {
        if self.accepts(row, replay)? {
            let line = self.line(row, is_padded, replay)?;
            let metric = self.metric;
            self.of_tasks.add(line, growth, |sum| in_unit(sum, metric));
        }
        Ok(())
    }

    fn accepts(&mut self, row: &TaskRow, replay: &mut TaskReplay<'_>) -> Result<bool, String> {
        if !self.labelling.is_by_name_alone() {
            return self.labelling.accepts(replay, row);
        }
        if let Some(is_accepted) = self.accepted.get(&row.comm) {
            return Ok(*is_accepted);
        }
        let is_accepted = self.labelling.accepts(replay, row)?;
        self.accepted.insert(row.comm, is_accepted);
        Ok(is_accepted)
    }

    fn line(&mut self, row: &TaskRow, is_padded: bool, replay: &mut TaskReplay<'_>) -> Result<usize, String> {
        let key = self.labelling.key(row);
        if let Some(line) = self.of_tasks.known(&key) {
            return Ok(line);
        }
        let name = match self.adds_up && self.labelling.is_named_alone(&key) {
            true => None,
            false => {
                let cgroup = self.labelling.cgroup(replay, key.cgroup)?;
                Some(self.labelling.name(&key, cgroup))
            }
        };
        Ok(self.of_tasks.add_key(key, is_padded, name))
    }

    fn into_series(mut self, selection: &Selection<'_>) -> Vec<Series> {
        let largest = selection.sums.filter(|_| self.adds_up).and_then(|sums| sums.largest);
        if let Some(count) = largest {
            self.of_tasks.keep_largest(count, selection.from_ms, selection.to_ms);
        }
        self.of_tasks.into_series(|key| self.labelling.name(key, String::new()))
    }

    /// Sets the series of living tasks to what they are, and ends those of tasks that are gone.
    fn set(&mut self, round: &RoundRows, replay: &mut TaskReplay<'_>) -> Result<(), String> {
        let is_first = round.rounds == 1 || !round.has_interval;
        let gone: Vec<u32> = match is_first {
            true => self.living.keys().copied().collect(),
            false => round.gone.clone(),
        };
        for pid in gone {
            if let Some(line) = self.living.remove(&pid) {
                self.of_tasks.end(line);
            }
        }
        for row in if is_first { &round.all } else { &round.changed } {
            let Some(figure) = figure(row, self.metric) else { continue };
            if !self.accepts(row, replay)? {
                continue;
            }
            let line = self.line(row, false, replay)?;
            // By execve(2) it may have another name now.
            if let Some(other) = self.living.insert(row.key.pid, line).filter(|other| *other != line) {
                self.of_tasks.end(other);
            }
            self.of_tasks.set(line, in_unit(figure, self.metric));
        }
        Ok(())
    }
}

/// Returns a figure of a task, or `None` if it is unknown, or counted for the main thread of its process.
fn figure(row: &TaskRow, metric: &TaskMetric) -> Option<u64> {
    let is_main = row.tgid.is_none_or(|tgid| tgid == row.key.pid);
    row.figures.get(metric.figure).filter(|_| is_main || !metric.figure.is_of_process())
}

fn in_unit(figure: u64, metric: &TaskMetric) -> f64 {
    match metric.unit {
        Unit::Nanoseconds => figure as f64 / Nanos::SECOND.0 as f64,
        _ => figure as f64,
    }
}
