//! The sums of a span, and how they are made.

use std::ops::RangeInclusive;

use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::figure::{Figure, FigureSet, Figures};
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use foldhash::{HashMap, HashSet};
use store::{Named, StoreError, TaskReplay};

use super::boots::Boots;
use super::churn::{AncestorSums, Churn, ProgramSums};

/// The most ranges of numbers of a group.
const MAX_RANGES: usize = 100;

/// The name, user and cgroup of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskGroup {
    /// The name of the task.
    pub(crate) comm: Comm,
    /// Real user id.
    pub(crate) uid: Option<u32>,
    /// The cgroup's id.
    pub(crate) cgroup: Option<u64>,
}

impl TaskGroup {
    fn of(row: &TaskRow) -> Self {
        Self { comm: row.comm, uid: row.uid, cgroup: row.cgroup }
    }
}

/// The sums over all tasks of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupSums {
    pub(crate) group: TaskGroup,
    /// Increases of counters.
    pub(crate) figures: Figures,
}

/// The sums of a process that was seen alive, all its threads together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProcessSums {
    pub(crate) process: u32,
    pub(crate) group: TaskGroup,
    /// Increases of counters.
    pub(crate) figures: Figures,
    /// No brief process of the span has its number.
    pub(crate) is_complete: bool,
}

/// The processes of a group that have no sums of their own. They started and ended between two readings; or they started and ended in the
/// span, and did no more than one of the former can have done. In an hour all that did little count as such.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BriefSums {
    pub(crate) group: TaskGroup,
    /// The most that one of them can have done.
    pub(crate) most: Figures,
    /// Their numbers are among these: some ranges in order, since numbers start again from the lowest.
    pub(crate) processes: Vec<RangeInclusive<u32>>,
}

/// The sums of the processes of a span, each list in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpanProcesses {
    pub(crate) seen: Vec<ProcessSums>,
    pub(crate) brief: Vec<BriefSums>,
    /// Several of the brief ones had one number.
    pub(crate) has_mingled: bool,
}

/// The sums of a span without its single processes, each list in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpanGroups {
    /// The boot in which they ran, as [`Boots`] names it; `None` if nothing was recorded, or in several boots: ids of cgroups would mean
    /// several paths.
    pub(crate) boot: Option<u32>,
    /// When tasks were read, in milliseconds since 1970.
    pub(crate) times_ms: Vec<i64>,
    pub(crate) sums: Vec<GroupSums>,
    pub(crate) programs: Vec<ProgramSums>,
    pub(crate) ancestors: Vec<AncestorSums>,
    /// The paths of cgroups, as far as they are known.
    pub(crate) cgroups: Vec<(u64, String)>,
}

/// The sums of a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpanSums {
    pub(crate) groups: SpanGroups,
    pub(crate) processes: SpanProcesses,
}

impl SpanSums {
    /// Returns sums that say nothing: of several boots.
    pub(super) fn unusable() -> Self {
        let groups = SpanGroups { times_ms: vec![0], ..SpanGroups::default() };
        Self { groups, ..Self::default() }
    }
}

impl SpanGroups {
    /// The path of a cgroup.
    pub(crate) fn cgroup(&self, id: u64) -> Option<&str> {
        let place = self.cgroups.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.cgroups[place].1)
    }
}

#[derive(Debug, Default)]
struct OfBrief {
    figures: Figures,
    most: Figures,
    processes: HashSet<u32>,
}

/// The rounds of a span, one after the other.
#[derive(Debug, Default)]
pub(super) struct SpanBuilder {
    /// The numbers of boots.
    boots: HashSet<i64>,
    times_ms: Vec<i64>,
    processes: HashMap<(u32, TaskGroup), Figures>,
    brief: HashMap<TaskGroup, OfBrief>,
    /// The numbers of all of these.
    brief_processes: HashSet<u32>,
    has_mingled: bool,
    /// When the first round was, on the boot clock.
    began: Option<Nanos>,
    /// The processes that started after it and ended.
    short_processes: HashSet<u32>,
    churn: Churn,
    cgroups: HashMap<u64, Option<String>>,
}

