//! From chunks to a `TaskStore`, round by round as it was filled.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use facts::task::rounds::{Round, RoundDecoder, RoundSummary, RoundTables};
use facts::task::store::TaskStore;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::chunk::{self, ChunkKey};
use crate::StoreError;
use crate::task_names::{self, Named};

/// The names of a boot, by its number.
type NamesOfBoot = Option<(i64, HashMap<Named, String>)>;

/// The names of the tasks of a round.
#[derive(Debug)]
pub struct TaskNames<'r> {
    connection: &'r Connection,
    boot: i64,
    /// The names that were read last.
    names: &'r mut NamesOfBoot,
    damaged: &'r mut u64,
}

fn name_of(names: &NamesOfBoot, named: Named) -> Option<&str> {
    names.as_ref().and_then(|(_, names)| names.get(&named)).map(String::as_str)
}

impl TaskNames<'_> {
    /// Returns the number of the boot in which these names are valid.
    pub fn boot(&self) -> i64 {
        self.boot
    }

    /// Returns the path of a cgroup, or the command line of a process; `None` if it was not recorded.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn name(&mut self, named: Named) -> Result<Option<&str>, StoreError> {
        if self.names.as_ref().is_none_or(|(boot, _)| *boot != self.boot) {
            let (names, damaged) = task_names::read(self.connection, self.boot)?;
            *self.damaged += damaged;
            *self.names = Some((self.boot, names));
        }
        Ok(name_of(self.names, named))
    }
}

/// Tasks as they were, from one time on.
#[derive(Debug)]
pub struct TaskReplay<'h> {
    connection: &'h Connection,
    /// Chunks that are still to be read, and whether a round of them may be wanted.
    ahead: VecDeque<(ChunkKey, bool)>,
    /// Chunks that are in the journal alone.
    unsealed: &'h [(ChunkKey, RoundTables)],
    /// The chunk before the one that is being read, if this continues it.
    before: Option<Cow<'h, RoundTables>>,
    /// The chunk that is being read, and the next of its rounds.
    chunk: Cow<'h, RoundTables>,
    key: ChunkKey,
    place: usize,
    from_ns: i64,
    to_ns: i64,
    decoder: RoundDecoder,
    /// The last round was wanted, so that the store is of it.
    is_filled: bool,
    store: TaskStore,
    names: NamesOfBoot,
    damaged: u64,
}

