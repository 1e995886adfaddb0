//! Tasks summed by process, user or cgroup, or each thread by itself.
//!
//! Groups follow the store: a round updates those whose members came, went or did something, and no others. The sum of a group that
//! did nothing is made when it is asked for.

mod group;
mod membership;
mod row;

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use super::Cause;
use super::figure::{Figure, FigureSet};
use super::row::{KTHREADD, TaskRow};
use super::slots::Slots;
use super::store::{EndedTask, TaskStore};
use super::sum::TaskSum;
use crate::unit::Nanos;
use group::{Busy, Group, Member, Unit};

pub use row::GroupRow;

/// The property that makes tasks one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Nothing: each thread is a row.
    Thread,
    /// Their process. Processes that ended are one row for each name and user.
    #[default]
    Process,
    /// Their user.
    User,
    /// Their cgroup.
    Cgroup,
}

impl GroupBy {
    /// Returns the key that the members of a group have in common. Absent users and absent cgroups form one group.
    fn key(self, row: &TaskRow) -> u64 {
        match self {
            Self::Thread => u64::from(row.key.pid),
            Self::Process => u64::from(row.process()),
            Self::User => row.uid.map_or(u64::MAX, u64::from),
            Self::Cgroup => row.cgroup.unwrap_or(u64::MAX),
        }
    }
}

/// Decides whether a process is counted, or a thread if each is a row; asked with the row of its main thread if that is known.
pub type Filter<'a> = &'a mut dyn FnMut(&TaskRow) -> bool;

/// A row of the view, valid until the groups are updated again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowId {
    /// A group with living members.
    Living(u32),
    /// Members that have all ended.
    Ended(u32),
}

/// The groups of the tasks of a store.
#[derive(Clone, Debug, Default)]
pub struct TaskGroups {
    by: GroupBy,
    groups: Slots<Group>,
    units: Slots<Unit>,
    /// By the slot of the store.
    members: Vec<Option<Member>>,
    by_key: HashMap<u64, u32>,
    unit_by_key: HashMap<(u64, u32), u32>,
    /// Groups by the id of the process that was their first, or of the thread.
    order: BTreeSet<(u32, u32)>,
    /// The figures that members lack, with the number of members.
    absent: HashMap<FigureSet, u32>,
    is_filtered: bool,
    folds_kernel_threads: bool,
    /// Round of the store that the groups are of, and how many of its touched slots were seen.
    round: u32,
    seen_touched: usize,
    /// Groups that did something in the last interval.
    active: Vec<Active>,
    ended: Vec<EndedGroup>,
}

/// The activity of a living group, the ended tasks that belong to it included.
#[derive(Clone, Debug)]
struct Active {
    group: u32,
    sum: TaskSum,
    busy: Busy,
    /// Processes that ended.
    ended_processes: HashSet<u32>,
}

/// Ended tasks that belong to no living group.
#[derive(Clone, Debug)]
struct EndedGroup {
    /// The place of the first among the store's ended tasks.
    first: usize,
    sum: TaskSum,
    processes: HashSet<u32>,
}

impl TaskGroups {
    /// Brings the groups up to date with a finished round of the store, or with what was amended since. With a filter, or after
    /// another way of grouping, they are made anew.
    pub fn update(&mut self, store: &TaskStore, by: GroupBy, filter: Option<Filter<'_>>) {
        let is_next = store.round() == self.round || store.round() == self.round + 1;
        let is_followed = is_next && self.round > 0 && by == self.by && filter.is_none() && !self.is_filtered;
        let is_new_round = store.round() != self.round || !is_followed;
        self.is_filtered = filter.is_some();
        if is_followed {
            let from = if is_new_round { 0 } else { self.seen_touched };
            for slot in &store.touched()[from..] {
                self.follow(store, *slot);
            }
        } else {
            self.by = by;
            self.rebuild(store, filter);
        }
        (self.round, self.seen_touched) = (store.round(), store.touched().len());
        if is_new_round && is_followed {
            self.sum(store, &HashMap::default());
        }
    }

    /// Takes over what was found out about tasks since the last update.
    pub fn follow_amendments(&mut self, store: &TaskStore) {
        for slot in &store.touched()[self.seen_touched..] {
            if self.member(*slot).is_some() || !self.is_filtered {
                self.follow(store, *slot);
            }
        }
        self.seen_touched = store.touched().len();
    }

