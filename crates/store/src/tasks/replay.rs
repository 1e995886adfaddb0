//! From chunks to a `TaskStore`, round by round as it was filled.

use std::collections::{HashMap, VecDeque};

use facts::task::rounds::{Round, RoundDecoder, RoundSummary, RoundTables};
use facts::task::store::TaskStore;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::chunk::{self, ChunkKey};
use crate::StoreError;
use crate::cgroups;

/// Tasks as they were, from one time on.
#[derive(Debug)]
pub struct TaskReplay<'h> {
    connection: &'h Connection,
    /// Chunks that are still to be read.
    ahead: VecDeque<ChunkKey>,
    /// Chunks that are in the journal alone.
    unsealed: &'h [(ChunkKey, RoundTables)],
    /// The chunk that is being read, and the next of its rounds.
    chunk: RoundTables,
    key: ChunkKey,
    place: usize,
    from_ns: i64,
    to_ns: i64,
    decoder: RoundDecoder,
    store: TaskStore,
    /// Those of the boot that was asked for last.
    cgroups: Option<(i64, HashMap<u64, String>)>,
    damaged: u64,
}

impl<'h> TaskReplay<'h> {
    /// The rounds between two times in nanoseconds since 1970, the last of them included.
    pub(crate) fn new(
        connection: &'h Connection,
        unsealed: &'h [(ChunkKey, RoundTables)],
        from_ns: i64,
        to_ns: i64,
    ) -> Result<Self, StoreError> {
        let mut ahead = VecDeque::new();
        // The round before the first one is needed as well. Not by the order of times: the clock may have been set.
        let base: Option<i64> = connection
            .query_row(
                "SELECT base FROM task_chunks WHERE id <= \
                 max(1, (SELECT min(id) FROM task_chunks WHERE last_ns >= ?1) - 1) ORDER BY id DESC LIMIT 1",
                [from_ns],
                |row| row.get(0),
            )
            .optional()?;
        let mut statement = connection.prepare_cached(
            "SELECT id, base, boot, step_s FROM task_chunks WHERE id >= ?1 \
             AND id <= (SELECT max(id) FROM task_chunks WHERE first_ns <= ?2) ORDER BY id",
        )?;
        let mut rows = statement.query(params![base.unwrap_or(0), to_ns])?;
        while let Some(row) = rows.next()? {
            let key = ChunkKey { id: row.get(0)?, base: row.get(1)?, boot: row.get(2)?, step_s: row.get(3)? };
            ahead.push_back(key);
        }
        let begins_before_end = |(_, chunk): &(ChunkKey, RoundTables)| {
            chunk.rounds.rows() > 0 && chunk.clock(0).realtime.0.cast_signed() <= to_ns
        };
        let last = unsealed.iter().rposition(begins_before_end).map_or(0, |last| last + 1);
        ahead.extend(unsealed[..last].iter().map(|(key, _)| *key));
        Ok(Self {
            connection,
            ahead,
            unsealed,
            chunk: RoundTables::default(),
            key: ChunkKey::default(),
            place: 0,
            from_ns,
            to_ns,
            decoder: RoundDecoder::default(),
            store: TaskStore::default(),
            cgroups: None,
            damaged: 0,
        })
    }

    /// Goes on to the next round. Returns `false` after the last one.
    ///
    /// # Errors
    /// If the history cannot be read. Damaged chunks are left out and counted: the first round after them has no interval.
    pub fn advance(&mut self) -> Result<bool, StoreError> {
        loop {
            while self.place >= self.chunk.rounds.rows() {
                if !self.next_chunk()? {
                    return Ok(false);
                }
            }
            let place = self.place;
            let realtime_ns = self.chunk.round(place, Round::Realtime).cast_signed();
            let is_wanted = (self.from_ns..=self.to_ns).contains(&realtime_ns);
            let is_whole = place == 0 && self.key.base == self.key.id;
            self.place += 1;
            if is_wanted {
                self.decoder.fill(&self.chunk, place, is_whole, &mut self.store);
                return Ok(true);
            }
            self.decoder.skip(&self.chunk, place, is_whole);
            // The first interval begins with the last round before the first one that is wanted.
            let is_last = self.place >= self.chunk.rounds.rows();
            let next_ns = self.chunk.round(self.place, Round::Realtime).cast_signed();
            if is_last || (self.from_ns..=self.to_ns).contains(&next_ns) {
                self.decoder.begin(&self.chunk, place, &mut self.store);
            }
        }
    }

    /// All tasks as of this round, and what each did since the one before.
    pub fn store(&self) -> &TaskStore {
        &self.store
    }

    /// The round.
    pub fn round(&self) -> &RoundSummary {
        self.decoder.summary()
    }

    /// The path of a cgroup, by the id that the tasks of this round have.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn cgroup(&mut self, id: u64) -> Result<Option<&str>, StoreError> {
        if self.cgroups.as_ref().is_none_or(|(boot, _)| *boot != self.key.boot) {
            let (paths, damaged) = cgroups::read(self.connection, self.key.boot)?;
            self.damaged += damaged;
            self.cgroups = Some((self.key.boot, paths));
        }
        Ok(self.cgroups.as_ref().and_then(|(_, paths)| paths.get(&id)).map(String::as_str))
    }

    /// Damaged chunks so far.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    fn next_chunk(&mut self) -> Result<bool, StoreError> {
        let Some(key) = self.ahead.pop_front() else { return Ok(false) };
        let is_next = key.base == key.id || (key.base == self.key.base && key.id == self.key.id + 1);
        let chunk = if is_next { self.load(key)? } else { None };
        match chunk {
            Some(chunk) => (self.chunk, self.key, self.place) = (chunk, key, 0),
            None => {
                self.damaged += 1;
                (self.chunk, self.place) = (RoundTables::default(), 0);
                // What is based on it cannot be read either.
                while self.ahead.front().is_some_and(|next| next.base == key.base && next.id != next.base) {
                    self.ahead.pop_front();
                    self.damaged += 1;
                }
                self.decoder.clear();
            }
        }
        Ok(true)
    }

    fn load(&self, key: ChunkKey) -> Result<Option<RoundTables>, StoreError> {
        if let Some((_, chunk)) = self.unsealed.iter().find(|(unsealed, _)| *unsealed == key) {
            return Ok(Some(chunk.clone()));
        }
        Ok(chunk::read(self.connection, key.id)?.and_then(|(_, chunk)| chunk))
    }
}
