//! What whit's task iterators write: probe/src/bpf/tasks.bpf.c. A record for a thread (`struct record`), or for one that did
//! not run since the last round its id alone, whose highest bit is set then.

use std::ops::Range;

use super::task_state;
use crate::task::Accounting;
use crate::task::figure::Figure;
use crate::task::table::{Columns, Comm, TaskTable};
use crate::unit::Nanos;

/// The bytes of a record.
pub const RECORD_BYTES: usize = 64 + 8 * Figure::COUNT;
/// In an id that stands for a whole thread.
const DID_NOT_RUN: u32 = 1 << 31;
/// In place of an id, at the end of a round: 64 bits of nanoseconds follow, the lower half first.
const END_OF_ROUND: [u8; 4] = [0xff; 4];
const END_BYTES: usize = 12;

type Record = [u8; RECORD_BYTES];

/// The table of the last round, from which the threads that did not run are taken over.
pub struct Before<'a> {
    table: &'a TaskTable,
    /// Threads come in the order of their ids, as they did then: the one that is asked for is not before this.
    next: usize,
}

/// A thread did not run since the last round and is not in its table: the round has to be read whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Unseen;

impl<'a> Before<'a> {
    /// From the last round's table; with an empty one every thread must come whole.
    pub fn new(table: &'a TaskTable) -> Self {
        Self { table, next: 0 }
    }

    /// The rows of the ids at the head of what was read, and how many bytes these are.
    fn find(&mut self, bytes: &[u8]) -> Result<(Range<usize>, usize), Unseen> {
        let (ids, _) = bytes.as_chunks();
        let mut rows = 0..0;
        for id in ids {
            let id = u32::from_ne_bytes(*id);
            let pid = id & !DID_NOT_RUN;
            if id == pid || id.to_ne_bytes() == END_OF_ROUND {
                break;
            }
            let ahead = self.table.pids().get(self.next..).unwrap_or_default();
            let place = self.next + ahead.iter().position(|ahead| *ahead == pid).ok_or(Unseen)?;
            if rows.is_empty() {
                rows = place..place;
            } else if place != rows.end {
                // Somebody between them went: the rest in another run.
                break;
            }
            rows.end = place + 1;
            self.next = rows.end;
        }
        let length = rows.len() * size_of::<u32>();
        Ok((rows, length))
    }
}

/// Adds the tasks of a read, in which the kernel puts whole records and whole ids.
///
/// # Errors
/// Where a thread that did not run is not known from before.
pub fn extend(
    table: &mut TaskTable,
    mut bytes: &[u8],
    before: &mut Before,
    page_bytes: u64,
) -> Result<(), Unseen> {
    loop {
        if let Some((end, rest)) = bytes.split_at_checked(END_BYTES)
            && let Some(value) = end.strip_prefix(&END_OF_ROUND)
        {
            let half = |at: usize| {
                value.get(at..).and_then(|half| half.first_chunk()).copied().map(u32::from_ne_bytes)
            };
            if let (Some(low), Some(high)) = (half(0), half(4)) {
                table.ended_on_cpu = Some(Nanos(u64::from(high) << 32 | u64::from(low)));
            }
            bytes = rest;
        }
        let (rows, ids) = before.find(bytes)?;
        table.extend_from(before.table, rows);
        let (records, _) = bytes[ids..].as_chunks::<RECORD_BYTES>();
        let whole = records.iter().position(|record| u32_at(record, 0) & DID_NOT_RUN != 0);
        let records = &records[..whole.unwrap_or(records.len())];
        let first = table.len();
        table.extend(records.iter(), &COLUMNS);
        table.scale(Figure::RESIDENT_BYTES, first, page_bytes);
        table.scale(Figure::VIRTUAL_BYTES, first, page_bytes);
        let length = ids + records.as_flattened().len();
        if length == 0 {
            return Ok(());
        }
        bytes = &bytes[length..];
    }
}

const COLUMNS: Columns<Record> = Columns {
    pid: |record| u32_at(record, 0),
    tgid: |record| u32_at(record, 4),
    ppid: |record| u32_at(record, 8),
    uid: |record| u32_at(record, 12),
    start: |record| u64_at(record, 16),
    cgroup: |record| u64_at(record, 24),
    state: |record| task_state::letter(u32_at(record, 32), u32_at(record, 36)),
    // A flag word at 40 is for whoever looks at a record by hand.
    policy: |record| record[44],
    nice: |record| record[46].cast_signed(),
    accounting: |record| match record[47] {
        0 => Accounting::Off,
        _ => Accounting::On,
    },
    comm: |record| Comm(array_at(record, 48)),
    figure: |record, index| u64_at(record, 64 + 8 * index),
};

fn u32_at(record: &Record, offset: usize) -> u32 {
    u32::from_ne_bytes(array_at(record, offset))
}

fn u64_at(record: &Record, offset: usize) -> u64 {
    u64::from_ne_bytes(array_at(record, offset))
}

