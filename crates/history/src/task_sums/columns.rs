//! Rows of numbers as bytes, column by column: numbers that are alike follow one another, which deflate makes use of.

use facts::task::rounds::Table;
use facts::varint;

/// The most rows that are read; more can only be damage.
const MAX_ROWS: u64 = 1 << 17;

/// Columns that were read.
#[derive(Debug)]
pub(super) struct Columns {
    rows: usize,
    /// One that is empty has only zeros, or is not wanted.
    columns: Vec<Vec<u64>>,
}

impl Columns {
    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number in a row and a column.
    pub(super) fn get(&self, row: usize, column: usize) -> u64 {
        self.columns.get(column).and_then(|column| column.get(row)).copied().unwrap_or(0)
    }

    /// Takes what [`push`] wrote; `None` if the bytes are other ones. Columns that are not wanted are skipped.
    pub(super) fn take(bytes: &mut &[u8], columns: usize, is_wanted: impl Fn(usize) -> bool) -> Option<Self> {
        let rows = varint::take(bytes).filter(|rows| *rows <= MAX_ROWS)?;
        let rows = usize::try_from(rows).ok()?;
        let columns =
            (0..columns).map(|column| take_column(bytes, rows, is_wanted(column))).collect::<Option<_>>()?;
        Some(Self { rows, columns })
    }
}

fn take_column(bytes: &mut &[u8], rows: usize, is_wanted: bool) -> Option<Vec<u64>> {
    let length = usize::try_from(varint::take(bytes)?).ok()?;
    let (mut column, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    if column.is_empty() || !is_wanted {
        return Some(Vec::new());
    }
    // A number has a byte at least.
    if column.len() < rows {
        return None;
    }
    let numbers = (0..rows).map(|_| varint::take(&mut column)).collect::<Option<Vec<u64>>>()?;
    column.is_empty().then_some(numbers)
}

/// Appends the rows of a table: how many there are, then of each column its length in bytes and its numbers, none if all are 0.
pub(super) fn push(out: &mut Vec<u8>, table: &Table) {
    varint::push(out, table.rows() as u64);
    for column in table.columns() {
        let mut numbers = Vec::new();
        if column.iter().any(|number| *number != 0) {
            column.iter().for_each(|number| varint::push(&mut numbers, *number));
        }
        varint::push(out, numbers.len() as u64);
        out.extend(numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_decoded() {
        for rows in [&[][..], &[[0, 0, 0]], &[[1, 0, u64::MAX], [128, 0, 0], [0, 0, 1 << 63]]] {
            let mut table = Table::new(3);
            rows.iter().for_each(|row| table.push(row));
            let mut bytes = Vec::new();
            push(&mut bytes, &table);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            let columns = Columns::take(&mut rest, 3, |_| true).unwrap();
            assert_eq!((rest, columns.rows()), (&[7][..], rows.len()));
            let some = Columns::take(&mut bytes.as_slice(), 3, |column| column != 0).unwrap();
            assert!((0..rows.len()).all(|row| some.get(row, 0) == 0 && some.get(row, 2) == rows[row][2]));
            let read: Vec<[u64; 3]> =
                (0..columns.rows()).map(|row| [0, 1, 2].map(|column| columns.get(row, column))).collect();
            assert_eq!(read, rows);
        }
    }

    #[test]
    fn damage_is_no_table() {
        for bytes in
            [&[][..], &[2], &[2, 2, 5], &[2, 1, 5], &[2, 3, 5, 5, 5], &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]]
        {
            assert!(Columns::take(&mut &*bytes, 1, |_| true).is_none(), "{bytes:?}");
        }
    }
}
