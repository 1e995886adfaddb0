//! A history beside its writer: one snapshot of it.

mod at_rest;
mod extent;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use facts::sample::Clock;
use facts::task::rounds::RoundTables;
use rusqlite::Connection;

use crate::aside;
use crate::block::Block;
use crate::boots::Boots;
use crate::database;
use crate::error::StoreError;
use crate::outlet::{Extract, Outlet};
use crate::reading::{Heads, has_block_at, read_block_ids, read_column};
use crate::sample::{Reading, Sample};
use crate::series::{SeriesId, SeriesKind, SeriesNames};
use crate::tasks::{ChunkKey, TaskReplay, exact_rounds_ns};
use crate::unsealed::Unsealed;
use crate::verify;
use crate::window::Points;

pub use at_rest::HistoryAtRest;
pub use extent::Extent;

/// A history as it was when it was opened, or went on. Its writer goes on meanwhile.
#[derive(Debug)]
pub struct History {
    current: HistoryFile,
    /// Files that were damaged and renamed, the oldest first.
    renamed: Vec<HistoryFile>,
    /// Damaged files that cannot even be opened, and why.
    unreadable: Vec<String>,
    /// Device and inode of each damaged file.
    aside: Vec<Option<(u64, u64)>>,
}

/// Device and inode of each file, and how many series it has.
pub type SeriesVersion = Vec<((u64, u64), usize)>;

/// One file of a history.
#[derive(Debug)]
struct HistoryFile {
    path: PathBuf,
    /// Device and inode, as far as they are known.
    identity: Option<(u64, u64)>,
    connection: Connection,
    names: SeriesNames,
    /// Blocks that are in the journal alone.
    unsealed: Unsealed<Block>,
    /// Chunks of tasks that are in the journal alone; read when they are needed.
    unsealed_chunks: OnceCell<Unsealed<(ChunkKey, RoundTables)>>,
    /// The boot of what was imported.
    imported_boot: Option<i64>,
    heads: Heads,
}