impl<'h> TaskReplay<'h> {
    /// The rounds between two times in nanoseconds since 1970, the last of them included. `damaged` entries of the journal are left out.
    pub(crate) fn new(
        connection: &'h Connection,
        unsealed: &'h [(ChunkKey, RoundTables)],
        damaged: u64,
        from_ns: i64,
        to_ns: i64,
    ) -> Result<Self, StoreError> {
        let mut ahead = VecDeque::new();
        // The round before the first one is needed as well, which is in the last chunk if the first one is in the journal. Not by the
        // order of times: the clock may have been set.
        let base: Option<i64> = connection
            .query_row(
                "SELECT base FROM task_chunks WHERE id <= \
                 max(1, ifnull((SELECT min(id) - 1 FROM task_chunks WHERE last_ns >= ?1), 1 << 62)) \
                 ORDER BY id DESC LIMIT 1",
                [from_ns],
                |row| row.get(0),
            )
            .optional()?;
        let mut statement = connection.prepare_cached(
            "SELECT id, base, boot, step_s, last_ns >= ?3 AND first_ns <= ?2 FROM task_chunks WHERE id >= ?1 \
             AND id <= (SELECT max(id) FROM task_chunks WHERE first_ns <= ?2) ORDER BY id",
        )?;
        let mut rows = statement.query(params![base.unwrap_or(0), to_ns, from_ns])?;
        while let Some(row) = rows.next()? {
            let key = ChunkKey { id: row.get(0)?, base: row.get(1)?, boot: row.get(2)?, step_s: row.get(3)? };
            ahead.push_back((key, row.get(4)?));
        }
        let begins_before_end = |(_, chunk): &(ChunkKey, RoundTables)| {
            chunk.rounds.rows() > 0 && chunk.clock(0).realtime.0.cast_signed() <= to_ns
        };
        let last = unsealed.iter().rposition(begins_before_end).map_or(0, |last| last + 1);
        ahead.extend(unsealed[..last].iter().map(|(key, _)| (*key, true)));
        Ok(Self {
            connection,
            ahead,
            unsealed,
            before: None,
            chunk: Cow::default(),
            key: ChunkKey::default(),
            place: 0,
            from_ns,
            to_ns,
            decoder: RoundDecoder::default(),
            is_filled: false,
            store: TaskStore::default(),
            names: None,
            damaged,
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
            if !is_wanted {
                self.decoder.skip(&self.chunk, place, is_whole);
                self.is_filled = false;
                continue;
            }
            // The first interval begins with the round before.
            let before = match place.checked_sub(1) {
                Some(before) => Some((&*self.chunk, before)),
                None => self.before.as_deref().map(|chunk| (chunk, chunk.rounds.rows() - 1)),
            };
            if let Some((tables, place)) = before.filter(|_| !self.is_filled) {
                self.decoder.begin(tables, place, &mut self.store);
            }
            self.decoder.fill(&self.chunk, place, is_whole, &mut self.store);
            self.is_filled = true;
            return Ok(true);
        }
    }

    /// All tasks as of this round, and what each did since the one before.
    pub fn store(&self) -> &TaskStore {
        &self.store
    }

    /// Turns this into the store of all tasks as of this round.
    pub fn into_store(self) -> TaskStore {
        self.store
    }

    /// The number of this round's boot; [`crate::History::boot_ids`] has its id.
    pub fn boot(&self) -> i64 {
        self.key.boot
    }

    /// The round.
    pub fn round(&self) -> &RoundSummary {
        self.decoder.summary()
    }

    /// The path of a cgroup that a task of this round has, or the command line of a process; `None` if it was not recorded.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn name(&mut self, named: Named) -> Result<Option<&str>, StoreError> {
        self.store_and_names().1.name(named)?;
        Ok(name_of(&self.names, named))
    }

    /// Returns the tasks as of this round, and their names, which are read when they are asked for.
    pub fn store_and_names(&mut self) -> (&TaskStore, TaskNames<'_>) {
        let (connection, boot) = (self.connection, self.key.boot);
        let names = TaskNames { connection, boot, names: &mut self.names, damaged: &mut self.damaged };
        (&self.store, names)
    }

    /// Damaged chunks so far, and damaged rounds of the journal.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    fn next_chunk(&mut self) -> Result<bool, StoreError> {
        let Some((key, is_wanted)) = self.ahead.pop_front() else { return Ok(false) };
        // Their numbers have no gaps.
        let is_gap = self.key.id > 0 && key.id != self.key.id + 1;
        if is_gap {
            self.damaged += 1;
            self.decoder.clear();
        }
        let is_next = key.base == key.id || (key.base == self.key.base && key.id == self.key.id + 1);
        let chunk = if is_next { self.load(key, is_wanted)? } else { None };
        match chunk {
            Some(chunk) => {
                let before = std::mem::replace(&mut self.chunk, chunk);
                self.before = Some(before).filter(|before| before.rounds.rows() > 0 && !is_gap);
                (self.key, self.place) = (key, 0);
            }
            None => {
                self.damaged += u64::from(!is_gap);
                (self.chunk, self.key, self.place, self.before) = (Cow::default(), key, 0, None);
                // What is based on it cannot be read either.
                while self
                    .ahead
                    .front()
                    .is_some_and(|(next, _)| next.base == key.base && next.id != next.base)
                {
                    self.key = self.ahead.pop_front().map_or(self.key, |(next, _)| next);
                    self.damaged += 1;
                }
                self.decoder.clear();
            }
        }
        Ok(true)
    }

    fn load(&self, key: ChunkKey, is_wanted: bool) -> Result<Option<Cow<'h, RoundTables>>, StoreError> {
        if let Some((_, chunk)) = self.unsealed.iter().find(|(unsealed, _)| *unsealed == key) {
            return Ok(Some(Cow::Borrowed(chunk)));
        }
        let chunk = match is_wanted {
            true => chunk::read(self.connection, key.id)?,
            false => chunk::read_living(self.connection, key.id)?,
        };
        Ok(chunk.and_then(|(_, chunk)| chunk).map(Cow::Owned))
    }
}
