//! Without the agent nothing is remembered.

use facts::linux::taskstats::ExitInfo;
use facts::sample::Clock;
use facts::task::TaskRow;
use facts::task::store::TaskStore;
use sampling::machine::MachineSampler;
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;

use crate::failure::Failure;

/// There is none.
pub(crate) enum PastView {}

/// A process that ended.
pub(crate) struct EndedProcess {
    pub(crate) threads: Vec<TaskRow>,
    pub(crate) exit: ExitInfo,
    pub(crate) clock: Clock,
}

/// What lies in a part of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) is_recorded: bool,
    pub(crate) has_alert: bool,
}

impl PastView {
    pub(crate) fn open(_directory: &std::path::Path) -> Result<Self, Failure> {
        Err(Failure::new("this whit was built without the agent, which records"))
    }

    pub(crate) fn reopen(&mut self) -> Result<(), Failure> {
        match *self {}
    }

    pub(crate) fn extent_ns(&self) -> (i64, i64) {
        match *self {}
    }

    pub(crate) fn oldest_ns(&self) -> Result<i64, Failure> {
        match *self {}
    }

    pub(crate) fn machine_at(&self, _at_ns: i64) -> Result<MachineSampler, Failure> {
        match *self {}
    }

    pub(crate) fn show_tasks(
        &self,
        _at_ns: i64,
        _tasks: &mut TaskSampler,
        _labels: &mut TaskLabels,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub(crate) fn tasks(&self, _at_ns: i64) -> Result<(TaskStore, Clock), Failure> {
        match *self {}
    }

    pub(crate) fn ended_processes(
        &self,
        _times_ns: [i64; 2],
        _is_wanted: impl Fn(&TaskRow) -> bool,
    ) -> Result<Vec<EndedProcess>, Failure> {
        match *self {}
    }

    pub(crate) fn tick_after(&self, _at_ns: i64) -> Result<Option<i64>, Failure> {
        match *self {}
    }

    pub(crate) fn next_spike(
        &self,
        _: impl FnOnce(&str) -> String,
        _: i64,
        _: bool,
    ) -> Result<Option<i64>, Failure> {
        match *self {}
    }

    pub(crate) fn parts(&self, _count: usize) -> Result<Vec<Part>, Failure> {
        match *self {}
    }
}
