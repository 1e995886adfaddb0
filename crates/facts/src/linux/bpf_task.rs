//! The records that whit's task iterators write: probe/src/bpf/tasks.bpf.c. A record for a thread (`struct record`); at the end of
//! a round what was left out (`struct end`), and the ids that tasks gave up.

use super::system_calls::Machine;
use super::task_state;
use crate::task::comm::Comm;
use crate::task::figure::{ABSENT, Figure, Figures};
use crate::task::row::TaskRow;
use crate::task::wait::{FileKind, Wait};
use crate::task::{Accounting, TaskKey};
use crate::unit::Nanos;

/// The bytes of a record before its figures.
const IDENTITY_BYTES: usize = 104;
/// The bytes of a record.
pub const RECORD_BYTES: usize = IDENTITY_BYTES + 8 * Figure::COUNT_IN_RECORD;
/// In place of an id, at the end of a round.
const END_OF_ROUND: u32 = u32::MAX;
/// The bytes of the end of a round, without the ids that follow.
const END_BYTES: usize = 32;

type Record = [u8; RECORD_BYTES];

/// The end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfRound<'a> {
    /// Threads that did not run since the last round and were left out.
    pub skipped: u32,
    /// The sum of their fingerprints: [`fingerprint`](crate::task::store::fingerprint).
    pub fingerprints: u64,
    /// CPU time of all tasks that the kernel has released since the program was loaded.
    pub ended_on_cpu: Nanos,
    /// More ids were given up than the program could keep.
    pub is_overflown: bool,
    /// The reader is in a PID namespace: then there are no ids.
    pub is_nested: bool,
    ids: &'a [u8],
}

impl EndOfRound<'_> {
    /// The ids of tasks that started to exit since the last round, and of threads that took over their main thread's.
    pub fn given_up(&self) -> impl Iterator<Item = u32> {
        self.ids.as_chunks().0.iter().map(|id| u32::from_ne_bytes(*id))
    }
}

/// One thing that a read contains.
#[allow(clippy::large_enum_variant, reason = "nearly all are threads")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// A thread.
    Thread {
        /// Its row.
        row: TaskRow,
        /// It has started to exit: it will disappear without further notice.
        is_exiting: bool,
    },
    /// The last item of a round.
    End(EndOfRound<'a>),
}

/// The items in a read of the iterator: the kernel gives whole records. A part of a record ends it.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
    machine: Machine,
    page_bytes: u64,
    since_boot: Nanos,
}

impl<'a> Items<'a> {
    /// From the bytes that were read so long after boot.
    pub fn new(bytes: &'a [u8], machine: Machine, page_bytes: u64, since_boot: Nanos) -> Self {
        Self { bytes, machine, page_bytes, since_boot }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if u32_at(self.bytes.first_chunk::<4>()?, 0) == END_OF_ROUND {
            let (end, ids) = self.bytes.split_first_chunk::<END_BYTES>()?;
            self.bytes = &[];
            let count = u32_at(end, 24) as usize;
            return Some(Item::End(EndOfRound {
                skipped: u32_at(end, 4),
                fingerprints: u64_at(end, 8),
                ended_on_cpu: Nanos(u64_at(end, 16)),
                is_overflown: u32_at(end, 28) == 1,
                is_nested: u32_at(end, 28) == 2,
                ids: ids.get(..count.saturating_mul(size_of::<u32>())).unwrap_or_default(),
            }));
        }
        let (record, rest) = self.bytes.split_first_chunk::<RECORD_BYTES>()?;
        self.bytes = rest;
        let is_exiting = u32_at(record, 36) != 0 || u32_at(record, 40) & PF_EXITING != 0;
        Some(Item::Thread { row: self.row(record), is_exiting })
    }
}

/// include/linux/sched.h.
const PF_EXITING: u32 = 4;
const PF_KTHREAD: u32 = 0x0020_0000;

impl Items<'_> {
    fn row(&self, record: &Record) -> TaskRow {
        let start = Nanos(u64_at(record, 16));
        let mut figures = Figures::NONE;
        let values = record[IDENTITY_BYTES..].as_chunks().0.iter().map(|value| u64::from_ne_bytes(*value));
        for (figure, value) in Figure::all().zip(values) {
            figures.set_raw(figure, value);
        }
        for pages in [Figure::RESIDENT_BYTES, Figure::VIRTUAL_BYTES] {
            figures.set(pages, figures.get(pages).map(|count| count.saturating_mul(self.page_bytes)));
        }
        TaskRow {
            key: TaskKey { pid: u32_at(record, 0), start },
            tgid: Some(u32_at(record, 4)),
            ppid: Some(u32_at(record, 8)),
            uid: Some(u32_at(record, 12)),
            cgroup: Some(u64_at(record, 24)).filter(|id| *id != ABSENT),
            state: Some(task_state::letter(u32_at(record, 32), u32_at(record, 36))),
            policy: Some(record[44]),
            nice: record[46].cast_signed(),
            accounting: if record[47] == 0 { Accounting::Off } else { Accounting::On },
            comm: Comm(array_at(record, 48)),
            wall: self.since_boot.saturating_sub(start),
            wait: self.wait(record),
            figures,
        }
    }

    /// Returns what a task waits for. `None` if it runs, has ended, or the kernel does not say what it waits for.
    fn wait(&self, record: &Record) -> Option<Wait> {
        let is_asleep = u32_at(record, 32) != 0 && u32_at(record, 36) == 0;
        if u32_at(record, 40) & PF_KTHREAD != 0 {
            return is_asleep.then_some(Wait::KERNEL_WORK);
        }
        let file = FileKind::numbered(record[68]);
        let arguments = [72, 80, 88, 96].map(|place| u64_at(record, place));
        let number = u32_at(record, 64).cast_signed();
        let wait = match record[69] {
            1 if is_asleep => Wait::of_call(self.machine, number, arguments, file),
            0 if is_asleep => Some(Wait::OTHER),
            _ => None,
        };
        wait.and_then(|wait| wait.in_state(task_state::letter(u32_at(record, 32), 0)))
    }
}

