//! The sums of an hour, made of those of its minutes.
//!
//! What groups did adds up exactly. Of processes an hour has the few that did much, since a question about so long a time that needs the others
//! reads minutes.

use facts::task::figure::{FigureSet, Figures};
use foldhash::HashMap;

use super::churn::Churn;
use super::span_sums::{
    BriefSums, GroupSums, ProcessSums, SpanGroups, SpanProcesses, SpanSums, TaskGroup, add, raise,
};

/// A process that did less than this part of everything, of each counter, has no sums of its own in an hour.
const MIN_PART: u64 = 1000;

/// The minutes of an hour, one after the other.
#[derive(Debug, Default)]
pub(super) struct HourBuilder {
    boot: Option<u32>,
    /// They are of several boots.
    is_of_several: bool,
    times_ms: Vec<i64>,
    groups: HashMap<TaskGroup, Figures>,
    /// The sums over all tasks.
    all: Figures,
    churn: Churn,
    cgroups: HashMap<u64, String>,
    seen: HashMap<(u32, TaskGroup), Figures>,
    /// The most that one of the processes of a group did.
    brief: HashMap<TaskGroup, Figures>,
}

impl HourBuilder {
    /// Adds the next minute.
    pub(super) fn add(&mut self, SpanSums { groups, processes }: SpanSums) {
        if groups.times_ms.is_empty() {
            return;
        }
        self.is_of_several |=
            groups.boot.is_none() || self.boot.is_some_and(|boot| groups.boot != Some(boot));
        self.boot = groups.boot;
        self.times_ms.extend(groups.times_ms);
        for GroupSums { group, figures } in &groups.sums {
            add(self.groups.entry(*group).or_default(), figures, Some(figures));
            add(&mut self.all, figures, Some(figures));
        }
        self.churn.add_sums(&groups.programs, &groups.ancestors);
        self.cgroups.extend(groups.cgroups);
        for ProcessSums { process, group, figures, .. } in &processes.seen {
            add(self.seen.entry((*process, *group)).or_default(), figures, Some(figures));
        }
        for BriefSums { group, most, .. } in &processes.brief {
            raise(self.brief.entry(*group).or_default(), most);
        }
    }

    /// Returns the sums; `None` if there are none: the minutes are of several boots, or the clock was set back.
    pub(super) fn finish(mut self) -> Option<SpanSums> {
        if self.is_of_several || !self.times_ms.is_sorted_by(|one, next| one < next) {
            return None;
        }
        let processes = self.processes();
        let (programs, ancestors) = self.churn.into_sums();
        let sums = self.groups.into_iter().map(|(group, figures)| GroupSums { group, figures });
        let mut groups = SpanGroups {
            boot: self.boot,
            times_ms: self.times_ms,
            sums: sums.collect(),
            programs,
            ancestors,
            cgroups: self.cgroups.into_iter().collect(),
        };
        groups.sums.sort_unstable_by_key(|sums| sums.group);
        groups.cgroups.sort_unstable();
        Some(SpanSums { groups, processes })
    }

    /// The processes that did much, and the most that one of the others of each group did.
    fn processes(&mut self) -> SpanProcesses {
        let Self { all, seen, brief, .. } = self;
        seen.retain(|(_, group), figures| {
            let is_much = does_much(figures, all);
            if !is_much {
                raise(brief.entry(*group).or_default(), figures);
            }
            is_much
        });
        let process =
            |((process, group), figures)| ProcessSums { process, group, figures, is_complete: false };
        // Their numbers are those of many in an hour.
        let others = |(group, most)| BriefSums { group, most, processes: vec![0..=u32::MAX] };
        let mut processes = SpanProcesses {
            seen: seen.drain().map(process).collect(),
            brief: brief.drain().map(others).collect(),
            has_mingled: true,
        };
        processes.seen.sort_unstable_by_key(|sums| (sums.process, sums.group));
        processes.brief.sort_unstable_by_key(|sums| sums.group);
        processes
    }
}

fn does_much(figures: &Figures, all: &Figures) -> bool {
    let mut does_much = false;
    FigureSet::COUNTERS.for_each(|figure| {
        let (own, all) = (figures.get(figure).unwrap_or(0), all.get(figure).unwrap_or(0));
        does_much |= own > 0 && own >= all / MIN_PART;
    });
    does_much
}