fn array_at<const N: usize>(record: &Record, offset: usize) -> [u8; N] {
    record.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::table::TaskRow;
    use crate::task::{Cause, TaskKey};

    #[test]
    fn a_record_fills_a_row_and_a_part_of_one_none() {
        let mut record = [0; RECORD_BYTES];
        record[0] = 7;
        record[32] = 2;
        record[46] = 0xfb;
        record[47] = 1;
        record[48..51].copy_from_slice(b"cat");
        record[RECORD_BYTES - 16] = 3;
        record[RECORD_BYTES - 8..].fill(0xff);
        let mut table = TaskTable::default();
        let none = TaskTable::default();
        let bytes = [&record[..], &record[..9]].concat();
        assert_eq!(extend(&mut table, &bytes, &mut Before::new(&none), 4096), Ok(()));
        assert_eq!(table.len(), 1);
        let row = table.row(0);
        assert_eq!((row.key.pid, row.state, row.nice), (7, Some(b'D'), -5));
        assert_eq!((row.comm.as_str(), row.accounting), ("cat", Accounting::On));
        assert_eq!(row.figures.get(Figure::RESIDENT_BYTES), Some(3 * 4096));
        assert_eq!(row.figures.get(Figure::VIRTUAL_BYTES), None);
    }

    /// Every field and figure has a value of its own, by its place in `struct record`.
    #[test]
    fn every_field_of_a_record_is_read_from_its_place() {
        let mut record = Vec::new();
        record.extend([7_u32, 8, 9, 10].map(u32::to_ne_bytes).as_flattened());
        record.extend([11_u64, 12].map(u64::to_ne_bytes).as_flattened());
        // State (disk sleep), exit state, flags; policy, a spare byte, niceness, whether delays are counted.
        record.extend([2_u32, 0, 99].map(u32::to_ne_bytes).as_flattened());
        record.extend([3, 99, 0xf6, 1]);
        record.extend(b"a name\0\0\0\0\0\0\0\0\0\0");
        let value = |index: usize| 1_000 + index as u64;
        (0..Figure::COUNT).for_each(|index| record.extend(value(index).to_ne_bytes()));
        assert_eq!(record.len(), RECORD_BYTES);
        let (mut table, none) = (TaskTable::default(), TaskTable::default());
        extend(&mut table, &record, &mut Before::new(&none), 4096).unwrap();
        let row = table.row(0);
        assert_eq!((row.key.pid, row.tgid, row.ppid, row.uid), (7, Some(8), Some(9), Some(10)));
        assert_eq!((row.key.start, row.cgroup, row.state), (Nanos(11), Some(12), Some(b'D')));
        assert_eq!((row.policy, row.nice, row.accounting), (Some(3), -10, Accounting::On));
        assert_eq!(row.comm.as_str(), "a name");
        // The order of the C struct, written out once more.
        let mut order = vec![Figure::ON_CPU, Figure::USER, Figure::SYSTEM];
        order.extend(Cause::ALL.map(Figure::delay));
        order.extend(Cause::ALL.map(Figure::count));
        order.extend(Cause::ALL.map(Figure::maximum));
        order.extend([Figure::VOLUNTARY_SWITCHES, Figure::INVOLUNTARY_SWITCHES]);
        order.extend([Figure::MINOR_FAULTS, Figure::MAJOR_FAULTS]);
        order.extend([Figure::READ_BYTES, Figure::WRITTEN_BYTES]);
        order.extend([Figure::RESIDENT_BYTES, Figure::VIRTUAL_BYTES]);
        assert_eq!(order.len(), Figure::COUNT);
        for (index, figure) in order.into_iter().enumerate() {
            let pages = if figure.is_of_process() { 4096 } else { 1 };
            assert_eq!(row.figures.get(figure), Some(value(index) * pages), "{figure:?}");
        }
    }

    #[test]
    fn who_did_not_run_is_taken_over_and_who_went_is_left_out() {
        let mut before = TaskTable::default();
        for pid in [1, 2, 4, 5, 9] {
            before
                .push(&TaskRow { key: TaskKey { pid, start: Nanos(u64::from(pid)) }, ..TaskRow::default() });
        }
        let id = |pid: u32| (pid | DID_NOT_RUN).to_ne_bytes();
        let mut record = [0; RECORD_BYTES];
        record[0] = 3;
        let (mut table, mut taken) = (TaskTable::default(), Before::new(&before));
        // 3 is new, 4 went; the kernel gives what it has in several reads.
        let bytes = [&id(1)[..], &id(2), &record, &id(5)].concat();
        assert_eq!(extend(&mut table, &bytes, &mut taken, 4096), Ok(()));
        let end = [&id(9)[..], &[0xff; 4], &7_u32.to_ne_bytes(), &1_u32.to_ne_bytes()].concat();
        assert_eq!(extend(&mut table, &end, &mut taken, 4096), Ok(()));
        assert_eq!(table.ended_on_cpu, Some(Nanos(1 << 32 | 7)));
        assert_eq!(table.pids(), [1, 2, 3, 5, 9]);
        assert_eq!((table.key(3).start, table.key(2).start), (Nanos(5), Nanos(0)));
        assert_eq!(extend(&mut table, &id(10), &mut taken, 4096), Err(Unseen));
    }
}
