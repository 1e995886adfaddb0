//! The series of selections of tasks, while they are built.

use std::sync::Arc;

use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::figure::Figure;
use foldhash::{HashMap, HashMapExt as _};
use query::{Selection, Series};
use store::TaskNames;

use super::brief_bounds::BriefBounds;
use super::labelling::{CgroupPaths, Labelling, TaskLabels};
use super::round::Round;
use super::task_lines::TaskLines;
use super::task_selection::{BriefProcesses, TaskSelection};
use super::task_series::TaskSeries;
use crate::task_sums::{SpanGroups, SpanProcesses, TaskGroup};

/// The part of everything that one process can have done if [`BriefProcesses::Negligible`] leaves it out.
const NEGLIGIBLE_PART: f64 = 0.01;

/// The series of selections that differ in their metrics alone, while they are built: what distinguishes a task is found once for all of them.
pub(super) struct Lines<'s> {
    metrics: Vec<TaskSeries>,
    adds_up: bool,
    brief: BriefProcesses,
    labelling: Labelling<'s>,
    of_tasks: TaskLines<TaskLabels>,
    /// The names that the matchers accept or not, if they are about names only.
    accepted: HashMap<Comm, bool>,
    /// The place of each living task, for gauges.
    living: HashMap<u32, usize>,
    /// By metric.
    brief_bounds: Vec<BriefBounds>,
    /// By metric: what processes without sums of their own did together.
    brief_growth: Vec<u64>,
}

impl<'s> Lines<'s> {
    /// Returns lines without series yet, for selections that differ in their metrics alone: `selected` is one of them.
    pub(super) fn new(
        selected: &TaskSelection<'_>,
        metrics: Vec<TaskSeries>,
        labelling: Labelling<'s>,
    ) -> Self {
        Self {
            adds_up: selected.adds_up(),
            brief: selected.brief,
            labelling,
            of_tasks: TaskLines::new(metrics.len(), selected.has_one_window()),
            accepted: HashMap::new(),
            living: HashMap::new(),
            brief_bounds: metrics.iter().map(|_| BriefBounds::default()).collect(),
            brief_growth: vec![0; metrics.len()],
            metrics,
        }
    }

    /// The figures of its metrics.
    pub(super) fn figures(&self) -> impl Iterator<Item = Figure> {
        self.metrics.iter().filter_map(|metric| metric.figure())
    }

    /// How many series there are.
    pub(super) fn len(&self) -> usize {
        self.of_tasks.len()
    }

    /// Takes the round that a replay is at.
    pub(super) fn take(
        &mut self,
        at_ms: i64,
        round: &Round<'_>,
        names: &mut TaskNames<'_>,
    ) -> Result<(), String> {
        self.of_tasks.begin(at_ms);
        match self.adds_up {
            true => self.add(round, names),
            false => self.set(round, names),
        }
    }

    /// Adds to each series what its tasks did, those that ended among them. In the first round: what they have done before.
    fn add(&mut self, round: &Round<'_>, names: &mut TaskNames<'_>) -> Result<(), String> {
        if round.is_first {
            let mut rows = round.store.rows();
            return rows.try_for_each(|row| self.grow(row, false, names, |metric| metric.of_row(row)));
        }
        for row in &round.changed {
            let activity = round.store.activity(row.key.pid);
            self.grow(row, true, names, |metric| {
                let figure = metric.figure()?;
                // Also one that has done nothing: it is there.
                metric.of_row(row)?;
                Some(activity.and_then(|activity| activity.delta(figure)).unwrap_or(0))
            })?;
        }
        for ended in round.store.ended() {
            self.grow(ended.row(), true, names, |metric| {
                let figure = metric.figure()?;
                metric.of_row(ended.row())?;
                Some(ended.delta.get(figure).unwrap_or(0))
            })?;
        }
        Ok(())
    }

    /// Returns whether it asks for, or selects, single processes.
    pub(super) fn is_by_process(&self) -> bool {
        self.labelling.is_by_process()
    }

    /// Takes the sums of a span. The selection must be of a counter in a range, and not by process.
    pub(super) fn take_groups(&mut self, groups: &SpanGroups) -> Result<(), String> {
        self.begin_span(groups);
        let mut paths = groups;
        for one in &groups.sums {
            self.grow(&row(0, &one.group), true, &mut paths, |metric| one.figures.get(metric.figure()?))?;
        }
        Ok(())
    }

