//! The past of a whit without the agent: there is none. Its items are those of `past.rs`.

// Documented there.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};

use facts::container::ContainerNames;
use facts::linux::taskstats::ExitInfo;
use facts::sample::Clock;
use facts::task::TaskRow;
use facts::task::store::TaskStore;
use sampling::machine::MachineSampler;
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;

use crate::failure::Failure;

/// There is none.
pub enum PastView {}

/// A process that ended.
pub struct EndedProcess {
    pub threads: Vec<TaskRow>,
    pub exit: ExitInfo,
    pub clock: Clock,
}

/// The contents of a part of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub is_recorded: bool,
    pub has_alert: bool,
}

/// There is none.
pub fn directory(_named: Option<&Path>) -> Result<PathBuf, Failure> {
    Err(none())
}

fn none() -> Failure {
    Failure::new("this whit was built without the agent, which records")
}

impl PastView {
    pub fn open(_directory: &Path) -> Result<Self, Failure> {
        Err(none())
    }

    pub fn reopen(&mut self) -> Result<(), Failure> {
        match *self {}
    }

    pub fn extent_ns(&self) -> (i64, i64) {
        match *self {}
    }

    pub fn oldest_ns(&self) -> Result<i64, Failure> {
        match *self {}
    }

    pub fn machine_at(&self, _at_ns: i64) -> Result<MachineSampler, Failure> {
        match *self {}
    }

    pub fn container_names(&self) -> ContainerNames {
        match *self {}
    }

    pub fn show_tasks(
        &self,
        _at_ns: i64,
        _tasks: &mut TaskSampler,
        _labels: &mut TaskLabels,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub fn tasks(&self, _at_ns: i64) -> Result<(TaskStore, Clock), Failure> {
        match *self {}
    }

    pub fn ended_processes(
        &self,
        _times_ns: [i64; 2],
        _is_wanted: impl Fn(&TaskRow) -> bool,
    ) -> Result<Vec<EndedProcess>, Failure> {
        match *self {}
    }

    pub fn tick_after(&self, _at_ns: i64) -> Result<Option<i64>, Failure> {
        match *self {}
    }

    pub fn machine_after(&self, _at_ns: i64) -> Result<Option<i64>, Failure> {
        match *self {}
    }

    pub fn tick_until(&self, _at_ns: i64) -> Result<Option<i64>, Failure> {
        match *self {}
    }

    pub fn next_spike(
        &self,
        _: impl FnOnce(&str) -> String,
        _: i64,
        _: bool,
    ) -> Result<Option<i64>, Failure> {
        match *self {}
    }

    pub fn parts(&self, _count: usize) -> Result<Vec<Part>, Failure> {
        match *self {}
    }
}
