//! The extent of a history: its times, and counts of its contents.

use super::{History, HistoryFile};
use crate::block::Block;
use crate::database;
use crate::error::StoreError;
use crate::reading::{read_head, with_or_without_index};

/// The extent of a history: its times, and counts of its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first and the last tick, in nanoseconds since 1970; `None` if there is none.
    pub realtime_ns: Option<(i64, i64)>,
    /// Ticks.
    pub ticks: u64,
    /// Series.
    pub series: u64,
    /// Starts of the machine.
    pub boots: u64,
    /// The files, without their logs.
    pub file_bytes: u64,
    /// Files that were damaged and renamed.
    pub damaged_files: u64,
}

impl History {
    /// Returns the extent of the history.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn extent(&self) -> Result<Extent, StoreError> {
        let mut extent = Extent {
            series: self.series().len() as u64,
            damaged_files: (self.renamed.len() + self.unreadable.len()) as u64,
            ..Extent::default()
        };
        for file in self.files() {
            unless_damaged(file.add_extent(&mut extent))?;
        }
        Ok(extent)
    }

    /// Returns the times in which something was recorded, in nanoseconds since 1970: the first and the last tick of each block.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn spans(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        let mut spans = Vec::new();
        for file in self.files() {
            unless_damaged(file.add_spans(&mut spans))?;
        }
        Ok(spans)
    }
}

/// Ignores damage of one file, so that the others are read.
fn unless_damaged(read: Result<(), StoreError>) -> Result<(), StoreError> {
    match read {
        Err(error) if error.is_damage() => Ok(()),
        read => read,
    }
}

impl HistoryFile {
    fn add_spans(&self, spans: &mut Vec<(i64, i64)>) -> Result<(), StoreError> {
        for block in &self.unsealed.parts {
            let times = || block.clocks().map(|clock| clock.realtime.0.cast_signed());
            spans.extend(times().min().zip(times().max()));
        }
        let read = |index: &str, spans: &mut Vec<(i64, i64)>| -> Result<(), StoreError> {
            let sql = format!("SELECT first_ns, last_ns FROM blocks {index}");
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                spans.push((row.get(0)?, row.get(1)?));
            }
            Ok(())
        };
        spans.extend(with_or_without_index(read)?.0);
        Ok(())
    }

    fn add_extent(&self, extent: &mut Extent) -> Result<(), StoreError> {
        let number = |sql: &str| -> Result<u64, StoreError> {
            let number: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
            Ok(u64::try_from(number).unwrap_or(0))
        };
        let mut statement = self.connection.prepare("SELECT id, first_ns, last_ns FROM blocks")?;
        let mut rows = statement.query([])?;
        let mut add = |first: i64, last: i64, ticks: u64| {
            let (old_first, old_last) = extent.realtime_ns.unwrap_or((i64::MAX, i64::MIN));
            extent.realtime_ns = Some((old_first.min(first), old_last.max(last)));
            extent.ticks += ticks;
        };
        while let Some(row) = rows.next()? {
            let head = read_head(&self.connection, row.get(0)?)?;
            add(row.get(1)?, row.get(2)?, head.map_or(0, |(_, head)| head.clocks.len() as u64));
        }
        for clock in self.unsealed.parts.iter().flat_map(Block::clocks) {
            let realtime_ns = clock.realtime.0.cast_signed();
            add(realtime_ns, realtime_ns, 1);
        }
        extent.boots += number("SELECT count(*) FROM boots")?;
        extent.file_bytes += database::file_bytes(&self.connection)?;
        Ok(())
    }
}
