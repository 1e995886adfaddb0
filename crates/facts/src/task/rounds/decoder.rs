//! From rounds to a task store, which is filled as the one was that they were made of.

use super::fields::{self, ENDED};
use super::living::Living;
use super::tables::{Round, RoundTables};
use crate::sample::Clock;
use crate::task::exit_record::ExitRecord;
use crate::task::store::TaskStore;
use crate::task::unrecorded::Unrecorded;
use crate::unit::Nanos;

/// The content of a round beside its tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundSummary {
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

/// Fills a store round by round.
#[derive(Debug, Default)]
pub struct RoundDecoder {
    /// The numbers of each living task.
    living: Living,
    pending: Vec<ExitRecord>,
    unrecorded: Unrecorded,
    summary: RoundSummary,
    /// The store was filled before.
    has_begun: bool,
}

/// The changes of a round.
#[derive(Debug, Default)]
struct Changed {
    gone: Vec<u32>,
    living: Vec<u32>,
}

impl RoundDecoder {
    /// The last round.
    pub fn summary(&self) -> &RoundSummary {
        &self.summary
    }

    /// Forgets everything: what follows does not continue it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes a round over without filling the store: one before the first that is of interest. `is_whole`: it has all tasks.
    pub fn skip(&mut self, tables: &RoundTables, place: usize, is_whole: bool) {
        self.apply(tables, place, is_whole);
        self.has_begun = false;
    }

    /// Begins the store's first interval with a round that was skipped.
    pub fn begin(&mut self, tables: &RoundTables, place: usize, store: &mut TaskStore) {
        *store = TaskStore::default();
        self.unrecorded = Unrecorded::default();
        self.pending.clear();
        let clock = tables.clock(place);
        store.begin(clock);
        self.living.all().for_each(|fields| store.put(&fields::to_row(fields, clock.boottime)));
        self.finish(tables, place, store);
        self.has_begun = true;
    }

    /// Fills the store with a round. `is_whole`: it has all tasks.
    pub fn fill(&mut self, tables: &RoundTables, place: usize, is_whole: bool, store: &mut TaskStore) {
        let changed = self.apply(tables, place, is_whole);
        if tables.round(place, Round::IsFirst) == 1 || !self.has_begun {
            self.begin(tables, place, store);
            return;
        }
        let clock = tables.clock(place);
        store.begin(clock);
        changed.gone.iter().for_each(|pid| store.remove(*pid));
        for pid in changed.living {
            if let Some(fields) = self.living.get(pid) {
                store.put(&fields::to_row(fields, clock.boottime));
            }
        }
        let [_, _, first] = first_rows(tables, place);
        let [_, _, count] = tables.row_counts(place);
        for row in first..first + count {
            let mut numbers = [0; ENDED];
            numbers.iter_mut().zip(tables.ended.row(row)).for_each(|(to, from)| *to = from);
            self.pending.push(fields::to_ended(&numbers, clock.boottime));
        }
        self.finish(tables, place, store);
    }

    /// Takes a round's rows over.
    fn apply(&mut self, tables: &RoundTables, place: usize, is_whole: bool) -> Changed {
        let [first_living, first_gone, _] = first_rows(tables, place);
        let [living, gone, _] = tables.row_counts(place);
        let living = first_living..first_living + living;
        let pid_of = |number: u64| u32::try_from(number).unwrap_or(0);
        let mut changed = Changed {
            gone: (first_gone..first_gone + gone).map(|row| pid_of(tables.gone.get(row, 0))).collect(),
            living: living.clone().map(|row| pid_of(tables.living.get(row, 0))).collect(),
        };
        if is_whole {
            let mut before = std::mem::take(&mut self.living);
            changed.living.iter().for_each(|pid| before.remove(*pid));
            changed.gone.extend(before.pids());
        }
        changed.gone.iter().for_each(|pid| self.living.remove(*pid));
        self.living.add(&changed.living, &tables.living, living);
        changed
    }

    fn finish(&mut self, tables: &RoundTables, place: usize, store: &mut TaskStore) {
        let number = |column| tables.round(place, column);
        store.ended_on_cpu = number(Round::EndedOnCpu).checked_sub(1).map(Nanos);
        store.finish(&mut self.pending);
        self.summary = RoundSummary {
            clock: tables.clock(place),
            unrecorded_cpu: self.unrecorded.advance(store),
            ended_threads_cpu: Nanos(number(Round::EndedThreadsCpu)),
            lost_exits: number(Round::LostExits),
            left_out: (number(Round::LeftOut), Nanos(number(Round::LeftOutCpu))),
        };
    }
}

/// The first rows of a round in the tables of living, gone and ended tasks.
fn first_rows(tables: &RoundTables, place: usize) -> [usize; 3] {
    (0..place).map(|round| tables.row_counts(round)).fold([0; 3], |mut first, counts| {
        first.iter_mut().zip(counts).for_each(|(first, count)| *first += count);
        first
    })
}
