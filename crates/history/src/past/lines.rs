//! The series of one selection of tasks, while they are built.

use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::figure::Figure;
use foldhash::{HashMap, HashMapExt as _};
use query::{Selection, Series};
use store::TaskNames;

use super::doubts::Doubts;
use super::labelling::{CgroupPaths, Labelling, TaskLabels};
use super::round::Round;
use super::task_lines::TaskLines;
use super::task_selection::{BriefProcesses, TaskSelection};
use super::task_series::TaskSeries;
use crate::task_sums::{MinuteGroups, MinuteProcesses, TaskGroup};

/// The part of everything that [`BriefProcesses::Negligible`] leaves out.
const NEGLIGIBLE_PART: f64 = 0.01;

/// The series of one selection, while they are built.
pub(super) struct Lines<'s> {
    metric: TaskSeries,
    adds_up: bool,
    brief: BriefProcesses,
    labelling: Labelling<'s>,
    of_tasks: TaskLines<TaskLabels>,
    /// The names that the matchers accept or not, if they are about names only.
    accepted: HashMap<Comm, bool>,
    /// The line of each living task, for gauges.
    living: HashMap<u32, usize>,
    doubts: Doubts,
}

impl<'s> Lines<'s> {
    pub(super) fn new(selected: &TaskSelection<'_>, labelling: Labelling<'s>) -> Self {
        Self {
            metric: selected.metric,
            adds_up: selected.adds_up(),
            brief: selected.brief,
            labelling,
            of_tasks: TaskLines::new(selected.has_one_window()),
            accepted: HashMap::new(),
            living: HashMap::new(),
            doubts: Doubts::default(),
        }
    }

    /// The figure of its metric; `None` if it has none.
    pub(super) fn figure(&self) -> Option<Figure> {
        self.metric.figure()
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
        let metric = self.metric;
        if round.is_first {
            for row in round.store.rows() {
                if let Some(value) = metric.of_row(row) {
                    self.grow(row, value, false, names)?;
                }
            }
            return Ok(());
        }
        let Some(figure) = metric.figure() else { return Ok(()) };
        for row in &round.changed {
            // Also one that has done nothing: it is there.
            if metric.of_row(row).is_some() {
                let growth = round.store.delta(row.key.pid, figure).unwrap_or(0);
                self.grow(row, growth, true, names)?;
            }
        }
        for ended in round.store.ended() {
            if metric.of_row(ended.row()).is_some() {
                let growth = ended.delta.get(figure).unwrap_or(0);
                self.grow(ended.row(), growth, true, names)?;
            }
        }
        Ok(())
    }

    /// Returns whether it asks for, or selects, single processes.
    pub(super) fn is_by_process(&self) -> bool {
        self.labelling.is_by_process()
    }

    /// Takes the sums of a minute. The selection must be of a counter in a range, and not by process.
    pub(super) fn take_groups(&mut self, minute: &MinuteGroups) -> Result<(), String> {
        self.begin_minute(minute);
        let Some(figure) = self.metric.figure() else { return Ok(()) };
        let mut paths = minute;
        for one in &minute.sums {
            if let Some(growth) = one.figures.get(figure) {
                self.grow(&row(0, &one.group), growth, true, &mut paths)?;
            }
        }
        Ok(())
    }

    /// Takes the sums of a minute by process.
    pub(super) fn take_processes(
        &mut self,
        minute: &MinuteGroups,
        processes: &MinuteProcesses,
    ) -> Result<(), String> {
        self.begin_minute(minute);
        let Some(figure) = self.metric.figure() else { return Ok(()) };
        let mut paths = minute;
        self.doubts.begin_minute(processes.has_mingled);
        // One that did nothing is there, with a sum of 0; but it is not who did most.
        let least = u64::from(self.brief == BriefProcesses::Negligible);
        for one in &processes.seen {
            if let Some(growth) = one.figures.get(figure).filter(|growth| *growth >= least) {
                self.grow(&row(one.process, &one.group), growth, true, &mut paths)?;
            }
            self.doubts.add_process(one);
        }
        for one in &processes.brief {
            let Some(most) = one.most.get(figure) else { continue };
            if self.labelling.may_accept(&mut paths, &row(0, &one.group), &one.processes)? {
                self.doubts.add_brief(one, most);
            }
        }
        Ok(())
    }

    fn begin_minute(&mut self, minute: &MinuteGroups) {
        minute.times_ms.iter().for_each(|at_ms| self.of_tasks.begin(*at_ms));
    }

