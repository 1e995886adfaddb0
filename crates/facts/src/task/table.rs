//! All tasks of a machine at one instant: columns, not rows.
//!
//! A view reads a few figures of every task, and a subtraction goes through one figure of all: each lies together.

use std::collections::HashMap;
use std::ops::Range;

pub use super::comm::Comm;
use super::figure::{ABSENT, Figure, Figures};
pub use super::row::TaskRow;
use super::{Accounting, TaskKey};
use crate::sample::Clock;
use crate::unit::Nanos;

/// What stands for an id that is not known: the kernel gives none of that number.
const NO_ID: u32 = u32::MAX;

/// All tasks at one instant, or what all did between two.
#[derive(Clone, Debug)]
pub struct TaskTable {
    /// When it was read.
    pub clock: Clock,
    /// Time on a CPU of all tasks that ended and are forgotten since the reader was opened, each its whole life; none where
    /// nobody counts it.
    pub ended_on_cpu: Option<Nanos>,
    /// By process: how long it was on a CPU with all threads that it ever had; empty where exits are told one by one.
    pub process_cpu: HashMap<u32, Nanos>,
    pid: Vec<u32>,
    start: Vec<u64>,
    tgid: Vec<u32>,
    ppid: Vec<u32>,
    uid: Vec<u32>,
    comm: Vec<Comm>,
    state: Vec<u8>,
    nice: Vec<i8>,
    policy: Vec<u8>,
    cgroup: Vec<u64>,
    accounting: Vec<Accounting>,
    figures: [Vec<u64>; Figure::COUNT],
}

impl Default for TaskTable {
    fn default() -> Self {
        Self {
            clock: Clock::default(),
            ended_on_cpu: None,
            process_cpu: HashMap::new(),
            pid: Vec::new(),
            start: Vec::new(),
            tgid: Vec::new(),
            ppid: Vec::new(),
            uid: Vec::new(),
            comm: Vec::new(),
            state: Vec::new(),
            nice: Vec::new(),
            policy: Vec::new(),
            cgroup: Vec::new(),
            accounting: Vec::new(),
            figures: [const { Vec::new() }; Figure::COUNT],
        }
    }
}

/// What a column keeps where the kernel does not say.
const NO_BYTE: u8 = u8::MAX;

impl TaskTable {
    /// Rows.
    pub fn len(&self) -> usize {
        self.pid.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.pid.is_empty()
    }

    /// Bytes that its columns have reserved.
    pub fn reserved_bytes(&self) -> usize {
        fn of<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        let identities = [&self.pid, &self.tgid, &self.ppid, &self.uid].map(of).into_iter().sum::<usize>()
            + [of(&self.start), of(&self.cgroup), of(&self.comm), of(&self.accounting)]
                .into_iter()
                .sum::<usize>()
            + [of(&self.state), of(&self.nice), of(&self.policy)].into_iter().sum::<usize>();
        identities + self.figures.iter().map(of).sum::<usize>()
    }

    /// Forgets all rows and keeps their memory.
    pub fn clear(&mut self) {
        self.process_cpu.clear();
        self.pid.clear();
        self.start.clear();
        self.tgid.clear();
        self.ppid.clear();
        self.uid.clear();
        self.comm.clear();
        self.state.clear();
        self.nice.clear();
        self.policy.clear();
        self.cgroup.clear();
        self.accounting.clear();
        self.figures.iter_mut().for_each(Vec::clear);
    }

    /// Adds a row.
    pub fn push(&mut self, row: &TaskRow) {
        self.pid.push(row.key.pid);
        self.start.push(row.key.start.0);
        self.tgid.push(row.tgid.unwrap_or(NO_ID));
        self.ppid.push(row.ppid.unwrap_or(NO_ID));
        self.uid.push(row.uid.unwrap_or(NO_ID));
        self.comm.push(row.comm);
        self.state.push(row.state.unwrap_or(NO_BYTE));
        self.nice.push(row.nice);
        self.policy.push(row.policy.unwrap_or(NO_BYTE));
        self.cgroup.push(row.cgroup.unwrap_or(ABSENT));
        self.accounting.push(row.accounting);
        for figure in Figure::all() {
            self.figures[figure.index()].push(row.figures.raw(figure));
        }
    }

