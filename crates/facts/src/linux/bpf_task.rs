//! The records of whit's task iterator: probe/src/bpf/tasks.bpf.c, `struct record`.

use super::task_state;
use crate::task::Accounting;
use crate::task::figure::Figure;
use crate::task::table::{Columns, Comm, TaskTable};

/// The bytes of a record.
pub const RECORD_BYTES: usize = 64 + 8 * Figure::COUNT;

type Record = [u8; RECORD_BYTES];

/// Adds the tasks of a read, in which the kernel puts whole records.
pub fn extend(table: &mut TaskTable, bytes: &[u8], page_bytes: u64) {
    let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
    let first = table.len();
    table.extend(records.iter(), &COLUMNS);
    table.scale(Figure::RESIDENT_BYTES, first, page_bytes);
    table.scale(Figure::VIRTUAL_BYTES, first, page_bytes);
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
        extend(&mut table, &[&record[..], &record[..9]].concat(), 4096);
        assert_eq!(table.len(), 1);
        let row = table.row(0);
        assert_eq!((row.key.pid, row.state, row.nice), (7, Some(b'D'), -5));
        assert_eq!((row.comm.as_str(), row.accounting), ("cat", Accounting::On));
        assert_eq!(row.figures.get(Figure::RESIDENT_BYTES), Some(3 * 4096));
        assert_eq!(row.figures.get(Figure::VIRTUAL_BYTES), None);
    }
}
