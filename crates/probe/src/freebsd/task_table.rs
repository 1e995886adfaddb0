//! All processes in one table, from `struct kinfo_proc`: FreeBSD tells no exits and counts no delays.

use facts::rate::tasks::Ended;
use facts::sample::Absence;
use facts::task::table::{TaskRow, TaskTable};
use facts::unit::Nanos;

use super::tasks::TaskReader;
use crate::clock_now;
use crate::roots::{RootError, Roots};
pub use crate::task_reading::{Refused, Way};

/// Reads all processes, again and again.
pub struct TaskTableReader {
    reader: TaskReader,
}

/// Why no way is open.
#[derive(Debug)]
pub enum OpenError {
    /// The root.
    Root(RootError),
    /// The way that was asked for.
    Refused(Way, Refused),
}

impl TaskTableReader {
    /// Opens the one way that there is.
    ///
    /// # Errors
    /// Where another one is asked for.
    pub fn open(roots: &Roots, only: Option<Way>) -> Result<Self, OpenError> {
        match only {
            Some(way @ (Way::Bpf | Way::Taskstats)) => {
                Err(OpenError::Refused(way, Absence::Unsupported.into()))
            }
            Some(Way::Procfs) | None => {
                Ok(Self { reader: TaskReader::open(roots).map_err(OpenError::Root)? })
            }
        }
    }

    /// What comes closest: a reading without delays.
    pub fn way(&self) -> Way {
        Way::Procfs
    }

    /// Better ways, and why they are not open.
    pub fn refused(&self) -> &[(Way, Refused)] {
        &[]
    }

    /// FreeBSD has no such switch.
    pub fn accounting_on(&self) -> Option<bool> {
        None
    }

    /// Nothing is taken over from an older reading.
    pub fn forget(&mut self) {}

    /// Reads all processes into the memory of an older table; the one before this is not needed.
    ///
    /// # Errors
    /// Where they cannot be listed.
    pub fn read(&mut self, _before: &TaskTable, table: &mut TaskTable) -> Result<(), Absence> {
        table.clear();
        table.clock = clock_now();
        for task in self.reader.read_all_processes(|task| Row(task))? {
            table.push(&TaskRow::of_account(&task.0));
        }
        Ok(())
    }

    /// There is nothing to add.
    pub fn complete(&mut self, _table: &mut TaskTable, _rows: impl IntoIterator<Item = usize>) {}

    /// Always `None`: the table contains all there is.
    pub fn process_cpu(&mut self, _pid: u32) -> Option<Nanos> {
        None
    }

    /// Takes what ended since the last call.
    ///
    /// # Errors
    /// Always: exits are not told.
    pub fn receive_ended(&mut self, _ended: &mut Vec<Ended>) -> Result<(), Absence> {
        Err(Absence::Unsupported)
    }

    /// Why exits are not told.
    pub fn exits_absence(&self) -> Option<Absence> {
        Some(Absence::Unsupported)
    }

    /// None can be lost.
    pub fn lost_exits(&self) -> u64 {
        0
    }
}

/// A row that the reader makes of a process.
struct Row(facts::task::Task);

impl AsMut<facts::task::Task> for Row {
    fn as_mut(&mut self) -> &mut facts::task::Task {
        &mut self.0
    }
}