    /// Takes the sums of a span by process.
    pub(super) fn take_processes(
        &mut self,
        groups: &SpanGroups,
        processes: &SpanProcesses,
    ) -> Result<(), String> {
        self.begin_span(groups);
        let mut paths = groups;
        self.brief_bounds.iter_mut().for_each(|brief_bounds| brief_bounds.begin_span(processes.has_mingled));
        // One that did nothing is there, with a sum of 0; but it is not who did most.
        let least = u64::from(self.brief == BriefProcesses::Negligible);
        for one in &processes.seen {
            self.grow(&row(one.process, &one.group), true, &mut paths, |metric| {
                one.figures.get(metric.figure()?).filter(|growth| *growth >= least)
            })?;
            self.brief_bounds.iter_mut().for_each(|brief_bounds| brief_bounds.add_process(one));
        }
        self.add_brief_growth(groups, processes)?;
        for one in &processes.brief {
            if !self.labelling.may_accept(&mut paths, &row(0, &one.group), &one.processes)? {
                continue;
            }
            for (brief_bounds, metric) in self.brief_bounds.iter_mut().zip(&self.metrics) {
                if let Some(most) = metric.figure().and_then(|figure| one.most.get(figure)) {
                    brief_bounds.add_brief(one, most);
                }
            }
        }
        Ok(())
    }

    /// Adds what the groups of a span did but for their processes that have sums of their own. It is wanted where the others may be left
    /// out. Of one process by its number the sums of its group say nothing.
    fn add_brief_growth(&mut self, groups: &SpanGroups, processes: &SpanProcesses) -> Result<(), String> {
        let is_wanted = self.brief == BriefProcesses::Negligible && !processes.brief.is_empty();
        if !is_wanted || self.labelling.selects_a_process() {
            return Ok(());
        }
        let mut paths = groups;
        let all = groups.sums.iter().map(|one| (&one.group, &one.figures, true));
        let seen = processes.seen.iter().map(|one| (&one.group, &one.figures, false));
        for (group, figures, is_more) in all.chain(seen) {
            if !self.accepts(&row(0, group), &mut paths)? {
                continue;
            }
            for (sum, metric) in self.brief_growth.iter_mut().zip(&self.metrics) {
                let growth = metric.figure().and_then(|figure| figures.get(figure)).unwrap_or(0);
                *sum = if is_more { sum.saturating_add(growth) } else { sum.saturating_sub(growth) };
            }
        }
        Ok(())
    }

    fn begin_span(&mut self, groups: &SpanGroups) {
        groups.times_ms.iter().for_each(|at_ms| self.of_tasks.begin(*at_ms));
    }

    /// Adds to the series of a task, if it is selected, by what each metric grew; `None` if the task does not have it.
    fn grow(
        &mut self,
        row: &TaskRow,
        is_padded: bool,
        paths: &mut impl CgroupPaths,
        growth: impl Fn(TaskSeries) -> Option<u64>,
    ) -> Result<(), String> {
        let mut known = None;
        for index in 0..self.metrics.len() {
            let metric = self.metrics[index];
            let Some(growth) = growth(metric) else { continue };
            let place = match known {
                Some(place) => place,
                None if self.accepts(row, paths)? => *known.insert(self.place(row, paths)?),
                None => return Ok(()),
            };
            self.of_tasks.add((index, place), growth, is_padded, |sum| metric.in_unit(sum));
        }
        Ok(())
    }

    fn accepts(&mut self, row: &TaskRow, paths: &mut impl CgroupPaths) -> Result<bool, String> {
        if !self.labelling.is_by_name_alone() {
            return self.labelling.accepts(paths, row);
        }
        if let Some(is_accepted) = self.accepted.get(&row.comm) {
            return Ok(*is_accepted);
        }
        let is_accepted = self.labelling.accepts(paths, row)?;
        self.accepted.insert(row.comm, is_accepted);
        Ok(is_accepted)
    }

    /// Returns the place of a task's labels.
    fn place(&mut self, row: &TaskRow, paths: &mut impl CgroupPaths) -> Result<usize, String> {
        let key = self.labelling.key(paths, row)?;
        if let Some(place) = self.of_tasks.known(&key) {
            return Ok(place);
        }
        let name = match self.adds_up && self.labelling.is_named_alone(&key) {
            true => None,
            false => Some(self.labelling.name(&key)),
        };
        Ok(self.of_tasks.add_key(key, name))
    }