impl SpanBuilder {
    /// Adds the round that a replay is at.
    ///
    /// # Errors
    /// If names cannot be read.
    pub(super) fn add(&mut self, at_ms: i64, replay: &mut TaskReplay<'_>) -> Result<(), StoreError> {
        self.boots.insert(replay.boot());
        self.began.get_or_insert(replay.round().clock.boottime);
        self.times_ms.push(at_ms);
        self.add_store(replay.store());
        let groups = self.processes.keys().map(|(_, group)| group).chain(self.brief.keys());
        let mut unknown: Vec<u64> = groups.filter_map(|group| group.cgroup).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown.retain(|id| !self.cgroups.contains_key(id));
        for id in unknown {
            let path = replay.name(Named::Cgroup(id))?.map(str::to_owned);
            self.cgroups.insert(id, path);
        }
        Ok(())
    }

    fn add_store(&mut self, store: &TaskStore) {
        for row in store.changed_rows() {
            add(self.process(row), &row.figures, store.deltas(row.key.pid));
        }
        // Those of one process in this round, which was in no other.
        let mut brief: HashMap<(u32, TaskGroup), Figures> = HashMap::default();
        // First those that were seen alive, so that what ended together with its process is added to it.
        let (alive, others): (Vec<_>, Vec<_>) = store.ended().partition(|ended| ended.was_alive());
        for ended in alive.into_iter().chain(others) {
            let row = ended.row();
            let who = (row.process(), TaskGroup::of(row));
            let is_seen =
                ended.was_alive() || store.row(who.0).is_some() || self.processes.contains_key(&who);
            let figures = match is_seen {
                true => self.process(row),
                false => brief.entry(who).or_default(),
            };
            add(figures, &row.figures, Some(&ended.delta));
            let is_process = row.tgid == Some(row.key.pid);
            if is_process && self.began.is_some_and(|began| row.key.start > began) {
                self.short_processes.insert(who.0);
            }
        }
        self.add_brief(brief);
        self.churn.add(store, Scope::All);
    }

    fn process(&mut self, row: &TaskRow) -> &mut Figures {
        self.processes.entry((row.process(), TaskGroup::of(row))).or_default()
    }

    /// Adds those of one round to their groups.
    fn add_brief(&mut self, brief: HashMap<(u32, TaskGroup), Figures>) {
        for (process, _) in brief.keys() {
            self.has_mingled |= !self.brief_processes.insert(*process);
        }
        for ((process, group), figures) in brief {
            let sums = self.brief.entry(group).or_default();
            add(&mut sums.figures, &figures, Some(&figures));
            match sums.processes.insert(process) {
                true => raise(&mut sums.most, &figures),
                // What one with this number did before is in it.
                false => add(&mut sums.most, &figures, Some(&figures)),
            }
        }
    }

    /// Moves short processes to the brief ones of their groups if they did no more than one of those can have done. In a storm of short
    /// processes these are most of those that were seen.
    fn move_short(&mut self) {
        let mut groups_of: HashMap<u32, usize> = HashMap::default();
        self.processes.keys().for_each(|(process, _)| *groups_of.entry(*process).or_default() += 1);
        let Self { processes, brief, brief_processes, short_processes, .. } = self;
        processes.retain(|(process, group), figures| {
            let is_alone = groups_of[process] == 1 && !brief_processes.contains(process);
            let others = brief.get_mut(group).filter(|others| is_at_most(figures, &others.most));
            let Some(others) = others.filter(|_| is_alone && short_processes.contains(process)) else {
                return true;
            };
            others.processes.insert(*process);
            add(&mut others.figures, figures, Some(figures));
            false
        });
    }

