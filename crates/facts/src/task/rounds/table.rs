//! Rows of numbers, by columns and as bytes.

use crate::varint;

/// Rows of the same numbers, by columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Vec<u64>>,
    rows: usize,
}

impl Table {
    /// The most rows of a table that is read; more can only be damage.
    pub const MAX_ROWS: u64 = 1 << 24;
    /// The most columns.
    pub const MAX_COLUMNS: u64 = 64;

    /// No rows of so many columns, at most [`Self::MAX_COLUMNS`].
    pub fn new(columns: usize) -> Self {
        Self { columns: vec![Vec::new(); columns], rows: 0 }
    }

    /// From columns, all of which have so many rows.
    pub fn from_columns(columns: Vec<Vec<u64>>, rows: usize) -> Self {
        Self { columns, rows }
    }

    /// The columns, and how many rows each has.
    pub fn into_columns(self) -> (Vec<Vec<u64>>, usize) {
        (self.columns, self.rows)
    }

    /// The columns.
    pub fn columns(&self) -> &[Vec<u64>] {
        &self.columns
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns its size in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.columns.iter().map(|column| column.capacity() * size_of::<u64>()).sum()
    }

    /// Adds a row, of as many numbers as there are columns.
    pub fn push(&mut self, row: &[u64]) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(*number));
        self.rows += 1;
    }

    /// Adds the rows of another table with as many columns.
    pub fn append(&mut self, other: &Self) {
        self.columns.iter_mut().zip(&other.columns).for_each(|(column, more)| column.extend(more));
        self.rows += other.rows;
    }

    /// A number; 0 in a column that does not exist.
    pub fn get(&self, row: usize, column: usize) -> u64 {
        self.columns.get(column).and_then(|column| column.get(row)).copied().unwrap_or(0)
    }

    /// The numbers of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = u64> {
        self.columns.iter().map(move |column| column[row])
    }

    /// Appends the rows one by one, as a journal needs them: of each, which numbers are not 0, and those.
    pub fn push_rows(&self, out: &mut Vec<u8>) {
        varint::push(out, self.rows as u64);
        for row in 0..self.rows {
            let numbers = || self.row(row).enumerate().filter(|(_, number)| *number != 0);
            varint::push(out, numbers().fold(0_u64, |present, (column, _)| present | 1 << column));
            numbers().for_each(|(_, number)| varint::push(out, varint::zigzag(number.cast_signed())));
        }
    }

    /// Takes what [`Self::push_rows`] wrote; `None` if the bytes are other ones. Columns behind those that are known are of a newer program, and
    /// left out.
    pub fn take_rows(bytes: &mut &[u8], columns: usize) -> Option<Self> {
        let rows = varint::take(bytes).filter(|rows| *rows <= Self::MAX_ROWS)?;
        let mut table = Self::new(columns);
        let mut row = vec![0; columns];
        for _ in 0..rows {
            let present = varint::take(bytes)?;
            for (column, number) in row.iter_mut().enumerate() {
                *number = 0;
                if present >> column & 1 == 1 {
                    *number = varint::unzigzag(varint::take(bytes)?).cast_unsigned();
                }
            }
            let newer = present.checked_shr(columns as u32).unwrap_or(0);
            for _ in 0..newer.count_ones() {
                varint::take(bytes)?;
            }
            table.push(&row);
        }
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tables_are_decoded(rows: Vec<[u64; 5]>) {
            let mut table = Table::new(5);
            rows.iter().for_each(|row| table.push(row));
            let mut bytes = Vec::new();
            table.push_rows(&mut bytes);
            prop_assert_eq!(&Table::take_rows(&mut bytes.as_slice(), 5).unwrap(), &table);
        }

        #[test]
        fn columns_of_a_newer_program_are_left_out(rows: Vec<[u64; 5]>) {
            let (mut newer, mut known) = (Table::new(5), Table::new(3));
            rows.iter().for_each(|row| newer.push(row));
            rows.iter().for_each(|row| known.push(&row[..3]));
            let mut bytes = Vec::new();
            newer.push_rows(&mut bytes);
            prop_assert_eq!(&Table::take_rows(&mut bytes.as_slice(), 3).unwrap(), &known);
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>) {
            let _ = Table::take_rows(&mut bytes.as_slice(), 50);
        }
    }
}