fn u32_at(record: &[u8], offset: usize) -> u32 {
    u32::from_ne_bytes(array_at(record, offset))
}

fn u64_at(record: &[u8], offset: usize) -> u64 {
    u64::from_ne_bytes(array_at(record, offset))
}

fn array_at<const N: usize>(record: &[u8], offset: usize) -> [u8; N] {
    record.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Cause;
    use crate::task::wait::{WaitReason, WaitTarget};

    fn threads(bytes: &[u8]) -> Vec<TaskRow> {
        let row = |item| match item {
            Item::Thread { row, .. } => Some(row),
            Item::End(_) => None,
        };
        Items::new(bytes, Machine::X86_64, 4096, Nanos(20)).filter_map(row).collect()
    }

    #[test]
    fn a_part_of_a_record_is_none() {
        let mut record = [0; RECORD_BYTES];
        record[0] = 7;
        record[RECORD_BYTES - 8..].fill(0xff);
        let rows = threads(&[&record[..], &record[..9]].concat());
        assert_eq!((rows.len(), rows[0].key.pid), (1, 7));
        assert_eq!(rows[0].figures.get(Figure::VIRTUAL_BYTES), None);
    }

    /// Every field and figure has a value of its own, by its place in `struct record`.
    #[test]
    fn every_field_of_a_record_is_read_from_its_place() {
        let mut record = Vec::new();
        record.extend([7_u32, 8, 9, 10].map(u32::to_ne_bytes).as_flattened());
        record.extend([11_u64, 12].map(u64::to_ne_bytes).as_flattened());
        // State (sleep), exit state, flags; policy, a spare byte, niceness, whether delays are counted.
        record.extend([1_u32, 0, 99].map(u32::to_ne_bytes).as_flattened());
        record.extend([3, 99, 0xf6, 1]);
        record.extend(b"a name\0\0\0\0\0\0\0\0\0\0");
        // read(2) of a pipe, native.
        record.extend(0_u32.to_ne_bytes());
        record.extend([6, 1, 99, 99]);
        record.extend([4_u64, 99, 99, 99].map(u64::to_ne_bytes).as_flattened());
        let value = |index: usize| 1_000 + index as u64;
        (0..Figure::COUNT_IN_RECORD).for_each(|index| record.extend(value(index).to_ne_bytes()));
        assert_eq!(record.len(), RECORD_BYTES);
        let row = threads(&record)[0];
        assert_eq!((row.key.pid, row.tgid, row.ppid, row.uid), (7, Some(8), Some(9), Some(10)));
        assert_eq!((row.key.start, row.wall, row.cgroup), (Nanos(11), Nanos(9), Some(12)));
        assert_eq!(
            (row.state, row.policy, row.nice, row.accounting),
            (Some(b'S'), Some(3), -10, Accounting::On)
        );
        assert_eq!(row.comm.as_str(), "a name");
        let wait = row.wait.unwrap();
        assert_eq!((wait.reason, wait.target), (WaitReason::Pipe, WaitTarget::Descriptor(4)));
        // The order of the C struct, written out once more.
        let mut order = vec![Figure::ON_CPU, Figure::USER, Figure::SYSTEM];
        order.extend(Cause::ALL.map(Figure::delay));
        order.extend(Cause::ALL.map(Figure::count));
        order.extend(Cause::ALL.map(Figure::maximum));
        order.extend([Figure::VOLUNTARY_SWITCHES, Figure::INVOLUNTARY_SWITCHES]);
        order.extend([Figure::MINOR_FAULTS, Figure::MAJOR_FAULTS]);
        order.extend([Figure::READ_BYTES, Figure::WRITTEN_BYTES]);
        order.extend([Figure::RESIDENT_BYTES, Figure::VIRTUAL_BYTES]);
        assert_eq!(order.len(), Figure::COUNT_IN_RECORD);
        for (index, figure) in order.into_iter().enumerate() {
            let pages = if figure.is_of_process() { 4096 } else { 1 };
            assert_eq!(row.figures.get(figure), Some(value(index) * pages), "{figure:?}");
        }
    }

    #[test]
    fn the_end_of_a_round_has_what_was_left_out() {
        let mut record = [0; RECORD_BYTES];
        record[40] = 4;
        let mut bytes = record.to_vec();
        bytes.extend([u32::MAX, 3].map(u32::to_ne_bytes).as_flattened());
        bytes.extend([1 << 40 | 5, 1 << 33 | 7_u64].map(u64::to_ne_bytes).as_flattened());
        // Two ids, which all fitted.
        bytes.extend([2_u32, 0, 11, 12].map(u32::to_ne_bytes).as_flattened());
        let mut items = Items::new(&bytes, Machine::X86_64, 4096, Nanos(20));
        assert!(matches!(items.next(), Some(Item::Thread { is_exiting: true, .. })));
        let Some(Item::End(end)) = items.next() else { panic!("no end") };
        assert_eq!((end.skipped, end.fingerprints, end.is_overflown), (3, 1 << 40 | 5, false));
        assert_eq!(end.ended_on_cpu, Nanos(1 << 33 | 7));
        assert_eq!(end.given_up().collect::<Vec<_>>(), [11, 12]);
        assert!(items.next().is_none());
        // Truncated input must not panic.
        for length in RECORD_BYTES..bytes.len() {
            Items::new(&bytes[..length], Machine::X86_64, 4096, Nanos(20)).for_each(drop);
        }
    }
}
