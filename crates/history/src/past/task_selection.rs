//! Which tasks are read, and what of them.

use facts::catalog::Kind;
use facts::task::rounds::Scope;
use query::Selection;
use store::History;

use super::labelling::{Labelling, Names};
use super::past_sums::PastSums;
use super::task_series::TaskSeries;

/// The tasks of a history that a requester may see.
#[derive(Clone, Copy)]
pub(super) struct VisibleTasks<'p> {
    pub(super) history: &'p History,
    /// `None`: there are none.
    pub(super) sums: Option<&'p PastSums>,
    pub(super) names: Names<'p>,
    pub(super) scope: Scope,
}

/// A selection of one metric of tasks.
pub(super) struct TaskSelection<'s> {
    pub(super) metric: TaskSeries,
    pub(super) selection: &'s Selection<'s>,
    pub(super) brief: BriefProcesses,
}

/// How sums by process treat processes that lived for less than a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefProcesses {
    /// The work of these processes is read from the rounds where sums do not have it.
    Exact,
    /// It is left out where one of them can have done a hundredth of everything at most. One number is that of many of them in a day, so
    /// that sums alone never say what one did, and a replay of a day takes forty times as long.
    Negligible,
}

impl<'s> TaskSelection<'s> {
    /// Returns whether the increases of tasks are added: of a counter in a range.
    pub(super) fn adds_up(&self) -> bool {
        self.selection.is_range && self.metric.kind() == Kind::Counter
    }

    /// Returns whether what each sum has grown by in the whole range is wanted, and not when.
    pub(super) fn has_one_window(&self) -> bool {
        self.adds_up() && self.selection.sums.is_some_and(|sums| sums.is_of_one_window)
    }

    /// Returns whether sums can be taken instead of rounds.
    pub(super) fn is_summable(&self, tasks: VisibleTasks<'s>) -> bool {
        let labelling = self.labelling(tasks).filter(|_| self.has_one_window());
        labelling.is_some_and(|labelling| labelling.is_summable())
    }

    /// Returns whether sums of hours, which have few processes, say enough, where those of minutes do.
    pub(super) fn is_summable_by_hours(&self, tasks: VisibleTasks<'s>) -> bool {
        self.labelling(tasks).is_none_or(|labelling| {
            !labelling.is_by_process()
                || self.brief == BriefProcesses::Negligible && !labelling.selects_a_process()
        })
    }

    pub(super) fn labelling(&self, tasks: VisibleTasks<'s>) -> Option<Labelling<'s>> {
        let sums = self.selection.sums.filter(|_| self.adds_up()).map(|sums| sums.by);
        let metric = (self.metric.name(), self.metric.labels());
        Labelling::new((tasks.names, tasks.scope), self.selection.matchers, sums, metric)
    }
}