    /// Returns the sums. The boots are those of the history.
    pub(super) fn finish(mut self, all_boots: &Boots) -> SpanSums {
        self.move_short();
        let Self { boots, times_ms, processes, brief, brief_processes, has_mingled, churn, cgroups, .. } =
            self;
        let boot = boots.iter().next().filter(|_| boots.len() == 1).and_then(|number| all_boots.get(*number));
        let mut groups: HashMap<TaskGroup, Figures> = HashMap::default();
        let of_processes = processes.iter().map(|((_, group), figures)| (*group, figures));
        let of_brief = brief.iter().map(|(group, brief)| (*group, &brief.figures));
        for (group, figures) in of_processes.chain(of_brief) {
            add(groups.entry(group).or_default(), figures, Some(figures));
        }
        let group = |(group, figures)| GroupSums { group, figures };
        let process = |((process, group), figures)| ProcessSums {
            process,
            group,
            figures,
            is_complete: !brief_processes.contains(&process),
        };
        let brief_sums = |(group, OfBrief { most, processes, .. })| BriefSums {
            group,
            most,
            processes: ranges(processes),
        };
        let (programs, ancestors) = churn.into_sums();
        let mut groups = SpanGroups {
            boot,
            times_ms,
            sums: groups.into_iter().map(group).collect(),
            programs,
            ancestors,
            cgroups: cgroups.into_iter().filter_map(|(id, path)| Some((id, path?))).collect(),
        };
        groups.sums.sort_unstable_by_key(|sums| sums.group);
        groups.cgroups.sort_unstable();
        let mut processes = SpanProcesses {
            seen: processes.into_iter().map(process).collect(),
            brief: brief.into_iter().map(brief_sums).collect(),
            has_mingled,
        };
        processes.seen.sort_unstable_by_key(|sums| (sums.process, sums.group));
        processes.brief.sort_unstable_by_key(|sums| sums.group);
        SpanSums { groups, processes }
    }
}

/// The ranges in which numbers are: as many as are kept, with the largest gaps between them.
fn ranges(numbers: HashSet<u32>) -> Vec<RangeInclusive<u32>> {
    let mut numbers: Vec<u32> = numbers.into_iter().collect();
    numbers.sort_unstable();
    let mut gaps: Vec<usize> =
        (1..numbers.len()).filter(|place| numbers[*place] - numbers[place - 1] > 1).collect();
    gaps.sort_unstable_by_key(|place| std::cmp::Reverse((numbers[*place] - numbers[place - 1], *place)));
    gaps.truncate(MAX_RANGES - 1);
    gaps.sort_unstable();
    gaps.push(numbers.len());
    let mut first = 0;
    let ranges = gaps.into_iter().filter_map(|end| {
        let part = &numbers[std::mem::replace(&mut first, end)..end];
        Some(*part.first()?..=*part.last()?)
    });
    ranges.collect()
}

/// Returns whether no known counter is above that of others.
fn is_at_most(figures: &Figures, most: &Figures) -> bool {
    let mut is_at_most = true;
    FigureSet::COUNTERS.for_each(|figure| {
        let value = figures.get(figure);
        is_at_most &= value.is_none() || value <= most.get(figure);
    });
    is_at_most
}

/// Adds increases of the counters that are known.
pub(super) fn add(sums: &mut Figures, known: &Figures, increases: Option<&Figures>) {
    FigureSet::COUNTERS.for_each(|figure| {
        if known.get(figure).is_some() {
            let increase = increases.and_then(|increases| increases.get(figure)).unwrap_or(0);
            sums.set(figure, Some(sums.get(figure).unwrap_or(0).saturating_add(increase)));
        }
    });
}

pub(super) fn raise(most: &mut Figures, figures: &Figures) {
    FigureSet::COUNTERS
        .for_each(|figure: Figure| most.set(figure, most.get(figure).max(figures.get(figure))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_few_ranges() {
        assert_eq!(ranges(HashSet::default()), []);
        assert_eq!(ranges(HashSet::from_iter([7])), [7..=7]);
        assert_eq!(
            ranges(HashSet::from_iter([9, 7, 8, 100, 101, u32::MAX])),
            [7..=9, 100..=101, u32::MAX..=u32::MAX]
        );
        // The smallest gaps are bridged.
        let many: HashSet<u32> =
            (0..200).map(|place| place * 10 + if place > 10 { 1000 } else { 0 }).collect();
        let found = ranges(many.clone());
        assert_eq!(found.len(), MAX_RANGES);
        assert!(
            found.iter().any(|range| *range.end() == 100) && found.iter().any(|range| *range.start() == 1110)
        );
        assert!(many.iter().all(|number| found.iter().any(|range| range.contains(number))));
    }
}
