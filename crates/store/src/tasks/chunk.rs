//! Rounds of tasks, as they are written.

use facts::sample::Clock;
use facts::unit::Nanos;
use rusqlite::{Connection, params};

use super::fields::{ENDED, LIVING};
use super::table::Table;
use crate::StoreError;
use crate::block::lasts_s;
use crate::checksum;

/// A round, by the number of its column.
#[derive(Clone, Copy)]
pub(crate) enum Round {
    Realtime,
    Boottime,
    Monotonic,
    /// How many rows of the other tables belong to it.
    Living,
    Gone,
    Ended,
    /// CPU time of all tasks that ended since the recorder started, and 1; 0 if that is not counted.
    EndedOnCpu,
    /// Exit records that were lost.
    LostExits,
    /// 1 if a recorder started with this round: nothing is known of the time before it.
    IsFirst,
    /// Exit records that were left out, and their CPU time in nanoseconds.
    LeftOut,
    LeftOutCpu,
    /// CPU time in nanoseconds of threads that no exit record reports.
    EndedThreadsCpu,
}

/// Columns of a round.
pub(crate) const ROUND: usize = Round::EndedThreadsCpu as usize + 1;

/// Rounds, and the rows of each.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) rounds: Table,
    /// Differences from the row that the same task had before, number by number; in the first round of a base from 0.
    pub(crate) living: Table,
    /// Pids.
    pub(crate) gone: Table,
    pub(crate) ended: Table,
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            rounds: Table::new(ROUND),
            living: Table::new(LIVING),
            gone: Table::new(1),
            ended: Table::new(ENDED),
        }
    }
}

impl Chunk {
    fn tables(&self) -> [&Table; 4] {
        [&self.rounds, &self.living, &self.gone, &self.ended]
    }

    /// Adds the rounds of another one.
    pub(crate) fn append(&mut self, other: &Self) {
        self.rounds.append(&other.rounds);
        self.living.append(&other.living);
        self.gone.append(&other.gone);
        self.ended.append(&other.ended);
    }

    /// A number of a round.
    pub(crate) fn round(&self, round: usize, column: Round) -> u64 {
        self.rounds.get(round, column as usize)
    }

    /// How many rows a round has in the tables of living, gone and ended tasks.
    pub(crate) fn row_counts(&self, round: usize) -> [usize; 3] {
        [Round::Living, Round::Gone, Round::Ended]
            .map(|column| usize::try_from(self.round(round, column)).unwrap_or(usize::MAX))
    }

    /// When a round was.
    pub(crate) fn clock(&self, round: usize) -> Clock {
        let [realtime, boottime, monotonic] = [Round::Realtime, Round::Boottime, Round::Monotonic]
            .map(|column| Nanos(self.round(round, column)));
        Clock { monotonic, boottime, realtime }
    }

    /// When its rounds were.
    pub(super) fn clocks(&self) -> Vec<Clock> {
        (0..self.rounds.rows()).map(|round| self.clock(round)).collect()
    }

    /// The first and last time since 1970.
    fn extent_ns(&self) -> (i64, i64) {
        let times = || (0..self.rounds.rows()).map(|round| self.round(round, Round::Realtime).cast_signed());
        (times().min().unwrap_or_default(), times().max().unwrap_or_default())
    }

    /// As an entry of the journal.
    pub(crate) fn entry(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.tables().iter().for_each(|table| table.push_rows(&mut bytes));
        bytes
    }

    /// From an entry of the journal.
    pub(crate) fn from_entry(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let chunk = Self {
            rounds: Table::take_rows(bytes, ROUND)?,
            living: Table::take_rows(bytes, LIVING)?,
            gone: Table::take_rows(bytes, 1)?,
            ended: Table::take_rows(bytes, ENDED)?,
        };
        (bytes.is_empty() && chunk.is_consistent()).then_some(chunk)
    }

