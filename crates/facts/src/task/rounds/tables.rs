//! Rounds of a task store as tables.

use super::fields::{ENDED, LIVING};
use super::table::Table;
use crate::sample::Clock;
use crate::unit::Nanos;

/// A number of a round, by its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The three clocks in nanoseconds.
    Realtime,
    /// Since boot, suspends included.
    Boottime,
    /// Since boot, suspends not included.
    Monotonic,
    /// How many rows of the table of living tasks belong to it.
    Living,
    /// How many rows of the table of tasks that are gone belong to it.
    Gone,
    /// How many rows of the table of exit records belong to it.
    Ended,
    /// CPU time of all tasks that ended since the reader was opened, and 1; 0 if that is not counted.
    EndedOnCpu,
    /// Exit records that were lost.
    LostExits,
    /// 1 if nothing is known of the time before it.
    IsFirst,
    /// Exit records that were left out because there were too many.
    LeftOut,
    /// Their CPU time in nanoseconds.
    LeftOutCpu,
    /// CPU time in nanoseconds of threads that no exit record reports.
    EndedThreadsCpu,
}

/// Columns of a round.
pub const ROUND: usize = Round::EndedThreadsCpu as usize + 1;

/// Rounds, and the rows of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTables {
    /// A row for each round: [`Round`].
    pub rounds: Table,
    /// Differences from the row that the same task had before, number by number (`fields`); in a round that has all tasks, from 0.
    pub living: Table,
    /// Pids.
    pub gone: Table,
    /// Exit records.
    pub ended: Table,
}

impl Default for RoundTables {
    fn default() -> Self {
        Self {
            rounds: Table::new(ROUND),
            living: Table::new(LIVING),
            gone: Table::new(1),
            ended: Table::new(ENDED),
        }
    }
}

impl RoundTables {
    /// Adds the rounds of another one.
    pub fn append(&mut self, other: &Self) {
        self.rounds.append(&other.rounds);
        self.living.append(&other.living);
        self.gone.append(&other.gone);
        self.ended.append(&other.ended);
    }

    /// Returns their size in memory.
    pub fn memory_bytes(&self) -> usize {
        [&self.rounds, &self.living, &self.gone, &self.ended].into_iter().map(Table::memory_bytes).sum()
    }

    /// A number of a round.
    pub fn round(&self, round: usize, column: Round) -> u64 {
        self.rounds.get(round, column as usize)
    }

    /// How many rows a round has in the tables of living, gone and ended tasks.
    pub fn row_counts(&self, round: usize) -> [usize; 3] {
        [Round::Living, Round::Gone, Round::Ended]
            .map(|column| usize::try_from(self.round(round, column)).unwrap_or(usize::MAX))
    }

    /// When a round was.
    pub fn clock(&self, round: usize) -> Clock {
        let [realtime, boottime, monotonic] = [Round::Realtime, Round::Boottime, Round::Monotonic]
            .map(|column| Nanos(self.round(round, column)));
        Clock { monotonic, boottime, realtime }
    }

    /// When all of them were.
    pub fn clocks(&self) -> Vec<Clock> {
        (0..self.rounds.rows()).map(|round| self.clock(round)).collect()
    }

    /// As bytes, row by row.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for table in [&self.rounds, &self.living, &self.gone, &self.ended] {
            table.push_rows(&mut bytes);
        }
        bytes
    }

    /// From what [`Self::encode`] returned; `None` if the bytes are other ones.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let tables = Self {
            rounds: Table::take_rows(bytes, ROUND)?,
            living: Table::take_rows(bytes, LIVING)?,
            gone: Table::take_rows(bytes, 1)?,
            ended: Table::take_rows(bytes, ENDED)?,
        };
        (bytes.is_empty() && tables.is_consistent()).then_some(tables)
    }

    /// Lets no round have exit records.
    pub fn leave_out_ended(&mut self) {
        self.ended = Table::new(ENDED);
        let mut columns = self.rounds.columns().to_vec();
        columns.iter_mut().skip(Round::Ended as usize).take(1).for_each(|column| column.fill(0));
        self.rounds = Table::from_columns(columns, self.rounds.rows());
    }

    /// Returns true if the rows of all rounds are those that are there.
    pub fn is_consistent(&self) -> bool {
        let sum = |place: usize| {
            let counts = (0..self.rounds.rows()).map(|round| self.row_counts(round)[place]);
            counts.fold(0_usize, usize::saturating_add)
        };
        let tables = [&self.living, &self.gone, &self.ended];
        tables.iter().enumerate().all(|(place, table)| sum(place) == table.rows())
    }
}
