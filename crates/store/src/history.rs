//! A history beside its writer: one snapshot of it.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use facts::task::rounds::RoundTables;
use rusqlite::Connection;

use crate::aside;
use crate::block::{self, Block};
use crate::database;
use crate::error::StoreError;
use crate::reading::{has_block_at, push_points, read_block_ids, read_column, read_head};
use crate::sample::Sample;
use crate::series::{SeriesKind, SeriesNames};
use crate::tasks::{ChunkKey, TaskReplay, unsealed_chunks};
use crate::verify;
use crate::window::Points;

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
    current: HistoryFile,
    /// Files that were damaged and renamed, the oldest first.
    renamed: Vec<HistoryFile>,
    /// Those that cannot even be opened, and why.
    unreadable: Vec<String>,
}

/// Chunks of tasks that are in the journal alone, and how many of its entries are damaged.
type UnsealedChunks = (Vec<(ChunkKey, RoundTables)>, u64);

/// One file of a history.
#[derive(Debug)]
struct HistoryFile {
    path: PathBuf,
    connection: Connection,
    names: SeriesNames,
    /// Blocks that are in the journal alone.
    unsealed: Vec<Block>,
    /// The same of tasks, and how many entries are damaged; read when it is needed.
    unsealed_chunks: OnceCell<UnsealedChunks>,
    /// Entries of the journal that are damaged.
    damaged: u64,
}

impl History {
    /// Opens a history for reading, with the damaged files that are beside it, as far as these can be opened.
    ///
    /// # Errors
    /// If there is none, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (mut renamed, mut unreadable) = (Vec::new(), Vec::new());
        for path in aside::list(path) {
            match HistoryFile::open(&path) {
                Ok(file) => renamed.push(file),
                Err(error) => unreadable.push(format!("{}: {error}", path.display())),
            }
        }
        Ok(Self { current: HistoryFile::open(path)?, renamed, unreadable })
    }

    /// The oldest first.
    fn files(&self) -> impl Iterator<Item = &HistoryFile> {
        self.renamed.iter().chain(std::iter::once(&self.current))
    }

    /// All series, in the order of their names.
    pub fn series(&self) -> Vec<(&str, SeriesKind)> {
        let mut all: Vec<_> = self.files().flat_map(|file| file.names.iter()).collect();
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
            damaged_files: (self.renamed.len() + self.unreadable.len()) as u64,
            ..Extent::default()
        };
        for file in self.files() {
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
        // What was in memory when a file was renamed is in the next one, too.
        let mut seen = HashSet::new();
        for file in &self.renamed {
            damaged += file.read(name, from_ns..=to_ns, &mut |sample: Sample| {
                if seen.insert((sample.clock.realtime, sample.clock.boottime)) {
                    each(sample);
                }
            })?;
        }
        damaged += self.current.read(name, from_ns..=to_ns, &mut |sample: Sample| {
            if seen.is_empty() || !seen.contains(&(sample.clock.realtime, sample.clock.boottime)) {
                each(sample);
            }
        })?;
        Ok(damaged)
    }

    /// Names of series and entries of their journal that are damaged, and files that cannot be opened.
    pub fn damaged(&self) -> u64 {
        let of_files: u64 = self.files().map(|file| file.damaged + file.names.damaged).sum();
        of_files + self.unreadable.len() as u64
    }

    /// Checks every row. Returns what is damaged.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn verify(&self) -> Result<Vec<String>, StoreError> {
        let mut findings = self.unreadable.clone();
        for file in self.files() {
            findings.extend(verify::verify(&file.connection, &file.names, &file.path)?);
            let damaged = file.damaged + file.unsealed_chunks()?.1;
            if damaged > 0 {
                findings
                    .push(format!("{}: {damaged} entries of the journal are damaged", file.path.display()));
            }
        }
        Ok(findings)
    }

    /// The tasks between two times in nanoseconds since 1970, the last of them included. Files that were renamed are left out: their
    /// chunks are numbered anew.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tasks(&self, from_ns: i64, to_ns: i64) -> Result<TaskReplay<'_>, StoreError> {
        let (unsealed, damaged) = self.current.unsealed_chunks()?;
        TaskReplay::new(&self.current.connection, unsealed, *damaged, from_ns, to_ns)
    }
}

impl HistoryFile {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = database::open_for_reading(path)?;
        // All that follows sees the same state: what the writer seals meanwhile is in the journal still.
        connection.execute_batch("BEGIN")?;
        let names = SeriesNames::read(&connection)?;
        let (blocks, damaged_ticks) = block::unsealed(&connection)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            names,
            unsealed: blocks,
            unsealed_chunks: OnceCell::new(),
            damaged: damaged_ticks,
        })
    }

    fn unsealed_chunks(&self) -> Result<&UnsealedChunks, StoreError> {
        match self.unsealed_chunks.get() {
            Some(chunks) => Ok(chunks),
            None => {
                let chunks = unsealed_chunks(&self.connection)?;
                Ok(self.unsealed_chunks.get_or_init(|| chunks))
            }
        }
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
        for clock in self.unsealed.iter().flat_map(Block::clocks) {
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
        let (blocks, is_damaged) = read_block_ids(&self.connection, &wanted_ns)?;
        let mut damaged = u64::from(is_damaged);
        let mut next_position = None;
        for block in blocks {
            let Some((key, head)) = read_head(&self.connection, block)? else {
                damaged += 1;
                next_position = None;
                continue;
            };
            // A row that is missing is damaged as well; one that is there may be of another time.
            if let Some(next) = next_position.filter(|next| key.position > *next) {
                damaged += u64::from(!has_block_at(&self.connection, next)?);
            }
            next_position = Some(key.position + key.span);
            if head.series.binary_search(&id).is_err() {
                continue;
            }
            match read_column(&self.connection, block, &head, id)? {
                Some(points) => push_points(&head.clocks, &points, &wanted_ns, each),
                None => damaged += 1,
            }
        }
        for block in &self.unsealed {
            let (clocks, values) = block.column(id);
            push_points(&clocks, &Points::of_ticks(values), &wanted_ns, each);
        }
        Ok(damaged)
    }
}
