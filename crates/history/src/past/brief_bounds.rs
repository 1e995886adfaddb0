//! Upper bounds on what processes did that the sums of a span do not list: its brief ones. They decide whether an answer by
//! process is exact, or needs a replay.

use std::ops::RangeInclusive;

use facts::task::comm::Comm;
use foldhash::HashSet;

use crate::task_sums::{BriefSums, ProcessSums};

/// The most ranges of pids that are kept: some megabytes.
const MAX_RANGES: usize = 100_000;
/// The most pairs of span and process that are kept: about 19 MB.
const MAX_COMPLETE: usize = 1_000_000;

/// What is known of the brief processes of some spans. In an hour those that did little count as such as well, however long they live.
#[derive(Debug, Default)]
pub(super) struct BriefBounds {
    /// The spans that were begun.
    spans: u32,
    /// The spans in which several brief processes may have had one pid.
    mingled: HashSet<u32>,
    brief: Vec<Brief>,
    /// Processes whose sums in a span are all that they did in it.
    complete: HashSet<(u32, u32)>,
    incomplete: HashSet<u32>,
    /// The ranges of pids that are kept.
    ranges: usize,
    /// The most that one brief process can have done in the last span.
    largest_of_span: u64,
    /// The same of the spans before it in which no pid was shared.
    largest: u64,
    /// The sum of it over the other spans before: it may be one process in all of them.
    lasting: u64,
}

#[derive(Debug)]
struct Brief {
    span: u32,
    comm: Comm,
    /// Ranges of their pids.
    processes: Vec<RangeInclusive<u32>>,
    /// The most that one of them did.
    most: u64,
}

impl BriefBounds {
    /// Begins another span. `has_mingled`: several of its brief processes may have one pid.
    pub(super) fn begin_span(&mut self, has_mingled: bool) {
        (self.largest, self.lasting) = self.largest_so_far();
        self.largest_of_span = 0;
        self.spans += 1;
        if has_mingled {
            self.mingled.insert(self.spans);
        }
    }

    /// Adds a process of the span.
    pub(super) fn add_process(&mut self, sums: &ProcessSums) {
        if !sums.is_complete {
            self.incomplete.insert(sums.process);
        } else if self.complete.len() <= MAX_COMPLETE {
            self.complete.insert((self.spans, sums.process));
        }
    }

    /// Adds brief processes of the span. `most` is the upper bound of what one of them did.
    pub(super) fn add_brief(&mut self, sums: &BriefSums, most: u64) {
        self.largest_of_span = self.largest_of_span.max(most);
        self.ranges += sums.processes.len();
        if self.are_too_many() {
            return;
        }
        let (comm, processes) = (sums.group.comm, sums.processes.clone());
        self.brief.push(Brief { span: self.spans, comm, processes, most });
    }

    /// Returns whether all sums are exact.
    pub(super) fn is_empty(&self) -> bool {
        self.brief.is_empty() && self.incomplete.is_empty()
    }

    /// Returns whether there were too many to keep: then nothing is known to be exact.
    pub(super) fn are_too_many(&self) -> bool {
        self.ranges > MAX_RANGES || self.complete.len() > MAX_COMPLETE
    }

    /// Returns whether the sums of a process, by a name if there is one, are all that it did.
    pub(super) fn is_certain(&self, process: u32, comm: Option<Comm>) -> bool {
        let is_apart = |brief: &Brief| {
            comm.is_some_and(|comm| differ(&comm, &brief.comm))
                || !has(&brief.processes, process)
                || self.complete.contains(&(brief.span, process))
        };
        !self.incomplete.contains(&process) && self.brief.iter().all(is_apart)
    }

    /// Returns the most that one brief process can have done.
    pub(super) fn largest(&self) -> u64 {
        let (largest, lasting) = self.largest_so_far();
        largest.saturating_add(lasting)
    }

    /// Returns `largest` and `lasting` with the last span. A brief process of an hour may live for hours, so that bounds of hours are added.
    fn largest_so_far(&self) -> (u64, u64) {
        match self.mingled.contains(&self.spans) {
            true => (self.largest, self.lasting.saturating_add(self.largest_of_span)),
            false => (self.largest.max(self.largest_of_span), self.lasting),
        }
    }

