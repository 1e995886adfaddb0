//! From chunks to a `TaskStore`, round by round as it was filled.

use std::collections::{HashMap, VecDeque};

use facts::sample::Clock;
use facts::task::exit_record::ExitRecord;
use facts::task::store::TaskStore;
use facts::task::unrecorded::Unrecorded;
use facts::unit::Nanos;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::chunk::{Chunk, ChunkKey, Round};
use super::fields::{self, ENDED, Fields, LIVING};
use crate::StoreError;

/// Tasks as they were, from one time on.
#[derive(Debug)]
pub struct TaskReplay<'h> {
    connection: &'h Connection,
    /// Chunks that are still to be read.
    ahead: VecDeque<ChunkKey>,
    /// Chunks that are in the journal alone.
    unsealed: &'h [(ChunkKey, Chunk)],
    /// The chunk that is being read, and the next of its rounds.
    chunk: Chunk,
    key: ChunkKey,
    place: usize,
    /// The numbers of each living task.
    living: HashMap<u32, Fields>,
    from_ns: i64,
    to_ns: i64,
    store: TaskStore,
    pending: Vec<ExitRecord>,
    unrecorded: Unrecorded,
    round: TaskRound,
    /// Whether the store was filled before.
    has_begun: bool,
    damaged: u64,
}

/// What a round says beside its tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskRound {
    /// When it was.
    pub clock: Clock,
    /// CPU time of ended tasks that no exit record contains; `None` if it was not counted.
    pub unrecorded_cpu: Option<Nanos>,
    /// CPU time of threads that started and ended within the interval and of which there is no record.
    pub ended_threads_cpu: Nanos,
    /// Exit records that were lost.
    pub lost_exits: u64,
    /// Exit records that were left out because there were too many, and their CPU time.
    pub left_out: (u64, Nanos),
}

