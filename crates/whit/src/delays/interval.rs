//! Readings of the same selection one after the other: what was waited for in between.

use facts::cgroup::CgroupUsage;
use facts::sample::Clock;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use probe::tasks::EndedThreads;

use super::selection::Group;
use super::{Kind, Row};

/// The deltas of a selection's threads from reading to reading.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    store: TaskStore,
    /// The usage at the last reading, where a cgroup is read.
    usage: Option<CgroupUsage>,
}

impl Intervals {
    /// Adds a reading, and returns a row for each group: what its threads did since the last one. A thread that started in between
    /// counts in full. A thread that is older and was not in the last reading joined the selection: its past is not the interval's.
    /// CPU time of what ended is a part of the row, as far as /proc or the cgroup contains it, and is reported beside it, too.
    pub(crate) fn add(&mut self, groups: &[Group], clock: Clock) -> Vec<Row> {
        self.store.begin(clock);
        let processes = groups.iter().filter(|group| group.kind == Kind::Process);
        self.store.process_cpu.extend(processes.filter_map(|group| Some((group.id, group.process_cpu?))));
        for row in groups.iter().flat_map(|group| &group.members) {
            let mut row = *row;
            // taskstats contains the age: two readings place the start a little apart.
            if let Some(known) = self.store.row(row.key.pid).filter(|known| known.key.is_same(&row.key)) {
                row.key.start = known.key.start;
            }
            self.store.put(&row);
        }
        self.store.remove_stale();
        self.store.finish(&mut Vec::new());
        groups.iter().filter_map(|group| self.row(group)).collect()
    }

    fn row(&mut self, group: &Group) -> Option<Row> {
        let usage_before = group.usage().and_then(|usage| self.usage.replace(usage));
        let mut row = group.row(|row, is_counted| self.store.sum_of(row.key.pid, is_counted))?;
        let ended = match &mut row.cgroup {
            None => {
                let of_process = self.store.ended_threads().get(&group.id).copied();
                of_process.filter(|_| group.kind == Kind::Process)
            }
            Some(cgroup) => {
                cgroup.usage = usage_before.map(|before| cgroup.usage.since(&before)).unwrap_or_default();
                // Tasks are read one after the other, and the cgroup after them.
                let may_differ = Nanos(row.task.wall.0 / 50);
                let rest = cgroup.usage.cpu.zip(row.task.sum.on_cpu());
                rest.map(|(whole, living)| whole.saturating_sub(living)).filter(|rest| *rest > may_differ)
            }
        };
        if let Some(on_cpu) = ended {
            row.task.sum.add_cpu(on_cpu);
            row.ended = Some(Box::new(EndedThreads { on_cpu: Some(on_cpu), ..EndedThreads::default() }));
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::task::figure::Figure;
    use facts::task::{Accounting, Cause, TaskKey, TaskRow};

    fn seconds(count: u64) -> Nanos {
        Nanos(count * Nanos::SECOND.0)
    }

    fn thread(pid: u32, start_s: u64, now_s: u64, on_cpu_s: u64) -> TaskRow {
        let mut row = TaskRow {
            key: TaskKey { pid, start: seconds(start_s) },
            tgid: Some(1),
            accounting: Accounting::On,
            wall: seconds(now_s - start_s),
            ..TaskRow::NONE
        };
        row.figures.set(Figure::ON_CPU, Some(seconds(on_cpu_s).0));
        row
    }

    /// Readings at 10 and at 12 seconds.
    fn between(before: Vec<TaskRow>, now: Vec<TaskRow>, process_cpu_s: [Option<u64>; 2]) -> Row {
        let mut intervals = Intervals::default();
        let mut add = |now_s: u64, members, process_cpu: Option<u64>| {
            let mut group = Group::for_test(Kind::Process, members);
            group.process_cpu = process_cpu.map(seconds);
            let now = seconds(now_s);
            intervals.add(&[group], Clock { monotonic: now, boottime: now, realtime: now })
        };
        assert!(add(10, before, process_cpu_s[0]).is_empty());
        add(12, now, process_cpu_s[1]).remove(0)
    }

    #[test]
    fn a_thread_that_ended_takes_nothing_from_the_others() {
        let row =
            between(vec![thread(1, 0, 10, 4), thread(2, 0, 10, 9)], vec![thread(1, 0, 12, 6)], [None; 2]);
        assert_eq!((row.task.sum.on_cpu(), row.task.wall), (Some(seconds(2)), seconds(2)));
    }

    #[test]
    fn threads_that_came_and_went_are_a_part_of_the_row() {
        let ended_on_cpu = |whole_s: u64| {
            let row =
                between(vec![thread(1, 0, 10, 1)], vec![thread(1, 0, 12, 1)], [Some(40), Some(whole_s)]);
            row.ended.and_then(|ended| ended.on_cpu)
        };
        assert_eq!((ended_on_cpu(42), ended_on_cpu(40)), (Some(seconds(2)), None));
        let row = between(vec![thread(1, 0, 10, 1)], vec![thread(1, 0, 12, 1)], [Some(40), Some(42)]);
        assert_eq!((row.task.sum.on_cpu(), row.task.sum.thread_time), (Some(seconds(2)), seconds(4)));
    }

    #[test]
    fn a_total_that_cannot_be_is_subtracted_like_any_other() {
        // Charged with the uptime once, in its past; since then it has waited for 0.3 s.
        let at = |now_s: u64, block_io_ms: u64| {
            let mut row = thread(1, 0, now_s, 1);
            let total = 3_600_000_000_000 + block_io_ms * 1_000_000;
            row.figures.set(Figure::delay(Cause::BlockIo), Some(total));
            row.figures.set(Figure::count(Cause::BlockIo), Some(block_io_ms));
            vec![row]
        };
        let row = between(at(10, 100), at(12, 400), [None; 2]);
        assert_eq!(row.task.sum.delay(Cause::BlockIo).total(), Some(Nanos(300_000_000)));
    }

    #[test]
    fn a_thread_that_began_counts_and_one_that_joined_does_not() {
        let now = vec![thread(1, 0, 12, 5), thread(3, 11, 12, 1), thread(4, 0, 12, 9)];
        let sum = between(vec![thread(1, 0, 10, 4)], now, [None; 2]).task.sum;
        assert_eq!((sum.on_cpu(), sum.threads, sum.thread_time), (Some(seconds(2)), 2, seconds(3)));
    }

    #[test]
    fn a_thread_that_did_nothing_slept() {
        let sum = between(vec![thread(1, 0, 10, 4)], vec![thread(1, 0, 12, 4)], [None; 2]).task.sum;
        assert_eq!((sum.on_cpu(), sum.thread_time), (Some(Nanos(0)), seconds(2)));
    }
}
