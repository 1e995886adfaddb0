//! A history beside its writer: one snapshot of it.

use std::path::Path;

use facts::sample::Clock;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::aside;
use crate::block::{self, BlockColumns, BlockHead};
use crate::checksum;
use crate::column;
use crate::database;
use crate::error::StoreError;
use crate::series::{SeriesId, SeriesKind, SeriesNames};
use crate::tasks::{Chunk, ChunkKey, TaskReplay, unsealed_chunks};

/// A value and when it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The time of its tick.
    pub clock: Clock,
    /// Raw: counters are not rates.
    pub value: f64,
}

/// What a history contains.
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

/// A history as it was when it was opened. Its writer goes on meanwhile.
#[derive(Debug)]
pub struct History {
    /// The oldest first.
    files: Vec<HistoryFile>,
    damaged_files: u64,
}

/// One file of a history.
#[derive(Debug)]
struct HistoryFile {
    connection: Connection,
    names: SeriesNames,
    /// Blocks and chunks of which only the journal is there.
    unsealed: Vec<BlockColumns>,
    unsealed_chunks: Vec<(ChunkKey, Chunk)>,
    /// Entries of the journal that are damaged.
    damaged: u64,
}

impl History {
    /// Opens a history for reading, with the damaged files that are beside it, as far as these can be opened.
    ///
    /// # Errors
    /// If there is none, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let renamed = aside::list(path);
        let mut files: Vec<HistoryFile> =
            renamed.iter().filter_map(|path| HistoryFile::open(path).ok()).collect();
        files.push(HistoryFile::open(path)?);
        Ok(Self { files, damaged_files: renamed.len() as u64 })
    }

    /// All series, in the order of their names.
    pub fn series(&self) -> Vec<(&str, SeriesKind)> {
        let mut all: Vec<_> = self.files.iter().flat_map(|file| file.names.iter()).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all.dedup_by_key(|(name, _)| *name);
        all
    }

    /// What there is.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn extent(&self) -> Result<Extent, StoreError> {
        let mut extent = Extent {
            series: self.series().len() as u64,
            damaged_files: self.damaged_files,
            ..Extent::default()
        };
        for file in &self.files {
            file.add_extent(&mut extent)?;
        }
        Ok(extent)
    }

    /// The samples of a series between two times in nanoseconds since 1970, the last of them included, in the order in which they
    /// were recorded. Damaged blocks are left out; returns how many these are.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(
        &self,
        name: &str,
        from_ns: i64,
        to_ns: i64,
        mut each: impl FnMut(Sample),
    ) -> Result<u64, StoreError> {
        let mut damaged = 0;
        for file in &self.files {
            damaged += file.read(name, from_ns..=to_ns, &mut each)?;
        }
        Ok(damaged)
    }

    /// The tasks between two times in nanoseconds since 1970, the last of them included. `Err` of a damaged file is that of reading it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tasks(&self, from_ns: i64, to_ns: i64) -> Result<Option<TaskReplay<'_>>, StoreError> {
        let Some(file) = self.files.last() else { return Ok(None) };
        TaskReplay::new(&file.connection, &file.unsealed_chunks, from_ns, to_ns).map(Some)
    }
}

impl HistoryFile {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = database::open_for_reading(path)?;
        // All that follows sees the same state: what the writer seals meanwhile is in the journal still.
        connection.execute_batch("BEGIN")?;
        let names = SeriesNames::read(&connection)?;
        let (blocks, damaged_ticks) = block::unsealed(&connection)?;
        let (unsealed_chunks, damaged_rounds) = unsealed_chunks(&connection)?;
        let unsealed = blocks.iter().map(block::Block::columns).collect();
        Ok(Self { connection, names, unsealed, unsealed_chunks, damaged: damaged_ticks + damaged_rounds })
    }

    fn add_extent(&self, extent: &mut Extent) -> Result<(), StoreError> {
        let number = |sql: &str| -> Result<u64, StoreError> {
            let number: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
            Ok(u64::try_from(number).unwrap_or(0))
        };
        let mut statement =
            self.connection.prepare("SELECT id, position, first_ns, last_ns, head FROM blocks")?;
        let mut rows = statement.query([])?;
        let mut add = |first: i64, last: i64, ticks: u64| {
            let (old_first, old_last) = extent.realtime_ns.unwrap_or((i64::MAX, i64::MIN));
            extent.realtime_ns = Some((old_first.min(first), old_last.max(last)));
            extent.ticks += ticks;
        };
        while let Some(row) = rows.next()? {
            let head = head(row.get(0)?, row.get(1)?, row.get_ref(4)?);
            let ticks = head.map_or(0, |head| head.clocks.len() as u64);
            add(row.get(2)?, row.get(3)?, ticks);
        }
        for clock in self.unsealed.iter().flat_map(|block| &block.clocks) {
            let realtime_ns = clock.realtime.0.cast_signed();
            add(realtime_ns, realtime_ns, 1);
        }
        extent.boots += number("SELECT count(*) FROM boots")?;
        extent.file_bytes += database::file_bytes(&self.connection)?;
        Ok(())
    }

    fn read(
        &self,
        name: &str,
        wanted_ns: std::ops::RangeInclusive<i64>,
        each: &mut impl FnMut(Sample),
    ) -> Result<u64, StoreError> {
        let Some(id) = self.names.find(name) else { return Ok(0) };
        let mut damaged = self.damaged;
        let mut take = |clock: &Clock, value: &Option<f64>| {
            let is_wanted = wanted_ns.contains(&clock.realtime.0.cast_signed());
            if let Some(value) = value.filter(|_| is_wanted) {
                each(Sample { clock: *clock, value });
            }
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT id, position, head FROM blocks WHERE last_ns >= ?1 AND first_ns <= ?2 ORDER BY position",
        )?;
        let mut rows = statement.query(params![wanted_ns.start(), wanted_ns.end()])?;
        while let Some(row) = rows.next()? {
            let block: i64 = row.get(0)?;
            let Some(head) = head(block, row.get(1)?, row.get_ref(2)?) else {
                damaged += 1;
                continue;
            };
            if head.series.binary_search(&id).is_err() {
                continue;
            }
            match self.column(block, id, head.clocks.len())? {
                Some(values) => head.clocks.iter().zip(&values).for_each(|(clock, value)| take(clock, value)),
                None => damaged += 1,
            }
        }
        for block in &self.unsealed {
            let values = block.values.get(&id).map(Vec::as_slice).unwrap_or_default();
            block.clocks.iter().zip(values).for_each(|(clock, value)| take(clock, value));
        }
        Ok(damaged)
    }

    /// A column that should be there; `None` if it is damaged.
    fn column(&self, block: i64, id: SeriesId, ticks: usize) -> Result<Option<Vec<Option<f64>>>, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT data FROM columns WHERE block = ?1 AND series = ?2")?;
        let decode = |row: &rusqlite::Row<'_>| {
            let bytes = row.get_ref(0)?.as_blob().unwrap_or_default();
            Ok(checksum::open(&[block, id.0.into()], bytes).and_then(|body| column::decode(body, ticks)))
        };
        Ok(statement.query_row(params![block, id.0], decode).optional()?.flatten())
    }
}

/// The head of a block; `None` if it is damaged.
fn head(id: i64, position: i64, blob: rusqlite::types::ValueRef<'_>) -> Option<BlockHead> {
    checksum::open(&[id, position], blob.as_blob().ok()?).and_then(BlockHead::decode)
}