impl<'h> TaskReplay<'h> {
    /// The rounds between two times in nanoseconds since 1970, the last of them included.
    pub(crate) fn new(
        connection: &'h Connection,
        unsealed: &'h [(ChunkKey, Chunk)],
        from_ns: i64,
        to_ns: i64,
    ) -> Result<Self, StoreError> {
        let mut ahead = VecDeque::new();
        // The round before the first one is needed as well: the base of the last chunk that began before.
        let base: Option<i64> = connection
            .query_row(
                "SELECT base FROM task_chunks WHERE first_ns < ?1 ORDER BY id DESC LIMIT 1",
                [from_ns],
                |row| row.get(0),
            )
            .optional()?;
        let mut statement = connection.prepare_cached(
            "SELECT id, base, boot, step_s FROM task_chunks WHERE id >= ?1 AND first_ns <= ?2 ORDER BY id",
        )?;
        let mut rows = statement.query(params![base.unwrap_or(0), to_ns])?;
        while let Some(row) = rows.next()? {
            let key = ChunkKey { id: row.get(0)?, base: row.get(1)?, boot: row.get(2)?, step_s: row.get(3)? };
            ahead.push_back(key);
        }
        ahead.extend(unsealed.iter().map(|(key, _)| *key));
        Ok(Self {
            connection,
            ahead,
            unsealed,
            chunk: Chunk::default(),
            key: ChunkKey::default(),
            place: 0,
            living: HashMap::new(),
            from_ns,
            to_ns,
            store: TaskStore::default(),
            pending: Vec::new(),
            unrecorded: Unrecorded::default(),
            round: TaskRound::default(),
            has_begun: false,
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
            if realtime_ns > self.to_ns {
                self.place = usize::MAX;
                self.ahead.clear();
                return Ok(false);
            }
            let is_wanted = realtime_ns >= self.from_ns;
            // The tables are read from their beginning; what is before this round was taken.
            self.place += 1;
            if is_wanted {
                self.fill(place);
                return Ok(true);
            }
            self.skip(place);
        }
    }

    /// All tasks as of this round, and what each did since the one before.
    pub fn store(&self) -> &TaskStore {
        &self.store
    }

    /// The round.
    pub fn round(&self) -> &TaskRound {
        &self.round
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
                (self.chunk, self.place) = (Chunk::default(), 0);
                // What is based on it cannot be read either.
                while self.ahead.front().is_some_and(|next| next.base == key.base && next.id != next.base) {
                    self.ahead.pop_front();
                    self.damaged += 1;
                }
                self.start_over();
            }
        }
        Ok(true)
    }

    fn load(&self, key: ChunkKey) -> Result<Option<Chunk>, StoreError> {
        if let Some((_, chunk)) = self.unsealed.iter().find(|(unsealed, _)| *unsealed == key) {
            return Ok(Some(chunk.clone()));
        }
        let mut statement =
            self.connection.prepare_cached("SELECT living, ended FROM task_chunks WHERE id = ?1")?;
        let decode = |row: &rusqlite::Row<'_>| {
            let blob = |place| row.get_ref(place).map(|value| value.as_blob().unwrap_or_default());
            Ok(Chunk::decode(key, blob(0)?, blob(1)?))
        };
        Ok(statement.query_row([key.id], decode).optional()?.flatten())
    }

    fn start_over(&mut self) {
        self.living.clear();
        self.pending.clear();
        self.store = TaskStore::default();
        self.unrecorded = Unrecorded::default();
        self.has_begun = false;
    }

    /// The first rows of a round in the tables of living, gone and ended tasks.
    fn first_rows(&self, place: usize) -> [usize; 3] {
        (0..place).map(|round| self.chunk.row_counts(round)).fold([0; 3], |mut first, counts| {
            first.iter_mut().zip(counts).for_each(|(first, count)| *first += count);
            first
        })
    }

    /// Takes a round's rows over into `living`. Returns the pids of tasks that are gone and of those that changed.
    fn apply(&mut self, place: usize) -> (Vec<u32>, Vec<u32>) {
        let [first_living, first_gone, _] = self.first_rows(place);
        let [living, gone, _] = self.chunk.row_counts(place);
        let pid = |number: u64| u32::try_from(number).unwrap_or(0);
        let mut gone: Vec<u32> =
            (first_gone..first_gone + gone).map(|row| pid(self.chunk.gone.get(row, 0))).collect();
        if place == 0 && self.key.base == self.key.id {
            // A base has all tasks.
            let mut all = std::mem::take(&mut self.living);
            for row in first_living..first_living + living {
                all.remove(&pid(self.chunk.living.get(row, 0)));
            }
            gone.extend(all.into_keys());
        }
        for pid in &gone {
            self.living.remove(pid);
        }
        let mut changed = Vec::with_capacity(living);
        for row in first_living..first_living + living {
            let pid = pid(self.chunk.living.get(row, 0));
            let fields = self.living.entry(pid).or_insert([0; LIVING]);
            for (column, (number, difference)) in
                fields.iter_mut().zip(self.chunk.living.row(row)).enumerate()
            {
                *number = if column == 0 { difference } else { number.wrapping_add(difference) };
            }
            changed.push(pid);
        }
        (gone, changed)
    }

    /// A round before the first one that is wanted.
    fn skip(&mut self, place: usize) {
        self.apply(place);
        let next_ns = (place + 1 < self.chunk.rounds.rows())
            .then(|| self.chunk.round(place + 1, Round::Realtime).cast_signed());
        // The last one before it is where the first interval begins.
        if next_ns.is_none_or(|next_ns| next_ns >= self.from_ns) {
            self.start_store(place);
        }
    }

    /// Fills a new store with all tasks of a round.
    fn start_store(&mut self, place: usize) {
        self.store = TaskStore::default();
        self.unrecorded = Unrecorded::default();
        self.pending.clear();
        let clock = self.chunk.clock(place);
        self.store.begin(clock);
        self.living.values().for_each(|fields| self.store.put(&fields::to_row(fields, clock.boottime)));
        self.finish(place);
        self.has_begun = true;
    }

    /// A round that is wanted.
    fn fill(&mut self, place: usize) {
        let (gone, changed) = self.apply(place);
        let is_first = self.chunk.round(place, Round::IsFirst) == 1;
        if is_first || !self.has_begun {
            self.start_store(place);
            return;
        }
        let clock = self.chunk.clock(place);
        self.store.begin(clock);
        gone.iter().for_each(|pid| self.store.remove(*pid));
        for pid in changed {
            if let Some(fields) = self.living.get(&pid) {
                self.store.put(&fields::to_row(fields, clock.boottime));
            }
        }
        let [_, _, first] = self.first_rows(place);
        let [_, _, count] = self.chunk.row_counts(place);
        for row in first..first + count {
            let mut numbers = [0; ENDED];
            numbers.iter_mut().zip(self.chunk.ended.row(row)).for_each(|(to, from)| *to = from);
            self.pending.push(fields::to_ended(&numbers, clock.boottime));
        }
        self.finish(place);
    }

    fn finish(&mut self, place: usize) {
        let number = |column| self.chunk.round(place, column);
        self.store.ended_on_cpu = number(Round::EndedOnCpu).checked_sub(1).map(Nanos);
        self.store.finish(&mut self.pending);
        self.round = TaskRound {
            clock: self.chunk.clock(place),
            unrecorded_cpu: self.unrecorded.advance(&self.store),
            ended_threads_cpu: Nanos(number(Round::EndedThreadsCpu)),
            lost_exits: number(Round::LostExits),
            left_out: (number(Round::LeftOut), Nanos(number(Round::LeftOutCpu))),
        };
    }
}
