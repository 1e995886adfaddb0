//! Rows of numbers: as entries of a journal, and as compressed columns.

use crate::{column, numbers, varint};

/// The most rows of a table that is read; more can only be damage.
const MOST_ROWS: u64 = 1 << 24;

/// Rows of the same numbers, by columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    columns: Vec<Vec<u64>>,
    rows: usize,
}

impl Table {
    /// No rows of so many columns, at most 64.
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: vec![Vec::new(); columns], rows: 0 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row, of as many numbers as there are columns.
    pub(crate) fn push(&mut self, row: &[u64]) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(*number));
        self.rows += 1;
    }

    /// Adds the rows of another table with as many columns.
    pub(crate) fn append(&mut self, other: &Self) {
        self.columns.iter_mut().zip(&other.columns).for_each(|(column, more)| column.extend(more));
        self.rows += other.rows;
    }

    /// A number; 0 in a column that does not exist.
    pub(crate) fn get(&self, row: usize, column: usize) -> u64 {
        self.columns.get(column).and_then(|column| column.get(row)).copied().unwrap_or(0)
    }

    /// The numbers of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = u64> {
        self.columns.iter().map(move |column| column[row])
    }

    /// Appends the rows one by one, as a journal needs them: of each, which numbers are not 0, and those.
    pub(crate) fn push_rows(&self, out: &mut Vec<u8>) {
        varint::push(out, self.rows as u64);
        for row in 0..self.rows {
            let numbers = || self.row(row).enumerate().filter(|(_, number)| *number != 0);
            varint::push(out, numbers().fold(0_u64, |present, (column, _)| present | 1 << column));
            numbers().for_each(|(_, number)| varint::push(out, varint::zigzag(number.cast_signed())));
        }
    }

    /// Takes what [`Self::push_rows`] wrote; `None` if the bytes are other ones.
    pub(crate) fn take_rows(bytes: &mut &[u8], columns: usize) -> Option<Self> {
        let rows = varint::take(bytes).filter(|rows| *rows <= MOST_ROWS)?;
        let mut table = Self::new(columns);
        let mut row = vec![0; columns];
        for _ in 0..rows {
            let present = varint::take(bytes)?;
            if columns < 64 && present >> columns != 0 {
                return None;
            }
            for (column, number) in row.iter_mut().enumerate() {
                *number = 0;
                if present >> column & 1 == 1 {
                    *number = varint::unzigzag(varint::take(bytes)?).cast_unsigned();
                }
            }
            table.push(&row);
        }
        Some(table)
    }

    /// Appends the columns, compressed. A column of zeros takes a byte.
    pub(crate) fn push_columns(&self, out: &mut Vec<u8>) -> Option<()> {
        varint::push(out, self.rows as u64);
        varint::push(out, self.columns.len() as u64);
        for column in &self.columns {
            // Signed: differences are small numbers of either sign.
            let signed: Vec<i64> = column.iter().map(|number| number.cast_signed()).collect();
            let data =
                if signed.iter().all(|number| *number == 0) { Vec::new() } else { numbers::encode(&signed)? };
            varint::push(out, data.len() as u64);
            out.extend(data);
        }
        Some(())
    }

    /// Takes what [`Self::push_columns`] wrote. Columns that this version does not know are left out; those that an older one did
    /// not know are 0.
    pub(crate) fn take_columns(bytes: &mut &[u8], columns: usize) -> Option<Self> {
        let rows = varint::take(bytes).filter(|rows| *rows <= MOST_ROWS)? as usize;
        let written = varint::take(bytes).filter(|written| *written <= 64)? as usize;
        let mut table = Self { columns: vec![vec![0; rows]; columns], rows };
        for place in 0..written {
            let data = column::split(bytes)?;
            let Some(column) = table.columns.get_mut(place) else { continue };
            if !data.is_empty() {
                *column = numbers::decode::<i64>(data, rows)?.into_iter().map(i64::cast_unsigned).collect();
            }
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
            let (mut journal, mut columns) = (Vec::new(), Vec::new());
            table.push_rows(&mut journal);
            table.push_columns(&mut columns).unwrap();
            prop_assert_eq!(&Table::take_rows(&mut journal.as_slice(), 5).unwrap(), &table);
            prop_assert_eq!(&Table::take_columns(&mut columns.as_slice(), 5).unwrap(), &table);
            // A version that knows fewer columns, and one that knows more.
            prop_assert_eq!(Table::take_columns(&mut columns.as_slice(), 3).unwrap().columns, &table.columns[..3]);
            let more = Table::take_columns(&mut columns.as_slice(), 6).unwrap();
            prop_assert!((0..rows.len()).all(|row| more.get(row, 5) == 0));
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>) {
            let _ = Table::take_rows(&mut bytes.as_slice(), 50);
        }
    }
}
