//! From a task store to rounds.

use foldhash::HashMap;

use super::fields::{self, Fields, LIVING};
use super::tables::{ROUND, Round, RoundTables};
use crate::task::TaskRow;
use crate::task::store::TaskStore;

/// Exit records of a round that are encoded one by one.
const MAX_ENDED: usize = 65_536;

/// Whose tasks are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The tasks of all users.
    All,
    /// The tasks of the user with this id: nothing of others', neither in rows nor in sums.
    User(u32),
}

impl Scope {
    /// Returns whether a task is one of them.
    pub fn contains(self, row: &TaskRow) -> bool {
        match self {
            Self::All => true,
            Self::User(uid) => row.uid == Some(uid),
        }
    }
}

/// Encodes what each round of a store changed.
#[derive(Debug, Default)]
pub struct RoundEncoder {
    /// The numbers of each living task, as they were last encoded.
    last: HashMap<u32, Fields>,
    has_begun: bool,
    lost_exits: u64,
    /// The last round's numbers.
    round: [u64; ROUND],
}

impl RoundEncoder {
    /// Returns true if it knows no tasks: the next round must have all.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Forgets all tasks, so that the next round has all of them.
    pub fn clear(&mut self) {
        self.last.clear();
    }

    /// Encodes the round that the store has finished: what changed, or all tasks. `lost_exits` are the exit records that were lost so far.
    pub fn encode(
        &mut self,
        store: &TaskStore,
        lost_exits: u64,
        is_whole: bool,
        scope: Scope,
    ) -> RoundTables {
        let mut tables = RoundTables::default();
        if is_whole {
            self.last.clear();
            store.rows().filter(|row| scope.contains(row)).for_each(|row| self.push_row(&mut tables, row));
        } else {
            for key in store.gone() {
                // Another task may have its pid already, and this one may never have been encoded.
                if self.last.get(&key.pid).is_some_and(|fields| fields::start(fields) == key.start) {
                    self.last.remove(&key.pid);
                    tables.gone.push(&[key.pid.into()]);
                }
            }
            for row in store.changed_rows() {
                if scope.contains(row) {
                    self.push_row(&mut tables, row);
                } else if self.last.remove(&row.key.pid).is_some() {
                    tables.gone.push(&[row.key.pid.into()]);
                }
            }
        }
        // What ended before the first round belongs to no interval.
        let ended = || store.ended().filter(|one| self.has_begun && scope.contains(one.row()));
        for one in ended().take(MAX_ENDED) {
            tables.ended.push(&fields::of_ended(one.record(), store.clock().boottime));
        }
        let left_out = || ended().skip(MAX_ENDED);
        let left_out = (left_out().count() as u64, left_out().filter_map(|one| one.cpu_ns()).sum());
        self.push_round(&mut tables, store, lost_exits, left_out, scope);
        tables
    }

    /// All tasks as they were last encoded, for a decoder that begins with this round.
    pub fn all(&self) -> RoundTables {
        let mut tables = RoundTables::default();
        self.last.values().for_each(|fields| tables.living.push(fields));
        let mut round = self.round;
        for (column, number) in [
            (Round::Living, self.last.len() as u64),
            (Round::Gone, 0),
            (Round::Ended, 0),
            (Round::IsFirst, 1),
        ] {
            round[column as usize] = number;
        }
        tables.rounds.push(&round);
        tables
    }

    /// Adds the numbers of the round itself.
    fn push_round(
        &mut self,
        tables: &mut RoundTables,
        store: &TaskStore,
        lost_exits: u64,
        left_out: (u64, u64),
        scope: Scope,
    ) {
        let clock = store.clock();
        let mut round = [0; ROUND];
        for (column, number) in [
            (Round::Realtime, clock.realtime.0),
            (Round::Boottime, clock.boottime.0),
            (Round::Monotonic, clock.monotonic.0),
            (Round::Living, tables.living.rows() as u64),
            (Round::Gone, tables.gone.rows() as u64),
            (Round::Ended, tables.ended.rows() as u64),
            (Round::EndedOnCpu, store.ended_on_cpu.map_or(0, |cpu| cpu.0 + 1)),
            (Round::LostExits, lost_exits.saturating_sub(self.lost_exits)),
            (Round::IsFirst, u64::from(!self.has_begun)),
            (Round::LeftOut, left_out.0),
            (Round::LeftOutCpu, left_out.1),
            (Round::EndedThreadsCpu, store.ended_threads().values().map(|cpu| cpu.0).sum()),
        ] {
            round[column as usize] = number;
        }
        if scope != Scope::All {
            for column in [Round::EndedOnCpu, Round::LostExits, Round::EndedThreadsCpu] {
                round[column as usize] = 0;
            }
        }
        tables.rounds.push(&round);
        self.round = round;
        self.has_begun = true;
        self.lost_exits = lost_exits;
    }

    fn push_row(&mut self, tables: &mut RoundTables, row: &TaskRow) {
        let now = fields::of_row(row);
        let before = self.last.entry(row.key.pid).or_insert([0; LIVING]);
        tables.living.push(&fields::difference(&now, before));
        *before = now;
    }
}