    /// Returns the series of each metric, for the selection of it; `None` where sums leave open what they are.
    pub(super) fn into_series(mut self, selections: &[&Selection<'_>]) -> Vec<Option<Vec<Series>>> {
        let times_ms = self.of_tasks.times_ms();
        let selections = selections.iter().enumerate();
        selections.map(|(metric, selection)| self.take_series(metric, selection, &times_ms)).collect()
    }

    fn take_series(
        &mut self,
        metric: usize,
        selection: &Selection<'_>,
        times_ms: &Arc<[i64]>,
    ) -> Option<Vec<Series>> {
        let sums = selection.sums.filter(|_| self.adds_up);
        let range = [selection.from_ms, selection.to_ms];
        let largest = sums.and_then(|sums| sums.largest);
        let least = largest.and_then(|count| self.of_tasks.least_of_largest(metric, count, range));
        let may_leave_out = || self.brief == BriefProcesses::Negligible && self.are_brief_negligible(metric);
        if !self.brief_bounds[metric].is_empty()
            && !may_leave_out()
            && !self.are_largest_certain(metric, least?)
        {
            return None;
        }
        let name = |key: &TaskLabels| self.labelling.name(key);
        Some(self.of_tasks.take_series(metric, least, times_ms, name))
    }

    /// Returns whether series that grew by so much at least are certain, and no others grew by as much.
    fn are_largest_certain(&self, metric: usize, least: f64) -> bool {
        let brief_bounds = &self.brief_bounds[metric];
        if brief_bounds.are_too_many() {
            return false;
        }
        let most = self.metrics[metric].in_unit(brief_bounds.most());
        let is_open = |(labels, increase): (&TaskLabels, f64)| {
            increase + most >= least
                && !labels.pid.is_some_and(|pid| brief_bounds.is_certain(pid, labels.comm))
        };
        // What is not among the series is not among the largest either.
        most < least && !self.of_tasks.increases(metric).any(is_open)
    }

    /// Returns whether none of the brief processes can have done more than a hundredth of everything.
    fn are_brief_negligible(&self, metric: usize) -> bool {
        let in_unit = |value| self.metrics[metric].in_unit(value);
        let seen: f64 = self.of_tasks.increases(metric).map(|(_, increase)| increase).sum();
        in_unit(self.brief_bounds[metric].largest())
            <= NEGLIGIBLE_PART * (seen + in_unit(self.brief_growth[metric]))
    }

    /// Sets the series of living tasks to what they are, and ends those of tasks that are gone. Of one metric: of several it would have to
    /// remember which of them a task has.
    fn set(&mut self, round: &Round<'_>, names: &mut TaskNames<'_>) -> Result<(), String> {
        if round.is_apart() {
            for place in std::mem::take(&mut self.living).into_values() {
                self.of_tasks.end((0, place));
            }
            return round.store.rows().try_for_each(|row| self.set_row(row, names));
        }
        for key in round.store.gone() {
            self.end_of(key.pid);
        }
        round.changed.iter().try_for_each(|row| self.set_row(row, names))
    }

    fn set_row(&mut self, row: &TaskRow, names: &mut TaskNames<'_>) -> Result<(), String> {
        let metric = self.metrics[0];
        let Some(value) = metric.of_row(row) else {
            self.end_of(row.key.pid);
            return Ok(());
        };
        if !self.accepts(row, names)? {
            self.end_of(row.key.pid);
            return Ok(());
        }
        let place = self.place(row, names)?;
        // By execve(2) it may have another name now.
        if let Some(other) = self.living.insert(row.key.pid, place).filter(|other| *other != place) {
            self.of_tasks.end((0, other));
        }
        self.of_tasks.set((0, place), metric.in_unit(value));
        Ok(())
    }

    /// Ends the series of a task that has no value any more, or another name.
    fn end_of(&mut self, pid: u32) {
        if let Some(place) = self.living.remove(&pid) {
            self.of_tasks.end((0, place));
        }
    }
}

/// A row with what sums know of a process.
fn row(process: u32, group: &TaskGroup) -> TaskRow {
    let mut row = TaskRow { tgid: Some(process), comm: group.comm, uid: group.uid, ..TaskRow::NONE };
    (row.key.pid, row.cgroup) = (process, group.cgroup);
    row
}