    fn rebuild(&mut self, store: &TaskStore, mut filter: Option<Filter<'_>>) {
        self.clear();
        let mut chosen: HashMap<(u64, u32), bool> = HashMap::default();
        if let Some(filter) = &mut filter {
            let is_leader = |row: &&TaskRow| row.key.pid == row.process();
            let ended = || store.ended().map(EndedTask::row);
            for row in store.rows().chain(ended()).filter(is_leader) {
                chosen.insert(self.unit_key(row), filter(row));
            }
            for row in store.rows().chain(ended()) {
                chosen.entry(self.unit_key(row)).or_insert_with(|| filter(row));
            }
        }
        for slot in store.used_slots() {
            let row = store.row_in(slot);
            if row.is_some_and(|row| chosen.get(&self.unit_key(row)).copied().unwrap_or(true)) {
                self.follow(store, slot);
            }
        }
        self.sum(store, &chosen);
    }

    /// Sums what members did. `chosen` says which processes are left out.
    fn sum(&mut self, store: &TaskStore, chosen: &HashMap<(u64, u32), bool>) {
        self.active.clear();
        self.ended.clear();
        for change in store.changes() {
            let Some(member) = self.member(change.slot) else { continue };
            let Some(row) = store.row_in(change.slot) else { continue };
            let (unit, group) = (&self.units[member.unit], self.units[member.unit].group);
            let is_counted = member.is_counted || unit.is_leader_counted(&self.members);
            let mut sum = TaskSum::of_thread(&change.delta, change.wall, is_counted);
            sum.impossible_values = change.impossible_values;
            let active = self.activate(group);
            active.busy.threads += 1;
            active.busy.uncounted += u32::from(!is_counted);
            for cause in Cause::ALL {
                active.busy.absent[cause as usize] +=
                    u32::from(row.figures.get(Figure::delay(cause)).is_none());
            }
            active.sum.add(&sum);
        }
        self.sum_ended(store, chosen);
        for (tgid, on_cpu) in store.ended_threads() {
            let leader = store.slot_of(*tgid).and_then(|slot| self.member(slot));
            // Of a single thread nothing is known.
            if let (Some(leader), true) = (leader, self.by != GroupBy::Thread) {
                let group = self.units[leader.unit].group;
                self.activate(group).sum.add_cpu(*on_cpu);
            }
        }
        for active in &mut self.active {
            let group = &self.groups[active.group];
            group.add_idle(&mut active.sum, &active.busy, store.interval());
            active.sum.processes = group.units.len() as u32 + active.ended_processes.len() as u32;
        }
        for ended in &mut self.ended {
            ended.sum.processes = ended.processes.len() as u32;
        }
    }

    /// Adds each ended task to the group that it belongs to.
    fn sum_ended(&mut self, store: &TaskStore, chosen: &HashMap<(u64, u32), bool>) {
        let mut by_name = HashMap::default();
        let mut by_key = HashMap::default();
        for (index, ended) in store.ended().enumerate() {
            let row = ended.row();
            if !chosen.get(&self.unit_key(row)).copied().unwrap_or(true) {
                continue;
            }
            let (key, tgid) = self.unit_key(row);
            let is_follower = row.key.pid != tgid;
            let group = match self.by {
                GroupBy::Thread => None,
                // A thread that ended belongs to its process if that lives. The number of a main thread that ended may be another's.
                GroupBy::Process => self.by_key.get(&key).copied().filter(|_| is_follower),
                GroupBy::User | GroupBy::Cgroup => self.by_key.get(&key).copied(),
            };
            let unit = self.unit_by_key.get(&(key, tgid)).copied();
            let is_of_counted =
                is_follower && unit.is_some_and(|unit| self.units[unit].is_leader_counted(&self.members));
            let is_counted = row.accounting == super::Accounting::On || is_of_counted;
            let mut sum = TaskSum::of_thread(&ended.delta, Nanos(ended.wall_ns), is_counted);
            sum.most_unrecorded = Nanos(ended.most_unrecorded_ns());
            sum.impossible_values = ended.impossible_values;
            if let Some(group) = group {
                let active = self.activate(group);
                active.sum.add(&sum);
                if unit.is_none() {
                    active.ended_processes.insert(tgid);
                }
                continue;
            }
            let place = match self.by {
                GroupBy::Thread => None,
                GroupBy::Process => by_name.get(&(row.comm, row.uid)).copied(),
                GroupBy::User | GroupBy::Cgroup => by_key.get(&key).copied(),
            };
            let place = place.unwrap_or_else(|| {
                let (sum, processes) = (TaskSum::default(), HashSet::default());
                self.ended.push(EndedGroup { first: index, sum, processes });
                by_name.insert((row.comm, row.uid), self.ended.len() - 1);
                by_key.insert(key, self.ended.len() - 1);
                self.ended.len() - 1
            });
            self.ended[place].sum.add(&sum);
            self.ended[place].processes.insert(tgid);
        }
    }