impl History {
    /// Opens a history for reading, with the damaged files that are beside it, as far as these can be opened.
    ///
    /// # Errors
    /// If there is none, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (mut renamed, mut unreadable) = (Vec::new(), Vec::new());
        let damaged = aside::list(path);
        let aside = damaged.iter().map(|path| aside::identity(path)).collect();
        for path in damaged {
            match HistoryFile::open(&path) {
                Ok(file) => renamed.push(file),
                Err(error) => unreadable.push(format!("{}: {error}", path.display())),
            }
        }
        Ok(Self { current: HistoryFile::open(path)?, renamed, unreadable, aside })
    }

    /// Iterates over the files, the oldest first.
    fn files(&self) -> impl Iterator<Item = &HistoryFile> {
        self.renamed.iter().chain(std::iter::once(&self.current))
    }

    /// Returns all series, in the order of their names.
    pub fn series(&self) -> Vec<(&str, SeriesKind)> {
        let mut all: Vec<_> = self.files().flat_map(|file| file.names.iter()).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all.dedup_by_key(|(name, _)| *name);
        all
    }

    /// Returns something that stays equal as long as the series are the same: which files there are, and how many series each has. `None` if
    /// that is not known.
    pub fn series_version(&self) -> Option<SeriesVersion> {
        self.files().map(|file| Some((file.identity?, file.names.count()))).collect()
    }

    /// Reads the samples of a series between two times in nanoseconds since 1970, both included, in the order in which they were recorded. Damaged
    /// blocks, columns and indexes are left out; returns how many these are.
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
        self.read_all(&[name], from_ns, to_ns, |_, reading| {
            if let Reading::Sample(sample) = reading {
                each(sample);
            }
        })
    }

    /// Reads several series as [`History::read`] does, each by its place among the names, with the ticks from which on a series is not
    /// there any more.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_all(
        &self,
        names: &[&str],
        from_ns: i64,
        to_ns: i64,
        each: impl FnMut(usize, Reading),
    ) -> Result<u64, StoreError> {
        self.extract(names, from_ns..=to_ns, Extract::All, each)
    }

    /// Reads the newest reading of each series: the last reading of a series counts, others may come before it.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_newest(
        &self,
        names: &[&str],
        from_ns: i64,
        to_ns: i64,
        each: impl FnMut(usize, Reading),
    ) -> Result<u64, StoreError> {
        self.extract(names, from_ns..=to_ns, Extract::Newest, each)
    }

    fn extract(
        &self,
        names: &[&str],
        wanted_ns: RangeInclusive<i64>,
        extract: Extract,
        mut each: impl FnMut(usize, Reading),
    ) -> Result<u64, StoreError> {
        let mut damaged = 0;
        // Ticks that were in memory when a file was renamed are written to the next one as well.
        let mut seen = HashSet::new();
        let key = |place, reading: &Reading| {
            let clock = reading.clock();
            (place, clock.realtime, clock.boottime)
        };
        for file in &self.renamed {
            damaged += file.read(names, &wanted_ns, extract, &mut |place, reading| {
                if seen.insert(key(place, &reading)) {
                    each(place, reading);
                }
            })?;
        }
        damaged += self.current.read(names, &wanted_ns, extract, &mut |place, reading| {
            if seen.is_empty() || !seen.contains(&key(place, &reading)) {
                each(place, reading);
            }
        })?;
        Ok(damaged)
    }

    /// Reads the values of the last tick, each by its place among the names.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_last(&self, names: &[&str], mut each: impl FnMut(usize, f64)) -> Result<(), StoreError> {
        if let Some(block) = self.current.unsealed.parts.last() {
            for (place, name) in names.iter().enumerate() {
                let id = self.current.names.find(name);
                if let Some(value) = id.and_then(|id| block.last_value(id)) {
                    each(place, value);
                }
            }
            return Ok(());
        }
        let Some((_, last_ns)) = self.extent()?.realtime_ns else { return Ok(()) };
        self.read_all(names, last_ns, last_ns, |place, reading| {
            if let Reading::Sample(sample) = reading {
                each(place, sample.value);
            }
        })?;
        Ok(())
    }

    /// Counts the damaged names of series and entries of the journal, and the files that cannot be opened.
    pub fn damaged(&self) -> u64 {
        let of_files: u64 = self.files().map(|file| file.unsealed.damaged + file.names.damaged).sum();
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
            let damaged = file.unsealed.damaged + file.unsealed_chunks()?.damaged;
            if damaged > 0 {
                findings
                    .push(format!("{}: {damaged} entries of the journal are damaged", file.path.display()));
            }
        }
        Ok(findings)
    }

    /// Returns a replay of the tasks between two times in nanoseconds since 1970, both included. Files that were renamed are left out: their
    /// chunks are numbered anew.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tasks(&self, from_ns: i64, to_ns: i64) -> Result<TaskReplay<'_>, StoreError> {
        let unsealed = self.current.unsealed_chunks()?;
        TaskReplay::new(&self.current.connection, &unsealed.parts, unsealed.damaged, from_ns, to_ns)
    }

    /// Returns the times of the first and the last of the newest rounds of tasks that are as they were recorded and follow one another, in nanoseconds
    /// since 1970. Those before them were merged, or recorded before the clock was set back. `None` if there are none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn exact_rounds_ns(&self) -> Result<Option<(i64, i64)>, StoreError> {
        exact_rounds_ns(&self.current.connection, &self.current.unsealed_chunks()?.parts)
    }

    /// Returns the ids of the boots that were seen, in the order of their numbers: the first has the number 1. One that is damaged is empty.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn boot_ids(&self) -> Result<Vec<String>, StoreError> {
        Ok(Boots::read(&self.current.connection)?.into_ids())
    }
}

impl HistoryFile {
    fn open(path: &Path) -> Result<Self, StoreError> {
        // Before it is opened: if it is another one then, it is opened again next time.
        let identity = aside::identity(path);
        let mut file = Self {
            path: path.to_owned(),
            identity,
            connection: database::open_for_reading(path)?,
            names: SeriesNames::default(),
            unsealed: Unsealed::default(),
            unsealed_chunks: OnceCell::new(),
            imported_boot: None,
            heads: Heads::default(),
        };
        file.go_on()?;
        Ok(file)
    }

