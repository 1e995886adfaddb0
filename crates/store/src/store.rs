//! Recording.

mod import;
mod left;
mod renewal;

use std::path::{Path, PathBuf};

use facts::sample::Clock;
use facts::unit::Nanos;
use rusqlite::{Connection, params};

use self::left::Left;
use crate::aside;
use crate::block::{self, BLOCK_TICKS, Block, Sealing};
use crate::boots::Boots;
use crate::checkpoint::Checkpoint;
use crate::checksum;
use crate::database;
use crate::error::StoreError;
use crate::journal::Values;
use crate::retention::{self, Maintenance, Retention};
use crate::series::{SeriesId, SeriesKind, SeriesNames};
use crate::task_names::{Named, TaskNames};
use crate::tasks::{TaskRecorder, TaskTick};

pub use import::ImportedSeries;

/// Columns that are written in one tick, so that no tick pays for a whole block; of very many series more.
const COLUMNS_A_TICK: usize = 32;
/// The time between two checkpoints, which sync: the most that power loss may take.
const SYNC_INTERVAL: Nanos = Nanos(10_000_000_000);

/// The delay before a failed write is tried again. It doubles with each failure, up to the longest.
const MIN_RETRY: Nanos = Nanos(1_000_000_000);
const MAX_RETRY: Nanos = Nanos(16_000_000_000);
/// The most ticks of one transaction: if it fails, the work for it was in vain.
const TICKS_A_WRITE: usize = 120;

/// The data that is known at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Tick<'a> {
    /// When it was.
    pub clock: Clock,
    /// Which start of the machine that was.
    pub boot_id: &'a str,
    /// Each series once, in any order.
    pub values: &'a [(SeriesId, f64)],
    /// All tasks, if they were read.
    pub tasks: Option<TaskTick<'a>>,
}

/// A history that is being written.
///
/// Data that cannot be written stays in memory, for as long as two blocks take (twenty minutes at one tick a second), and is written
/// when that is possible again.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    names: SeriesNames,
    boots: Boots,
    task_names: TaskNames,
    /// The block that grows, and how many of its entries are in the journal.
    open: Block,
    written: usize,
    /// The blocks before it.
    sealing: Vec<Sealing>,
    /// Blocks that could not be written, whose journal is to be deleted.
    given_up: Vec<i64>,
    /// The file was renamed or removed, and no new one could be opened yet.
    must_reopen: bool,
    /// Device and inode of the file.
    identity: Option<(u64, u64)>,
    /// On the boot clock: when what cannot be written is tried again.
    retry_at: Nanos,
    retry: Nanos,
    tasks: TaskRecorder,
    /// The time of the last tick, since 1970.
    newest_ns: i64,
    synced_at: Nanos,
    checkpoint: Checkpoint,
    lost_ticks: u64,
    findings: Vec<String>,
    file_bytes: u64,
    retention: Retention,
    maintenance: Maintenance,
    /// The largest number of a block so far.
    last_id: i64,
}

impl Store {
    /// Opens a history, and makes it if there is none. What a killed writer left in the journal is taken up. A damaged file is renamed,
    /// and a new one made: [`Self::take_findings`].
    ///
    /// # Errors
    /// If the file cannot be opened, or was written by a newer version.
    pub fn open(path: &Path, retention: Retention) -> Result<Self, StoreError> {
        match Self::open_file(path, retention.clone()) {
            Err(error) if error.is_damage() || aside::has_damaged_header(path) => {
                let renamed = aside::rename(path).map_err(StoreError::Rename)?;
                let mut store = Self::open_file(path, retention)?;
                store.findings.push(aside::finding(&renamed, &error));
                Ok(store)
            }
            opened => opened,
        }
    }

    fn open_file(path: &Path, retention: Retention) -> Result<Self, StoreError> {
        let connection = database::open(path, database::HISTORY, database::AGENT_PATIENCE)?;
        let names = SeriesNames::read(&connection)?;
        let boots = Boots::read(&connection)?;
        let Left { block, position, chunk, mut findings } = left::seal(&connection)?;
        if names.damaged > 0 {
            findings.insert(0, format!("{} series are damaged", names.damaged));
        }
        Ok(Self {
            path: path.to_owned(),
            connection,
            names,
            boots,
            task_names: TaskNames::default(),
            open: Block::new(block + 1, position + 1),
            written: 0,
            sealing: Vec::new(),
            given_up: Vec::new(),
            must_reopen: false,
            identity: aside::identity(path),
            retry_at: Nanos(0),
            retry: MIN_RETRY,
            tasks: TaskRecorder::after(chunk),
            newest_ns: 0,
            synced_at: Nanos(0),
            checkpoint: Checkpoint::default(),
            lost_ticks: 0,
            findings,
            file_bytes: 0,
            retention,
            maintenance: Maintenance::default(),
            last_id: block + 1,
        })
    }

