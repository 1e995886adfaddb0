//! Rows of numbers as bytes, column by column: numbers that are alike follow one another, which deflate makes use of.

use facts::task::rounds::Table;
use facts::varint;

/// The most rows that are read; more can only be damage.
const MOST_ROWS: u64 = 1 << 17;

/// Columns that were read.
#[derive(Debug)]
pub(super) struct Columns {
    rows: usize,
    /// One that is empty has only zeros.
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

    /// Takes what [`push`] wrote; `None` if the bytes are other ones.
    pub(super) fn take(bytes: &mut &[u8], columns: usize) -> Option<Self> {
        let rows = varint::take(bytes).filter(|rows| *rows <= MOST_ROWS)?;
        let rows = usize::try_from(rows).ok()?;
        let columns = (0..columns).map(|_| take_column(bytes, rows)).collect::<Option<_>>()?;
        Some(Self { rows, columns })
    }
}

fn take_column(bytes: &mut &[u8], rows: usize) -> Option<Vec<u64>> {
    let (has_numbers, rest) = bytes.split_first()?;
    *bytes = rest;
    match has_numbers {
        0 => Some(Vec::new()),
        // A number has a byte at least.
        1 if bytes.len() >= rows => (0..rows).map(|_| varint::take(bytes)).collect(),
        _ => None,
    }
}

/// Appends the rows of a table: how many there are, then the numbers of each column, or one byte if all are 0.
pub(super) fn push(out: &mut Vec<u8>, table: &Table) {
    varint::push(out, table.rows() as u64);
    for column in table.columns() {
        let has_numbers = column.iter().any(|number| *number != 0);
        out.push(has_numbers.into());
        column.iter().filter(|_| has_numbers).for_each(|number| varint::push(out, *number));
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
            let columns = Columns::take(&mut rest, 3).unwrap();
            assert_eq!((rest, columns.rows()), (&[7][..], rows.len()));
            let read: Vec<[u64; 3]> =
                (0..columns.rows()).map(|row| [0, 1, 2].map(|column| columns.get(row, column))).collect();
            assert_eq!(read, rows);
        }
    }

    #[test]
    fn damage_is_no_table() {
        for bytes in [&[][..], &[2], &[2, 1, 5], &[2, 2, 5, 5], &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]] {
            assert!(Columns::take(&mut &*bytes, 1).is_none(), "{bytes:?}");
        }
    }
}