    /// Whether the rows of all rounds are those that are there.
    fn is_consistent(&self) -> bool {
        let sum = |place: usize| {
            let counts = (0..self.rounds.rows()).map(|round| self.row_counts(round)[place]);
            counts.fold(0_usize, usize::saturating_add)
        };
        [&self.living, &self.gone, &self.ended]
            .iter()
            .enumerate()
            .all(|(place, table)| sum(place) == table.rows())
    }

    /// Writes it, and removes its journal.
    pub(crate) fn write(&self, connection: &Connection, key: ChunkKey) -> Result<(), StoreError> {
        let (mut living, mut ended) = (Vec::new(), Vec::new());
        let written = [&self.rounds, &self.living, &self.gone]
            .iter()
            .try_for_each(|table| table.push_columns(&mut living));
        written
            .and_then(|()| self.ended.push_columns(&mut ended))
            .ok_or(StoreError::Damaged("a chunk in memory"))?;
        let (first, last) = self.extent_ns();
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO task_chunks (id, base, boot, step_s, first_ns, last_ns, lasts_s, living, ended) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                key.id,
                key.base,
                key.boot,
                key.step_s,
                first,
                last,
                lasts_s(&self.clocks()),
                checksum::seal(&key.of_living(), &living),
                checksum::seal(&key.of_ended(), &ended)
            ])?;
        connection.prepare_cached("DELETE FROM task_journal WHERE chunk = ?1")?.execute([key.id])?;
        Ok(())
    }

    /// From a row of `task_chunks`; `None` if it is damaged.
    pub(crate) fn decode(key: ChunkKey, living: &[u8], ended: &[u8]) -> Option<Self> {
        let (mut living, mut ended) =
            (checksum::open(&key.of_living(), living)?, checksum::open(&key.of_ended(), ended)?);
        let chunk = Self {
            rounds: Table::take_columns(&mut living, ROUND)?,
            living: Table::take_columns(&mut living, LIVING)?,
            gone: Table::take_columns(&mut living, 1)?,
            ended: Table::take_columns(&mut ended, ENDED)?,
        };
        chunk.is_consistent().then_some(chunk)
    }
}

/// What a chunk is found by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkKey {
    pub(crate) id: i64,
    /// The chunk that begins with all tasks, on which this one is based; it may be this one.
    pub(crate) base: i64,
    pub(crate) boot: i64,
    /// Seconds between two rounds of a tier; 0: as they were recorded.
    pub(crate) step_s: i64,
}

impl ChunkKey {
    fn of_living(self) -> [i64; 5] {
        [self.id, self.base, self.boot, self.step_s, 0]
    }

    fn of_ended(self) -> [i64; 5] {
        [self.id, self.base, self.boot, self.step_s, 1]
    }
}

/// The chunks of which only the journal is there, and how many entries are damaged or missing: such an entry ends its chunk.
pub(crate) fn unsealed(connection: &Connection) -> Result<(Vec<(ChunkKey, Chunk)>, u64), StoreError> {
    let mut chunks: Vec<(ChunkKey, Chunk)> = Vec::new();
    let mut damaged = 0;
    let mut statement = connection
        .prepare("SELECT chunk, place, base, boot, entry FROM task_journal ORDER BY chunk, place")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let [id, place, base, boot] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?];
        let key = ChunkKey { id, base, boot, step_s: 0 };
        if chunks.last().is_none_or(|(last, _)| last.id != id) {
            chunks.push((key, Chunk::default()));
        }
        let Some((_, chunk)) = chunks.last_mut() else { continue };
        let entry =
            row.get_ref(4)?.as_blob().ok().and_then(|bytes| checksum::open(&[id, place, base, boot], bytes));
        let round = entry.and_then(Chunk::from_entry);
        let is_next = i64::try_from(chunk.rounds.rows()) == Ok(place);
        match round.filter(|round| is_next && round.rounds.rows() == 1) {
            Some(round) => chunk.append(&round),
            None => damaged += 1,
        }
    }
    chunks.retain(|(_, chunk)| chunk.rounds.rows() > 0);
    Ok((chunks, damaged))
}
