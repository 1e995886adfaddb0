//! In place of the task iterators, if whit is built without the feature `bpf`.

use facts::sample::Absence;
use facts::task::table::TaskTable;

use crate::task_reading::Refused;

/// No value of this type exists.
pub(crate) enum BpfTasks {}

impl BpfTasks {
    /// Always fails.
    pub(crate) fn open() -> Result<Self, Refused> {
        Err(Refused::new(Absence::Unsupported, "this whit was built without BPF".to_owned()))
    }

    pub(crate) fn read(&mut self, _before: &TaskTable, _table: &mut TaskTable) -> Result<(), Absence> {
        match *self {}
    }

    pub(crate) fn forget(&mut self) {
        match *self {}
    }

    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        match *self {}
    }
}