    /// The number of a series, which is given to it if it is new.
    pub fn series(&mut self, name: &str, kind: SeriesKind) -> SeriesId {
        self.names.id(name, kind)
    }

    /// The number of a series that has one already.
    pub fn known_series(&self, name: &str) -> Option<SeriesId> {
        self.names.find(name)
    }

    /// How many series have numbers: they keep them, also when they have no samples any more.
    pub fn series_count(&self) -> usize {
        self.names.count()
    }

    /// Returns whether the name of this is known already.
    pub fn knows(&self, named: Named) -> bool {
        self.task_names.contains(named)
    }

    /// Names a cgroup or a process of this boot. The names of living tasks are kept as long as their rounds.
    pub fn name(&mut self, boot_id: &str, named: Named, name: &str) {
        let boot = self.boots.number(boot_id);
        self.task_names.add(boot, named, name);
    }

    /// Makes syncs run in a thread from now on, so that no tick waits for a slow disk. Ticks wait in memory meanwhile, which is bounded:
    /// this is for ticks that come as time passes.
    pub fn sync_in_thread(&mut self) {
        self.checkpoint.set_in_thread();
    }

    /// Records a tick. After this the end of the process does not lose it, unless ticks wait for the end of a sync or after a failure.
    ///
    /// # Errors
    /// If it cannot be written now. It stays in memory, and is written with a later one.
    pub fn append(&mut self, tick: &Tick<'_>) -> Result<(), StoreError> {
        let boot = self.boots.number(tick.boot_id);
        // A block is of one boot, so that its boot clock goes forward.
        let is_other_boot = self.open.boot != boot && !self.open.entries.is_empty();
        if self.open.entries.len() >= BLOCK_TICKS || is_other_boot {
            self.seal_open();
        }
        self.open.boot = boot;
        self.newest_ns = tick.clock.realtime.0.cast_signed();
        let mut values: Values = tick.values.to_vec();
        values.sort_unstable_by_key(|(id, _)| *id);
        self.open.push(tick.clock, values);
        if let Some(tasks) = tick.tasks
            && self.tasks.push(tasks, boot)
        {
            self.task_names.begin_base(tasks.store);
        }
        let now = tick.clock.boottime;
        if now < self.retry_at {
            // What cannot be written is not tried in every tick: it takes longer and longer.
            return Err(StoreError::Waiting);
        }
        let synced = self.checkpoint.poll(now);
        if let Err(StoreError::Waiting | StoreError::Stalled) = synced {
            return synced;
        }
        let result = self.write_tick(tick.clock, synced);
        match result {
            Ok(()) => self.retry = MIN_RETRY,
            Err(_) => {
                self.retry_at = now + self.retry;
                self.retry = Nanos(self.retry.0 * 2).min(MAX_RETRY);
            }
        }
        result
    }

    /// `synced` is the result of the last checkpoint.
    fn write_tick(&mut self, clock: Clock, synced: Result<(), StoreError>) -> Result<(), StoreError> {
        if self.must_reopen {
            self.open_again()?;
        }
        // Before the next block is full this one is written, however many series there are.
        let columns =
            self.sealing.first().map_or(0, |sealing| sealing.column_count().div_ceil(BLOCK_TICKS / 2));
        let mut result = self.write(COLUMNS_A_TICK.max(columns));
        if result.is_ok() {
            result = self.maintain(clock.realtime.0.cast_signed());
        }
        // In any case: what is in the log may be the room that is missing.
        let started = self.sync(clock.boottime);
        match synced.and(result).and(started) {
            Err(error) if error.is_damage() => self.begin_again(&error),
            result => result,
        }
    }

    fn sync(&mut self, now: Nanos) -> Result<(), StoreError> {
        if now.0.abs_diff(self.synced_at.0) >= SYNC_INTERVAL.0 {
            self.synced_at = now;
            if aside::identity(&self.path) != self.identity {
                // What was recorded there is gone; what is in memory is not.
                self.findings
                    .push(format!("{} was removed or replaced; a new one is begun", self.path.display()));
                self.must_reopen = true;
                return self.open_again();
            }
            self.file_bytes = database::file_bytes(&self.connection)?;
            return self.checkpoint.start(&self.connection, &self.path, now);
        }
        Ok(())
    }