    fn grow(
        &mut self,
        row: &TaskRow,
        growth: u64,
        is_padded: bool,
        paths: &mut impl CgroupPaths,
    ) -> Result<(), String> {
        if self.accepts(row, paths)? {
            let line = self.line(row, is_padded, paths)?;
            let metric = self.metric;
            self.of_tasks.add(line, growth, |sum| metric.in_unit(sum));
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

    fn line(
        &mut self,
        row: &TaskRow,
        is_padded: bool,
        paths: &mut impl CgroupPaths,
    ) -> Result<usize, String> {
        let key = self.labelling.key(paths, row)?;
        if let Some(line) = self.of_tasks.known(&key) {
            return Ok(line);
        }
        let name = match self.adds_up && self.labelling.is_named_alone(&key) {
            true => None,
            false => Some(self.labelling.name(&key)),
        };
        Ok(self.of_tasks.add_key(key, is_padded, name))
    }

    /// Returns the series; `None` if sums of minutes leave open what they are.
    pub(super) fn into_series(mut self, selection: &Selection<'_>) -> Option<Vec<Series>> {
        let sums = selection.sums.filter(|_| self.adds_up);
        let largest = sums.and_then(|sums| sums.largest);
        let least = largest
            .and_then(|count| self.of_tasks.least_of_largest(count, selection.from_ms, selection.to_ms));
        let may_leave_out = self.brief == BriefProcesses::Negligible && self.are_brief_negligible();
        if !self.doubts.is_empty() && !may_leave_out && !self.are_largest_certain(least?) {
            return None;
        }
        if let Some(least) = least {
            self.of_tasks.keep_from(least);
        }
        Some(self.of_tasks.into_series(|key| self.labelling.name(key)))
    }

    /// Returns whether series that grew by so much at least are certain, and no others grew by as much.
    fn are_largest_certain(&self, least: f64) -> bool {
        if self.doubts.are_too_many() {
            return false;
        }
        let most = self.metric.in_unit(self.doubts.most());
        let is_open = |(labels, increase): (&TaskLabels, f64)| {
            increase + most >= least
                && !labels.pid.is_some_and(|pid| self.doubts.is_certain(pid, labels.comm))
        };
        // What is not among the series is not among the largest either.
        most < least && !self.of_tasks.increases().any(is_open)
    }

    /// Returns whether none of the brief processes can have done more than a hundredth of everything.
    fn are_brief_negligible(&self) -> bool {
        let all: f64 = self.of_tasks.increases().map(|(_, increase)| increase).sum();
        self.metric.in_unit(self.doubts.largest()) <= NEGLIGIBLE_PART * all
    }

    /// Sets the series of living tasks to what they are, and ends those of tasks that are gone.
    fn set(&mut self, round: &Round<'_>, names: &mut TaskNames<'_>) -> Result<(), String> {
        if round.is_apart() {
            for line in std::mem::take(&mut self.living).into_values() {
                self.of_tasks.end(line);
            }
            return round.store.rows().try_for_each(|row| self.set_row(row, names));
        }
        for key in round.store.gone() {
            self.end_of(key.pid);
        }
        round.changed.iter().try_for_each(|row| self.set_row(row, names))
    }

    fn set_row(&mut self, row: &TaskRow, names: &mut TaskNames<'_>) -> Result<(), String> {
        let Some(value) = self.metric.of_row(row) else {
            self.end_of(row.key.pid);
            return Ok(());
        };
        if !self.accepts(row, names)? {
            self.end_of(row.key.pid);
            return Ok(());
        }
        let line = self.line(row, false, names)?;
        // By execve(2) it may have another name now.
        if let Some(other) = self.living.insert(row.key.pid, line).filter(|other| *other != line) {
            self.of_tasks.end(other);
        }
        self.of_tasks.set(line, self.metric.in_unit(value));
        Ok(())
    }

    /// Ends the series of a task that has no value any more, or another name.
    fn end_of(&mut self, pid: u32) {
        if let Some(line) = self.living.remove(&pid) {
            self.of_tasks.end(line);
        }
    }
}

/// A row with what sums know of a process.
fn row(process: u32, group: &TaskGroup) -> TaskRow {
    let mut row = TaskRow { tgid: Some(process), comm: group.comm, uid: group.uid, ..TaskRow::NONE };
    (row.key.pid, row.cgroup) = (process, group.cgroup);
    row
}
