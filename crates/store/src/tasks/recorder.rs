//! From rounds of a `TaskStore` to chunks.

use std::collections::VecDeque;

use facts::task::rounds::{RoundEncoder, RoundTables, Scope};
use facts::task::store::TaskStore;
use rusqlite::{Connection, params};

use super::chunk::{self, ChunkKey};
use crate::StoreError;
use crate::checksum;

/// A chunk has at most so many rounds, and is closed by the round with which it has so many rows: they are kept in memory.
const MAX_ROUNDS: usize = 60;
const MAX_ROWS: usize = 8192;
/// Rounds between two that contain all tasks.
const BASE_ROUNDS: usize = 600;
/// The most chunks that wait for space on the disk, and their most bytes in memory.
const MAX_WAITING: usize = 64;
const MAX_WAITING_BYTES: usize = 32 << 20;
/// The most chunks of one transaction: if it fails, the work for it was in vain.
const CHUNKS_A_WRITE: usize = 4;

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
    encoder: RoundEncoder,
    key: ChunkKey,
    open: RoundTables,
    /// The open chunk's rounds as entries of the journal, and how many of them are written.
    entries: Vec<Vec<u8>>,
    written: usize,
    closed: VecDeque<(ChunkKey, RoundTables)>,
    /// Chunks whose journal is to be deleted.
    given_up: Vec<i64>,
    rounds_since_base: usize,
    /// Rounds that were given up because nothing could be written.
    pub(crate) lost_rounds: u64,
}

impl TaskRecorder {
    /// Goes on after this chunk.
    pub(crate) fn after(id: i64) -> Self {
        Self { key: ChunkKey { id, ..ChunkKey::default() }, ..Self::default() }
    }

    /// Adds a round. Returns whether it is a base.
    pub(crate) fn push(&mut self, tick: TaskTick<'_>, boot: i64) -> bool {
        let is_other = self.rounds_since_base >= BASE_ROUNDS || boot != self.key.boot;
        let rows = self.open.living.rows() + self.open.ended.rows();
        let is_full = self.open.rounds.rows() >= MAX_ROUNDS || rows >= MAX_ROWS;
        // Readers see by the times of chunks that the clock was set back.
        let was_set_back = self
            .open
            .rounds
            .rows()
            .checked_sub(1)
            .is_some_and(|last| self.open.clock(last).realtime > tick.store.clock().realtime);
        if is_other || is_full || was_set_back || self.encoder.is_empty() {
            self.close();
            self.key = ChunkKey { id: self.key.id + 1, boot, ..self.key };
        }
        // Closing may have given up what this would be based on.
        let is_base = is_other || self.encoder.is_empty();
        if is_base {
            self.key.base = self.key.id;
            self.rounds_since_base = 0;
        }
        self.rounds_since_base += 1;
        let round = self.encoder.encode(tick.store, tick.lost_exits, is_base, Scope::All);
        self.entries.push(round.encode());
        self.open.append(&round);
        is_base
    }

    /// Ends the chunk that is open.
    pub(crate) fn close(&mut self) {
        self.entries.clear();
        self.written = 0;
        if self.open.rounds.rows() > 0 {
            self.closed.push_back((self.key, std::mem::take(&mut self.open)));
        }
        let bytes: usize = self.closed.iter().map(|(_, chunk)| chunk.memory_bytes()).sum();
        // One chunk of a large machine may be larger.
        if self.closed.len() > MAX_WAITING || self.closed.len() > 1 && bytes > MAX_WAITING_BYTES {
            // What follows is based on it, up to the next base.
            self.give_up_closed();
        }
    }

    fn give_up_closed(&mut self) {
        for (key, chunk) in self.closed.drain(..) {
            self.lost_rounds += chunk.rounds.rows() as u64;
            self.given_up.push(key.id);
        }
        self.encoder.clear();
    }

    /// Returns whether anything is not written yet.
    pub(crate) fn has_unwritten(&self) -> bool {
        !self.closed.is_empty() || self.written < self.entries.len()
    }

    /// Writes what is not written yet, or a part of it. Returns what [`Self::commit`] needs.
    pub(crate) fn write(&self, connection: &Connection) -> Result<(usize, usize), StoreError> {
        for id in &self.given_up {
            connection.prepare_cached("DELETE FROM task_journal WHERE chunk = ?1")?.execute([id])?;
        }
        for (key, chunk) in self.closed.iter().take(CHUNKS_A_WRITE) {
            chunk::write(chunk, connection, *key)?;
        }
        if self.closed.len() > CHUNKS_A_WRITE {
            // The rounds in the journal are based on the remaining chunks.
            return Ok((CHUNKS_A_WRITE, self.written));
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
        self.given_up.clear();
        self.written = written;
    }

    /// Goes on in another file, which has nothing that what is in memory is based on.
    pub(crate) fn begin_again(&mut self) {
        self.close();
        self.give_up_closed();
        self.given_up.clear();
    }
}