    /// Thins and deletes a part of what is old.
    fn maintain(&mut self, now_ns: i64) -> Result<(), StoreError> {
        let Self { maintenance, connection, names, retention, last_id, .. } = self;
        let next_id = || {
            *last_id += 1;
            *last_id
        };
        self.findings.extend(maintenance.advance(connection, names, retention, now_ns, next_id)?);
        Ok(())
    }

    /// Sets the retention from now on.
    pub fn set_retention(&mut self, retention: Retention) {
        self.retention = retention;
        self.maintenance.start_over();
    }

    /// Does all that is to be done for what is old; returns whether there was anything.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn compact(&mut self, now_ns: i64) -> Result<bool, StoreError> {
        self.maintenance.start_over_thoroughly();
        self.maintain(now_ns)?;
        let has_work = !self.maintenance.is_idle();
        while !self.maintenance.is_idle() {
            self.maintain(now_ns)?;
        }
        Ok(has_work)
    }

    /// Deletes the blocks and chunks that end before a time in nanoseconds since 1970.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn drop_before(&mut self, before_ns: i64) -> Result<(), StoreError> {
        retention::drop_before(&self.connection, before_ns)
    }

    /// Writes the whole file anew, as small as it can be.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn vacuum(&mut self) -> Result<(), StoreError> {
        self.checkpoint.finish()?;
        self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(())
    }

    /// Moves the open block to those that are sealed, and begins the next.
    fn seal_open(&mut self) {
        self.last_id += 1;
        let next = Block::new(self.last_id, self.open.key.position + 1);
        let full = std::mem::replace(&mut self.open, next);
        self.written = 0;
        if self.sealing.len() > 1 {
            let lost = self.sealing.remove(0);
            self.lost_ticks += lost.ticks() as u64;
            self.given_up.push(lost.id());
        }
        self.sealing.push(Sealing::new(full.key, full.columns()));
    }

    /// Writes what is not written yet, and so many columns of full blocks.
    fn write(&mut self, columns: usize) -> Result<(), StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        let names = self.names.write(&transaction)?;
        let boots = self.boots.write(&transaction)?;
        self.task_names.write(&transaction, self.newest_ns)?;
        let waiting = self.open.entries.iter().enumerate().skip(self.written);
        for (place, entry) in waiting.take(TICKS_A_WRITE) {
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            let (block, boot) = (self.open.key.id, self.open.boot);
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO journal (block, place, boot, entry) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![block, place, boot, checksum::seal(&[block, place, boot], entry)])?;
        }
        for id in &self.given_up {
            block::delete(&transaction, *id)?;
        }
        let tasks = self.tasks.write(&transaction)?;
        let sealed = self.sealing.first().map(|sealing| sealing.write(&transaction, columns)).transpose()?;
        transaction.commit()?;
        self.names.commit(names);
        self.boots.commit(boots);
        self.task_names.commit();
        self.written = self.open.entries.len().min(self.written + TICKS_A_WRITE);
        self.given_up.clear();
        self.tasks.commit(tasks);
        match (sealed, self.sealing.first_mut()) {
            (Some((_, true)), _) => {
                self.sealing.remove(0);
                self.maintenance.plan_again();
            }
            (Some((written, false)), Some(sealing)) => sealing.commit(written),
            _ => {}
        }
        Ok(())
    }

    /// The size of the file, without its log; as of the last checkpoint.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Takes the findings of damage since the last call.
    pub fn take_findings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.findings)
    }

    /// Ticks and rounds of tasks that were given up because nothing could be written for too long.
    pub fn lost(&self) -> (u64, u64) {
        (self.lost_ticks, self.tasks.lost_rounds)
    }

    /// Writes what is left of full blocks, and syncs all.
    ///
    /// # Errors
    /// If it cannot be written; what is in the journal is not lost.
    pub fn close(mut self) -> Result<(), StoreError> {
        // The checkpoint below reports what cannot be synced.
        let _ = self.checkpoint.finish();
        if self.must_reopen {
            self.open_again()?;
        }
        self.write(usize::MAX)?;
        while !self.sealing.is_empty() || self.written < self.open.entries.len() || self.tasks.has_unwritten()
        {
            self.write(usize::MAX)?;
        }
        database::checkpoint(&self.connection)
    }
}
