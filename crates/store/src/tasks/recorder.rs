//! From rounds of a `TaskStore` to chunks.

use std::collections::{HashMap, VecDeque};

use facts::task::store::TaskStore;
use rusqlite::{Connection, params};

use super::chunk::{Chunk, ChunkKey, ROUND, Round};
use super::fields::{self, Fields, LIVING};
use crate::StoreError;
use crate::checksum;

/// A chunk has at most so many rounds, and is closed by the round with which it has so many rows: they are kept in memory.
const MOST_ROUNDS: usize = 60;
const MOST_ROWS: usize = 8192;
/// Rounds between two that contain all tasks.
const BASE_ROUNDS: usize = 600;
/// Exit records of a round that are recorded one by one.
const MOST_ENDED: usize = 65_536;
/// Chunks that wait for room on the disk.
const MOST_WAITING: usize = 64;

/// A round of all tasks.
#[derive(Clone, Copy, Debug)]
pub struct TaskTick<'a> {
    /// The tasks, after their round was finished.
    pub store: &'a TaskStore,
    /// Exit records that were lost since the recorder started.
    pub lost_exits: u64,
}

/// Records tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskRecorder {
    /// The numbers of each living task, as they were last recorded. Empty before a base.
    last: HashMap<u32, Fields>,
    key: ChunkKey,
    open: Chunk,
    /// The open chunk's rounds as entries of the journal, and how many of them are written.
    entries: Vec<Vec<u8>>,
    written: usize,
    closed: VecDeque<(ChunkKey, Chunk)>,
    rounds_since_base: usize,
    has_begun: bool,
    lost_exits: u64,
    /// Rounds that were given up because nothing could be written.
    pub(crate) lost_rounds: u64,
}

impl TaskRecorder {
    /// Goes on after this chunk.
    pub(crate) fn after(id: i64) -> Self {
        Self { key: ChunkKey { id, ..ChunkKey::default() }, ..Self::default() }
    }

    /// Adds a round.
    pub(crate) fn push(&mut self, tick: TaskTick<'_>, boot: i64) {
        let is_base = self.last.is_empty() || self.rounds_since_base >= BASE_ROUNDS || boot != self.key.boot;
        let rows = self.open.living.rows() + self.open.ended.rows();
        if is_base || self.open.rounds.rows() >= MOST_ROUNDS || rows >= MOST_ROWS {
            self.close();
            self.key = ChunkKey { id: self.key.id + 1, boot, ..self.key };
        }
        if is_base {
            self.key.base = self.key.id;
            self.last.clear();
            self.rounds_since_base = 0;
        }
        self.rounds_since_base += 1;
        let round = self.round(tick, is_base);
        self.has_begun = true;
        self.lost_exits = tick.lost_exits;
        self.entries.push(round.entry());
        self.open.append(&round);
    }

    fn round(&mut self, tick: TaskTick<'_>, is_base: bool) -> Chunk {
        let store = tick.store;
        let mut chunk = Chunk::default();
        if is_base {
            store.rows().for_each(|row| self.push_row(&mut chunk, row));
        } else {
            for key in store.gone() {
                let pid = u64::from(key.pid);
                // Another task may have its pid already, and this one may never have been recorded.
                if self.last.get(&key.pid).is_some_and(|fields| fields[1] == key.start.0) {
                    self.last.remove(&key.pid);
                    chunk.gone.push(&[pid]);
                }
            }
            store.changed_rows().into_iter().for_each(|row| self.push_row(&mut chunk, row));
        }
        let clock = store.clock();
        // What ended before the first round belongs to no interval.
        let ended = || store.ended().filter(|_| self.has_begun);
        for one in ended().take(MOST_ENDED) {
            chunk.ended.push(&fields::of_ended(one.record(), clock.boottime));
        }
        let left_out = || ended().skip(MOST_ENDED);
        let mut round = [0; ROUND];
        for (column, number) in [
            (Round::Realtime, clock.realtime.0),
            (Round::Boottime, clock.boottime.0),
            (Round::Monotonic, clock.monotonic.0),
            (Round::Living, chunk.living.rows() as u64),
            (Round::Gone, chunk.gone.rows() as u64),
            (Round::Ended, chunk.ended.rows() as u64),
            (Round::EndedOnCpu, store.ended_on_cpu.map_or(0, |cpu| cpu.0 + 1)),
            (Round::LostExits, tick.lost_exits.saturating_sub(self.lost_exits)),
            (Round::IsFirst, u64::from(!self.has_begun)),
            (Round::LeftOut, left_out().count() as u64),
            (Round::LeftOutCpu, left_out().filter_map(|one| one.cpu_ns()).sum()),
            (Round::EndedThreadsCpu, store.ended_threads().values().map(|cpu| cpu.0).sum()),
        ] {
            round[column as usize] = number;
        }
        chunk.rounds.push(&round);
        chunk
    }

    fn push_row(&mut self, chunk: &mut Chunk, row: &facts::task::TaskRow) {
        let now = fields::of_row(row);
        let before = self.last.entry(row.key.pid).or_insert([0; LIVING]);
        let mut difference = now;
        difference.iter_mut().zip(&*before).for_each(|(now, before)| *now = now.wrapping_sub(*before));
        // The pid is what the row is found by.
        difference[0] = now[0];
        *before = now;
        chunk.living.push(&difference);
    }

    /// Ends the chunk that is open.
    pub(crate) fn close(&mut self) {
        self.entries.clear();
        self.written = 0;
        if self.open.rounds.rows() > 0 {
            self.closed.push_back((self.key, std::mem::take(&mut self.open)));
        }
        if self.closed.len() > MOST_WAITING {
            // What follows is based on it, up to the next base.
            let lost = self.closed.drain(..).map(|(_, chunk)| chunk.rounds.rows() as u64).sum::<u64>();
            self.lost_rounds += lost;
            self.last.clear();
        }
    }

    /// Writes what is not written yet. Returns what [`Self::commit`] needs.
    pub(crate) fn write(&self, connection: &Connection) -> Result<(usize, usize), StoreError> {
        for (key, chunk) in &self.closed {
            chunk.write(connection, *key)?;
        }
        for (place, entry) in self.entries.iter().enumerate().skip(self.written) {
            let ChunkKey { id, base, boot, .. } = self.key;
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO task_journal (chunk, place, base, boot, entry) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![id, place, base, boot, checksum::seal(&[id, place, base, boot], entry)])?;
        }
        Ok((self.closed.len(), self.entries.len()))
    }

    /// The transaction was committed.
    pub(crate) fn commit(&mut self, (closed, written): (usize, usize)) {
        self.closed.drain(..closed);
        self.written = written;
    }

    /// Goes on in another file.
    pub(crate) fn begin_again(&mut self) {
        self.close();
        self.last.clear();
    }
}
