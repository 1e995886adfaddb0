//! Recording and reading.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::block::{self, Block, Sealing};
use crate::database;
use crate::error::StoreError;
use crate::history::{self, Sample};
use crate::journal::{self, TickTime, Values};
use crate::series::{SeriesId, SeriesKind, SeriesNames};

/// Ticks of a block: ten minutes at one a second.
const BLOCK_TICKS: usize = 600;
/// Columns that are written in one tick, so that no tick pays for a whole block.
const COLUMNS_A_TICK: usize = 32;
/// How much power loss may take, and how often the disk is told so.
const SYNC_INTERVAL_NS: i64 = 10_000_000_000;

/// What is known at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Tick<'a> {
    /// Nanoseconds since 1970.
    pub realtime_ns: i64,
    /// Nanoseconds since the machine started, suspends included.
    pub boottime_ns: i64,
    /// Which start of the machine that was.
    pub boot_id: &'a str,
    /// Each series once, in any order.
    pub values: &'a [(SeriesId, f64)],
}

/// A history that is being written.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    names: SeriesNames,
    /// The block that grows.
    open: Block,
    /// The one before it.
    sealing: Option<Sealing>,
    /// The last boot, and its number.
    boot: Option<(String, i64)>,
    synced_at_ns: i64,
}

impl Store {
    /// Opens a history, and makes it if there is none. What a killed writer left in the journal is taken up.
    ///
    /// # Errors
    /// If the file cannot be opened, or was written by a newer version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = database::open(path)?;
        let names = SeriesNames::read(&connection)?;
        let mut blocks = block::unsealed(&connection)?;
        let last_sealed: i64 =
            connection.query_row("SELECT coalesce(max(id), 0) FROM blocks", [], |row| row.get(0))?;
        let open = blocks.pop().unwrap_or_else(|| Block::new(last_sealed + 1, 0));
        // The one that was being sealed; columns that it has already are written again.
        for block in blocks {
            let transaction = connection.unchecked_transaction()?;
            Sealing::new(block).write(&transaction, usize::MAX)?;
            transaction.commit()?;
        }
        Ok(Self { connection, names, open, sealing: None, boot: None, synced_at_ns: 0 })
    }

    /// The number of a series, which is given to it if it is new.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn series(&mut self, name: &str, kind: SeriesKind) -> Result<SeriesId, StoreError> {
        self.names.id(&self.connection, name, kind)
    }

    /// Records a tick. When this returns, the end of this process takes nothing of it any more.
    ///
    /// # Errors
    /// If it cannot be written; then nothing of it is.
    pub fn append(&mut self, tick: &Tick<'_>) -> Result<(), StoreError> {
        let boot = self.boot_number(tick.boot_id)?;
        // A block is of one boot, so that its boot clock goes forward.
        let is_full = self.open.times.len() >= BLOCK_TICKS;
        let is_other_boot = self.open.boot != boot && !self.open.times.is_empty();
        if is_full || is_other_boot {
            self.seal_rest()?;
            let next = Block::new(self.open.id + 1, boot);
            self.sealing = Some(Sealing::new(std::mem::replace(&mut self.open, next)));
        }
        self.open.boot = boot;
        let time = TickTime { realtime_ns: tick.realtime_ns, boottime_ns: tick.boottime_ns };
        let values: Values = tick.values.iter().copied().collect();
        let entry = journal::encode(time, &self.open.last, &values);
        let transaction = self.connection.unchecked_transaction()?;
        transaction
            .prepare_cached("INSERT INTO journal (block, boot, entry) VALUES (?1, ?2, ?3)")?
            .execute(params![self.open.id, boot, entry])?;
        let mut is_sealed = false;
        if let Some(sealing) = &mut self.sealing {
            is_sealed = sealing.write(&transaction, COLUMNS_A_TICK)?;
        }
        transaction.commit()?;
        if is_sealed {
            self.sealing = None;
        }
        self.open.push(time, values);
        if (tick.boottime_ns - self.synced_at_ns).abs() >= SYNC_INTERVAL_NS {
            self.synced_at_ns = tick.boottime_ns;
            database::checkpoint(&self.connection)?;
        }
        Ok(())
    }

    /// Writes what a full block still lacks.
    fn seal_rest(&mut self) -> Result<(), StoreError> {
        if let Some(mut sealing) = self.sealing.take() {
            let transaction = self.connection.unchecked_transaction()?;
            sealing.write(&transaction, usize::MAX)?;
            transaction.commit()?;
        }
        Ok(())
    }

    /// Writes what is left of a full block, and syncs all.
    ///
    /// # Errors
    /// If it cannot be written; the journal has it all the same.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.seal_rest()?;
        database::checkpoint(&self.connection)
    }

    fn boot_number(&mut self, boot_id: &str) -> Result<i64, StoreError> {
        if let Some((_, number)) = self.boot.as_ref().filter(|(known, _)| known == boot_id) {
            return Ok(*number);
        }
        self.connection
            .execute("INSERT INTO boots (boot_id) VALUES (?1) ON CONFLICT DO NOTHING", [boot_id])?;
        let number =
            self.connection
                .query_row("SELECT id FROM boots WHERE boot_id = ?1", [boot_id], |row| row.get(0))?;
        self.boot = Some((boot_id.to_owned(), number));
        Ok(number)
    }

    /// The samples of a series between two times, the last of them included, in the order in which they were recorded.
    ///
    /// # Errors
    /// If they cannot be read. Damaged blocks are left out; their number comes back.
    pub fn read(
        &self,
        id: SeriesId,
        from_ns: i64,
        to_ns: i64,
        each: impl FnMut(Sample),
    ) -> Result<usize, StoreError> {
        let in_memory = self.sealing.iter().map(|sealing| &sealing.block).chain([&self.open]);
        history::read(&self.connection, in_memory, id, from_ns..=to_ns, each)
    }
}