    /// Returns the most that brief processes with one pid can have done together.
    pub(super) fn most(&self) -> u64 {
        // The first pid of a range or the one behind its end, whether it begins, and its bound.
        let mut changes: Vec<(u64, bool, u64)> = Vec::with_capacity(self.brief.len() * 2);
        let mut add = |first: u32, last: u32, most: u64| {
            changes.extend([(u64::from(first), true, most), (u64::from(last) + 1, false, most)]);
        };
        for of_span in self.brief.chunk_by(|one, next| one.span == next.span) {
            if self.mingled.contains(&of_span[0].span) {
                let ranges =
                    of_span.iter().flat_map(|one| one.processes.iter().map(|range| (range, one.most)));
                ranges.for_each(|(range, most)| add(*range.start(), *range.end(), most));
                continue;
            }
            // Each pid is that of one process.
            let ranges = || of_span.iter().flat_map(|one| &one.processes);
            let first = ranges().map(|range| *range.start()).min();
            let last = ranges().map(|range| *range.end()).max();
            let most = of_span.iter().map(|one| one.most).max();
            add(first.unwrap_or(0), last.unwrap_or(u32::MAX), most.unwrap_or(0));
        }
        // Ends come before beginnings.
        changes.sort_unstable();
        let (mut now, mut most) = (0_u64, 0);
        for (_, is_begin, change) in changes {
            now = if is_begin { now.saturating_add(change) } else { now.saturating_sub(change) };
            most = most.max(now);
        }
        most
    }
}

/// Returns whether two names read differently.
fn differ(one: &Comm, other: &Comm) -> bool {
    one != other && one.to_lossy() != other.to_lossy()
}

/// Returns whether a number is in any of the ranges.
pub(super) fn has(ranges: &[RangeInclusive<u32>], number: u32) -> bool {
    ranges.iter().any(|range| range.contains(&number))
}

#[cfg(test)]
mod tests {
    use facts::task::figure::Figures;

    use super::*;
    use crate::task_sums::TaskGroup;

    fn group(name: &str) -> TaskGroup {
        TaskGroup { comm: Comm::new(name.as_bytes()), ..TaskGroup::default() }
    }

    fn brief(name: &str, processes: RangeInclusive<u32>) -> BriefSums {
        let processes = vec![processes];
        BriefSums { group: group(name), most: Figures::NONE, processes }
    }

    fn process(name: &str, process: u32, is_complete: bool) -> ProcessSums {
        ProcessSums { process, group: group(name), figures: Figures::NONE, is_complete }
    }

    #[test]
    fn what_may_be_of_one_process_adds_up() {
        let mut brief_bounds = BriefBounds::default();
        brief_bounds.begin_span(true);
        brief_bounds.add_brief(&brief("sh", 10..=20), 5);
        assert_eq!(brief_bounds.most(), 5);
        brief_bounds.add_brief(&brief("cc", 21..=30), 7);
        assert_eq!(brief_bounds.most(), 7);
        brief_bounds.begin_span(true);
        brief_bounds.add_brief(&brief("sh", 20..=21), 2);
        assert_eq!(brief_bounds.most(), 9);
        brief_bounds.begin_span(false);
        brief_bounds.add_brief(&brief("sh", 15..=21), 3);
        brief_bounds.add_brief(&brief("cc", 15..=21), 4);
        assert_eq!(brief_bounds.most(), 13);
    }

    /// A brief process of a minute is one of no other; one of an hour may be one of the next.
    #[test]
    fn what_lasts_adds_up() {
        let mut brief_bounds = BriefBounds::default();
        for (value, has_mingled) in [(5, false), (9, false), (7, false), (3, true), (2, true), (4, false)] {
            brief_bounds.begin_span(has_mingled);
            [1, value].into_iter().for_each(|most| brief_bounds.add_brief(&brief("sh", 10..=20), most));
        }
        assert_eq!(brief_bounds.largest(), 9 + 3 + 2);
    }

    #[test]
    fn a_process_is_certain_where_no_brief_one_has_its_number() {
        let mut brief_bounds = BriefBounds::default();
        assert!(brief_bounds.is_empty());
        brief_bounds.begin_span(false);
        brief_bounds.add_brief(&brief("sh", 10..=20), 5);
        brief_bounds.add_process(&process("sh", 11, true));
        brief_bounds.add_process(&process("sh", 12, false));
        brief_bounds.add_process(&process("cc", 13, true));
        assert!(!brief_bounds.is_empty());
        let certain = [9, 10, 11, 12, 13, 21].map(|process| brief_bounds.is_certain(process, None));
        assert_eq!(certain, [true, false, true, false, true, true]);
        // In another span another process may have had its number.
        brief_bounds.begin_span(false);
        brief_bounds.add_brief(&brief("sh", 11..=11), 5);
        assert!(!brief_bounds.is_certain(11, None) && !brief_bounds.is_certain(11, Some(Comm::new(b"sh"))));
        assert!(brief_bounds.is_certain(11, Some(Comm::new(b"cc"))));
    }
}
