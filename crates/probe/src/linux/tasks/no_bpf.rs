//! In place of the task iterators, if whit is built without the feature `bpf`.

use facts::sample::Absence;
use facts::task::store::TaskStore;

use crate::task_source::Refused;

/// No value of this type exists.
pub(crate) enum BpfTasks {}

impl BpfTasks {
    /// Always fails.
    pub(crate) fn open() -> Result<Self, Refused> {
        Err(Refused::new(Absence::Unsupported, "this whit was built without BPF".to_owned()))
    }

    pub(super) fn read(
        &mut self,
        _store: &mut TaskStore,
        _left_out: &[u32],
        _accounting_on: Option<bool>,
    ) -> Result<Round, Absence> {
        match *self {}
    }

    pub(crate) fn forget(&mut self) {
        match *self {}
    }

    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        match *self {}
    }
}

/// The result of reading a round.
pub(super) struct Round {
    pub(super) is_whole: bool,
    pub(super) threads: usize,
}