    /// Adds many rows at once, column by column; each closure gives a record's value as the column keeps it.
    pub(crate) fn extend<'a, R: 'a + ?Sized>(
        &mut self,
        records: impl ExactSizeIterator<Item = &'a R> + Clone,
        columns: &Columns<R>,
    ) {
        let number = |column: &mut Vec<u32>, value: fn(&R) -> u32| column.extend(records.clone().map(value));
        number(&mut self.pid, columns.pid);
        number(&mut self.tgid, columns.tgid);
        number(&mut self.ppid, columns.ppid);
        number(&mut self.uid, columns.uid);
        self.start.extend(records.clone().map(columns.start));
        self.comm.extend(records.clone().map(columns.comm));
        self.state.extend(records.clone().map(columns.state));
        self.nice.extend(records.clone().map(columns.nice));
        self.policy.extend(records.clone().map(columns.policy));
        self.cgroup.extend(records.clone().map(columns.cgroup));
        self.accounting.extend(records.clone().map(columns.accounting));
        for (index, column) in self.figures.iter_mut().enumerate() {
            column.extend(records.clone().map(|record| (columns.figure)(record, index)));
        }
    }

    /// Multiplies a figure of the rows from `first` on, where it is known: pages to bytes.
    pub(crate) fn scale(&mut self, figure: Figure, first: usize, factor: u64) {
        for value in &mut self.figures[figure.index()][first..] {
            *value = if *value == ABSENT { ABSENT } else { value.saturating_mul(factor) };
        }
    }

    /// The id of a row's thread.
    pub fn pid(&self, index: usize) -> u32 {
        self.pid[index]
    }

    /// The ids of all threads.
    pub fn pids(&self) -> &[u32] {
        &self.pid
    }

    /// The key of a row.
    pub fn key(&self, index: usize) -> TaskKey {
        TaskKey { pid: self.pid[index], start: Nanos(self.start[index]) }
    }

    /// The process of a row; its own id where the source does not say.
    pub fn tgid(&self, index: usize) -> u32 {
        if self.tgid[index] == NO_ID { self.pid[index] } else { self.tgid[index] }
    }

    /// The parent process.
    pub fn ppid(&self, index: usize) -> Option<u32> {
        Some(self.ppid[index]).filter(|id| *id != NO_ID)
    }

    /// The user.
    pub fn uid(&self, index: usize) -> Option<u32> {
        Some(self.uid[index]).filter(|id| *id != NO_ID)
    }

    /// The name.
    pub fn comm(&self, index: usize) -> Comm {
        self.comm[index]
    }

    /// The state's letter.
    pub fn state(&self, index: usize) -> Option<u8> {
        Some(self.state[index]).filter(|state| *state != NO_BYTE)
    }

    /// -20 to 19.
    pub fn nice(&self, index: usize) -> i8 {
        self.nice[index]
    }

    /// Whether delays other than the run queue's are counted.
    pub fn accounting(&self, index: usize) -> Accounting {
        self.accounting[index]
    }

    /// The cgroup's id.
    pub fn cgroup(&self, index: usize) -> Option<u64> {
        Some(self.cgroup[index]).filter(|id| *id != ABSENT)
    }

    /// A row's figure.
    pub fn get(&self, index: usize, figure: Figure) -> Option<u64> {
        Some(self.figures[figure.index()][index]).filter(|value| *value != ABSENT)
    }

    /// A figure of all rows, [`ABSENT`] where it is not known.
    pub(crate) fn column(&self, figure: Figure) -> &[u64] {
        &self.figures[figure.index()]
    }

