//! Two readings of the same selection: what was waited for in between.

use std::collections::HashMap;

use facts::rate::task_delta;
use facts::task::Task;
use facts::unit::Nanos;
use probe::tasks::EndedThreads;

use super::selection::Group;
use super::{Kind, Row};

/// What each group's threads did between two readings, summed. Each is subtracted by itself: threads come and go. One
/// that began in between counts in full; what those that ended did in it is told beside the row, as far as /proc says.
pub(crate) fn between(before: &[Group], now: &[Group], elapsed: Nanos) -> Vec<Row> {
    let threads = before.iter().flat_map(|group| &group.members);
    let processes: HashMap<u32, Nanos> =
        before.iter().filter_map(|group| Some((group.id, group.process_cpu?))).collect();
    let before: HashMap<u32, &Task> = threads.map(|task| (task.key.pid, task)).collect();
    let difference = |task: &Task| match before.get(&task.key.pid).and_then(|before| task_delta(before, task))
    {
        Some(delta) => Some(delta),
        // What is older and was not in the first reading joined the selection: its past is not the interval's.
        None => (task.wall <= elapsed).then(|| task.checked()),
    };
    let row = |group: &Group| {
        let differences: Vec<Task> = group.members.iter().filter_map(difference).collect();
        let mut row = group.row(&differences)?;
        let before = processes.get(&group.id).filter(|_| group.kind == Kind::Process);
        let whole = group.process_cpu.zip(before).map(|(now, before)| now.saturating_sub(*before));
        let on_cpu = EndedThreads::on_cpu_beside(whole, row.task.on_cpu, row.task.threads);
        row.ended = on_cpu.map(|_| Box::new(EndedThreads { on_cpu, ..EndedThreads::default() }));
        Some(row)
    };
    now.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::task::{Accounting, Cause, Delay, TaskKey};

    fn thread(pid: u32, start_s: u64, now_s: u64, on_cpu_s: u64) -> Task {
        let wall = Nanos((now_s - start_s) * Nanos::SECOND.0);
        Task {
            key: TaskKey { pid, start: Nanos(start_s * Nanos::SECOND.0) },
            wall,
            thread_time: wall,
            threads: 1,
            on_cpu: Some(Nanos(on_cpu_s * Nanos::SECOND.0)),
            ..Task::default()
        }
    }

    fn group(members: Vec<Task>) -> Group {
        Group::for_test(Kind::Process, members)
    }

    #[test]
    fn a_thread_that_ended_takes_nothing_from_the_others() {
        let before = [group(vec![thread(1, 0, 10, 4), thread(2, 0, 10, 9)])];
        let now = [group(vec![thread(1, 0, 12, 6)])];
        let rows = between(&before, &now, Nanos(2 * Nanos::SECOND.0));
        assert_eq!(rows[0].task.on_cpu, Some(Nanos(2 * Nanos::SECOND.0)));
    }

    #[test]
    fn threads_that_came_and_went_are_told_beside() {
        let at = |now_s: u64, whole_s: u64| {
            let mut group = group(vec![thread(1, 0, now_s, 1)]);
            group.process_cpu = Some(Nanos(whole_s * Nanos::SECOND.0));
            group
        };
        let told = |after: Group| {
            let row = between(&[at(10, 40)], &[after], Nanos(2 * Nanos::SECOND.0)).remove(0);
            row.ended.and_then(|ended| ended.on_cpu)
        };
        assert_eq!(told(at(12, 42)), Some(Nanos(2 * Nanos::SECOND.0)));
        assert_eq!(told(at(12, 40)), None);
    }

    #[test]
    fn a_total_that_cannot_be_is_subtracted_like_any_other() {
        // Charged with the uptime once, in its past; since then it has waited for 0.3 s.
        let at = |now_s: u64, block_io_ms: u64| {
            let mut task = thread(1, 0, now_s, 1);
            task.accounting = Accounting::On;
            let total = Nanos(3_600_000_000_000 + block_io_ms * 1_000_000);
            task.delays[Cause::BlockIo] = Delay::new(Some(block_io_ms), Some(total), None);
            [group(vec![task])]
        };
        let rows = between(&at(10, 100), &at(12, 400), Nanos(2 * Nanos::SECOND.0));
        assert_eq!(rows[0].task.delays[Cause::BlockIo].total(), Some(Nanos(300_000_000)));
    }

    #[test]
    fn a_thread_that_began_counts_and_one_that_joined_does_not() {
        let before = [group(vec![thread(1, 0, 10, 4)])];
        let now = [group(vec![thread(1, 0, 12, 5), thread(3, 11, 12, 1), thread(4, 0, 12, 9)])];
        let rows = between(&before, &now, Nanos(2 * Nanos::SECOND.0));
        assert_eq!((rows[0].task.on_cpu, rows[0].task.threads), (Some(Nanos(2 * Nanos::SECOND.0)), 2));
    }
}