    fn unsealed_chunks(&self) -> Result<&Unsealed<(ChunkKey, RoundTables)>, StoreError> {
        match self.unsealed_chunks.get() {
            Some(chunks) => Ok(chunks),
            None => {
                let chunks = Unsealed::read(&self.connection)?;
                Ok(self.unsealed_chunks.get_or_init(|| chunks))
            }
        }
    }

    /// Reads several series at once, so that what they have in common is read once.
    fn read(
        &self,
        names: &[&str],
        wanted_ns: &RangeInclusive<i64>,
        extract: Extract,
        each: &mut impl FnMut(usize, Reading),
    ) -> Result<u64, StoreError> {
        let ids: Vec<Option<SeriesId>> = names.iter().map(|name| self.names.find(name)).collect();
        let wanted = || ids.iter().enumerate().filter_map(|(place, id)| id.map(|id| (place, id)));
        let mut is_there = vec![false; names.len()];
        let (blocks, is_damaged) = read_block_ids(&self.connection, wanted_ns)?;
        let mut damaged = u64::from(is_damaged);
        let mut next_position = None;
        for block in blocks {
            let Some(head) = self.heads.get(&self.connection, block)? else {
                damaged += 1;
                next_position = None;
                continue;
            };
            let (key, head) = &*head;
            // A gap is a block that is missing, which is damage, or one that lies outside of the times.
            if let Some(next) = next_position.filter(|next| key.position > *next) {
                damaged += u64::from(!has_block_at(&self.connection, next)?);
            }
            next_position = Some(key.position + key.span);
            let mut out = Outlet::new(&head.clocks, wanted_ns, self.is_recorded(head.boot), extract);
            for (place, id) in wanted() {
                let points = match head.series.binary_search(&id) {
                    Ok(_) => read_column(&self.connection, block, head, id)?,
                    Err(_) => Some(Points::default()),
                };
                match points {
                    Some(points) => out.push(&points, &mut is_there[place], |reading| each(place, reading)),
                    None => damaged += 1,
                }
            }
        }
        let is_wanted = |clock: Clock| wanted_ns.contains(&clock.realtime.0.cast_signed());
        if wanted().next().is_none() {
            return Ok(damaged);
        }
        for block in &self.unsealed.parts {
            let Some(first) = block.clocks().position(is_wanted) else { continue };
            let Some(last) = block.last_clock() else { continue };
            if extract == Extract::Newest && is_wanted(last) {
                // Its last tick is in memory.
                for (place, id) in wanted() {
                    if let Some(value) = block.last_value(id) {
                        is_there[place] = true;
                        each(place, Reading::Sample(Sample { clock: last, value, range: None }));
                        continue;
                    }
                    let (clocks, values) = block.column(id, first);
                    let mut out = Outlet::new(&clocks, wanted_ns, true, extract);
                    out.push(&Points::of_ticks(values), &mut is_there[place], |reading| each(place, reading));
                }
                continue;
            }
            if let [Some(id)] = ids[..] {
                let (clocks, values) = block.column(id, first);
                let mut out = Outlet::new(&clocks, wanted_ns, true, extract);
                out.push(&Points::of_ticks(values), &mut is_there[0], |reading| each(0, reading));
                continue;
            }
            let mut columns = block.columns_of(wanted().map(|(_, id)| id).collect(), first);
            let mut out = Outlet::new(&columns.clocks, wanted_ns, true, extract);
            for (place, id) in wanted() {
                let values = columns.values.remove(&id).unwrap_or_default();
                out.push(&Points::of_ticks(values), &mut is_there[place], |reading| each(place, reading));
            }
        }
        Ok(damaged)
    }

    /// Returns whether a boot's ticks were recorded here. In imported data each series has times of its own.
    fn is_recorded(&self, boot: i64) -> bool {
        self.imported_boot != Some(boot)
    }
}