    /// Sets what the source did not say and a look at the one task did.
    pub fn set(&mut self, index: usize, figure: Figure, value: Option<u64>) {
        self.figures[figure.index()][index] = value.unwrap_or(ABSENT);
    }

    /// Sets a start that is known better, or as it was told before.
    pub fn set_start(&mut self, index: usize, start: Nanos) {
        self.start[index] = start.0;
    }

    /// Sets a cgroup's id that was found elsewhere.
    pub fn set_cgroup(&mut self, index: usize, id: u64) {
        self.cgroup[index] = id;
    }

    /// The same for the state.
    pub fn set_state(&mut self, index: usize, state: u8) {
        self.state[index] = state;
    }

    /// Adds rows of another table.
    pub(crate) fn extend_from(&mut self, other: &Self, rows: Range<usize>) {
        for (column, from) in self.figures.iter_mut().zip(&other.figures) {
            column.extend_from_slice(&from[rows.clone()]);
        }
        self.pid.extend_from_slice(&other.pid[rows.clone()]);
        self.start.extend_from_slice(&other.start[rows.clone()]);
        self.tgid.extend_from_slice(&other.tgid[rows.clone()]);
        self.ppid.extend_from_slice(&other.ppid[rows.clone()]);
        self.uid.extend_from_slice(&other.uid[rows.clone()]);
        self.comm.extend_from_slice(&other.comm[rows.clone()]);
        self.state.extend_from_slice(&other.state[rows.clone()]);
        self.nice.extend_from_slice(&other.nice[rows.clone()]);
        self.policy.extend_from_slice(&other.policy[rows.clone()]);
        self.cgroup.extend_from_slice(&other.cgroup[rows.clone()]);
        self.accounting.extend_from_slice(&other.accounting[rows]);
    }

    /// A whole row.
    pub fn row(&self, index: usize) -> TaskRow {
        let mut figures = Figures::NONE;
        for figure in Figure::all() {
            figures.set_raw(figure, self.figures[figure.index()][index]);
        }
        TaskRow {
            key: self.key(index),
            tgid: Some(self.tgid[index]).filter(|id| *id != NO_ID),
            ppid: self.ppid(index),
            uid: self.uid(index),
            comm: self.comm[index],
            state: self.state(index),
            nice: self.nice[index],
            policy: Some(self.policy[index]).filter(|policy| *policy != NO_BYTE),
            cgroup: self.cgroup(index),
            accounting: self.accounting[index],
            figures,
        }
    }
}

/// How a kind of record fills the columns.
pub(crate) struct Columns<R: ?Sized> {
    pub(crate) pid: fn(&R) -> u32,
    pub(crate) tgid: fn(&R) -> u32,
    pub(crate) ppid: fn(&R) -> u32,
    pub(crate) uid: fn(&R) -> u32,
    pub(crate) start: fn(&R) -> u64,
    pub(crate) comm: fn(&R) -> Comm,
    pub(crate) state: fn(&R) -> u8,
    pub(crate) nice: fn(&R) -> i8,
    pub(crate) policy: fn(&R) -> u8,
    pub(crate) cgroup: fn(&R) -> u64,
    pub(crate) accounting: fn(&R) -> Accounting,
    pub(crate) figure: fn(&R, usize) -> u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_out_as_it_went_in() {
        let mut row = TaskRow {
            key: TaskKey { pid: 7, start: Nanos(5) },
            tgid: Some(6),
            comm: Comm::new(b"a name that is too long"),
            state: Some(b'S'),
            nice: -3,
            ..TaskRow::default()
        };
        row.figures.set(Figure::READ_BYTES, Some(9));
        let mut table = TaskTable::default();
        table.push(&TaskRow::default());
        table.push(&row);
        assert_eq!((table.len(), table.row(1)), (2, row));
        assert_eq!((table.comm(1).as_str(), table.ppid(1)), ("a name that is ", None));
        assert_eq!(table.tgid(0), 0);
    }
}
