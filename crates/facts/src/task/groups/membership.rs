//! Which task is in which group.

use super::group::{Group, Member, SHARED, Unit};
use super::{GroupBy, TaskGroups};
use crate::task::Accounting;
use crate::task::figure::{Figure, FigureSet};
use crate::task::row::TaskRow;
use crate::task::store::TaskStore;

impl TaskGroups {
    /// Brings the membership of a slot up to date.
    pub(super) fn follow(&mut self, store: &TaskStore, slot: u32) {
        if self.members.len() < store.places() as usize {
            self.members.resize(store.places() as usize, None);
        }
        let row = store.row_in(slot);
        if let Some(member) = self.members[slot as usize] {
            let unit = &self.units[member.unit];
            let key = (self.groups[unit.group].key, unit.tgid);
            if row.is_some_and(|row| self.unit_key(row) == key) {
                return self.alter(store, slot, member, row.copied().unwrap_or_default());
            }
            self.detach(slot, member);
        }
        if let Some(row) = row {
            self.attach(store, slot, row);
        }
    }

    fn attach(&mut self, store: &TaskStore, slot: u32, row: &TaskRow) {
        let key = self.unit_key(row);
        let unit = match self.unit_by_key.get(&key) {
            Some(unit) => *unit,
            None => self.new_unit(key, row),
        };
        let is_leader = row.key.pid == key.1;
        let place = self.units[unit].slots.len() as u32;
        let member = Member {
            unit,
            place,
            absent: row.figures.absent(),
            is_counted: row.accounting == Accounting::On,
        };
        self.members[slot as usize] = Some(member);
        let group = self.units[unit].group;
        self.groups[group].threads += 1;
        self.recount(unit, |units, members| {
            units.slots.push(slot);
            units.counted += u32::from(member.is_counted);
            units.leader = if is_leader { Some(slot) } else { units.leader };
            units.uncounted(members)
        });
        self.count_absent(group, member.absent, true);
        self.show_memory(unit, row, store.seen_in(slot));
    }

    fn detach(&mut self, slot: u32, member: Member) {
        let group = self.units[member.unit].group;
        self.recount(member.unit, |unit, members| {
            unit.slots.swap_remove(member.place as usize);
            if let Some(moved) = unit.slots.get(member.place as usize)
                && let Some(moved) = &mut members[*moved as usize]
            {
                moved.place = member.place;
            }
            unit.counted -= u32::from(member.is_counted);
            unit.leader = unit.leader.filter(|leader| *leader != slot);
            members[slot as usize] = None;
            unit.uncounted(members)
        });
        self.groups[group].threads -= 1;
        self.count_absent(group, member.absent, false);
        if self.units[member.unit].slots.is_empty() {
            self.remove_unit(member.unit);
        }
    }

    /// A member is still in its group, but something else about it has changed.
    fn alter(&mut self, store: &TaskStore, slot: u32, member: Member, row: TaskRow) {
        let now =
            Member { absent: row.figures.absent(), is_counted: row.accounting == Accounting::On, ..member };
        if now.absent != member.absent {
            let group = self.units[member.unit].group;
            self.count_absent(group, member.absent, false);
            self.count_absent(group, now.absent, true);
        }
        if now.is_counted != member.is_counted {
            self.recount(member.unit, |unit, members| {
                unit.counted = unit.counted + u32::from(now.is_counted) - u32::from(member.is_counted);
                members[slot as usize] = Some(now);
                unit.uncounted(members)
            });
        }
        self.members[slot as usize] = Some(now);
        self.show_memory(member.unit, &row, store.seen_in(slot));
    }

    /// Changes a unit and keeps the number of uncounted threads of its group.
    fn recount(&mut self, unit: u32, change: impl FnOnce(&mut Unit, &mut [Option<Member>]) -> u32) {
        let before = self.units[unit].uncounted(&self.members);
        let now = change(&mut self.units[unit], &mut self.members);
        let group = &mut self.groups[self.units[unit].group];
        group.uncounted = group.uncounted + now - before;
    }

    fn count_absent(&mut self, group: u32, absent: FigureSet, is_added: bool) {
        self.groups[group].count_absent(absent, is_added);
        let members = self.absent.entry(absent).or_default();
        *members = if is_added { *members + 1 } else { *members - 1 };
        if *members == 0 {
            self.absent.remove(&absent);
        }
    }

    /// Takes the memory of a process from one of its threads, read in this round: the newest value counts, of one round that of the
    /// main thread. A main thread that has ended shows none while others still run.
    fn show_memory(&mut self, unit: u32, row: &TaskRow, round: u32) {
        let (known_of, is_leader) = (self.units[unit].memory_of, row.key.pid == row.process());
        if (round, is_leader) < known_of {
            return;
        }
        let is_only = self.units[unit].slots.len() == 1;
        let before = self.units[unit].memory;
        let mut now = before;
        for (memory, figure) in now.iter_mut().zip(SHARED) {
            let shown = row.figures.get(figure);
            if is_only || shown.is_some_and(|bytes| bytes > 0) || memory.is_none() {
                *memory = shown.or(*memory);
            }
        }
        if row.figures.get(Figure::RESIDENT_BYTES).is_some_and(|bytes| bytes > 0) {
            self.units[unit].memory_of = (round, is_leader);
        }
        if now != before {
            self.units[unit].memory = now;
            let group = &mut self.groups[self.units[unit].group];
            group.count_memory(before, false);
            group.count_memory(now, true);
        }
    }

    fn new_unit(&mut self, key: (u64, u32), row: &TaskRow) -> u32 {
        let group = match self.by_key.get(&key.0) {
            Some(group) => *group,
            None => {
                let rank = if self.by == GroupBy::Thread { row.key.pid } else { key.1 };
                let group = self.groups.insert(Group::new(key.0, rank));
                self.by_key.insert(key.0, group);
                self.order.insert((rank, group));
                group
            }
        };
        let place = self.groups[group].units.len() as u32;
        let memory = [None; SHARED.len()];
        let unit = Unit {
            group,
            place,
            tgid: key.1,
            slots: Vec::new(),
            leader: None,
            counted: 0,
            memory,
            memory_of: (0, false),
        };
        let unit = self.units.insert(unit);
        self.unit_by_key.insert(key, unit);
        let group = &mut self.groups[group];
        group.units.push(unit);
        group.count_memory(memory, true);
        unit
    }

    fn remove_unit(&mut self, index: u32) {
        let Unit { group: group_index, place, tgid, memory, .. } = self.units[index];
        let group = &mut self.groups[group_index];
        group.count_memory(memory, false);
        group.units.swap_remove(place as usize);
        if let Some(moved) = group.units.get(place as usize) {
            self.units[*moved].place = place;
        }
        let (key, rank, is_empty) = (group.key, group.rank, group.units.is_empty());
        self.unit_by_key.remove(&(key, tgid));
        self.units.release(index);
        if is_empty {
            self.by_key.remove(&key);
            self.order.remove(&(rank, group_index));
            self.groups[group_index].active = u32::MAX;
            self.groups.release(group_index);
        }
    }

    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.units.clear();
        self.members.clear();
        self.by_key.clear();
        self.unit_by_key.clear();
        self.order.clear();
        self.absent.clear();
        self.active.clear();
        self.ended.clear();
    }
}