    /// The sum of a group in this round.
    fn activate(&mut self, group: u32) -> &mut Active {
        let place = self.groups[group].active as usize;
        let is_there = self.active.get(place).is_some_and(|active| active.group == group);
        let place = if is_there { place } else { self.active.len() };
        if !is_there {
            self.groups[group].active = place as u32;
            self.active.push(Active {
                group,
                sum: TaskSum::default(),
                busy: Busy::default(),
                ended_processes: HashSet::default(),
            });
        }
        &mut self.active[place]
    }

    /// The sum of a group that did something.
    fn active_sum(&self, group: u32) -> Option<&Active> {
        self.active.get(self.groups[group].active as usize).filter(|active| active.group == group)
    }

    /// The membership of the task in a slot of the store.
    fn member(&self, slot: u32) -> Option<Member> {
        self.members.get(slot as usize).copied().flatten()
    }

    fn unit_key(&self, row: &TaskRow) -> (u64, u32) {
        let key = if self.is_folded(row) { u64::from(KTHREADD) } else { self.by.key(row) };
        (key, row.process())
    }

    /// Returns true if it is a kernel thread that is one row with all others.
    fn is_folded(&self, row: &TaskRow) -> bool {
        self.folds_kernel_threads
            && self.by == GroupBy::Process
            && (row.process() == KTHREADD || row.ppid == Some(KTHREADD))
    }

    /// Makes all kernel threads one row where each process is a row, or no longer. Elsewhere than in the initial PID namespace
    /// there are none, and their number may be another's.
    pub fn fold_kernel_threads(&mut self, store: &TaskStore, is_wanted: bool) {
        let folds = is_wanted && store.has_kernel_threads();
        if std::mem::replace(&mut self.folds_kernel_threads, folds) != folds {
            // The next update makes the groups anew.
            self.round = 0;
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.by_key.len() + self.ended.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows: the living in the order of their processes, then the ended.
    pub fn rows(&self) -> impl Iterator<Item = RowId> {
        self.order.iter().map(|(_, group)| RowId::Living(*group)).chain(self.ended_rows())
    }

    /// The rows that did something in the last interval.
    pub fn active_rows(&self) -> impl Iterator<Item = RowId> {
        self.active.iter().map(|active| RowId::Living(active.group)).chain(self.ended_rows())
    }

    /// The other rows, in the order of their processes.
    pub fn idle_rows(&self) -> impl Iterator<Item = RowId> {
        let groups = self.order.iter().map(|(_, group)| *group);
        groups.filter(|group| self.active_sum(*group).is_none()).map(RowId::Living)
    }

    fn ended_rows(&self) -> impl Iterator<Item = RowId> + use<> {
        (0..self.ended.len() as u32).map(RowId::Ended)
    }

    /// The number of rows that did something.
    pub fn active_len(&self) -> usize {
        self.active.len() + self.ended.len()
    }

    /// Returns true if a figure is known of all living threads.
    pub fn is_known_of_all(&self, figure: Figure) -> bool {
        self.absent.keys().all(|absent| !absent.contains(figure))
    }

    /// The row of a living process, or of a living thread if each is a row.
    pub fn row_of(&self, pid: u32) -> Option<RowId> {
        match self.by {
            GroupBy::Process | GroupBy::Thread => {
                self.by_key.get(&u64::from(pid)).copied().map(RowId::Living)
            }
            GroupBy::User | GroupBy::Cgroup => None,
        }
    }

    /// The living tasks of a row, the main thread of its first process first.
    pub fn living<'a>(&'a self, store: &'a TaskStore, id: RowId) -> impl Iterator<Item = &'a TaskRow> {
        let units = match id {
            RowId::Living(group) => self.groups[group].units.as_slice(),
            RowId::Ended(_) => &[],
        };
        let slots = units.iter().flat_map(|unit| self.units[*unit].slots());
        slots.filter_map(|slot| store.row_in(slot))
    }
}

#[cfg(test)]
mod tests;
