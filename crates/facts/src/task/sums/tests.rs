//! Sums of tasks made by hand.

use super::*;
use crate::rate::tasks::{Ended, TaskChanges};
use crate::sample::Clock;
use crate::task::TaskKey;
use crate::task::figure::Figure;
use crate::task::table::{Comm, TaskRow, TaskTable};
use crate::unit::Nanos;

fn at(seconds: u64) -> Clock {
    let nanos = Nanos(seconds * Nanos::SECOND.0);
    Clock { monotonic: nanos, boottime: nanos, realtime: nanos }
}

fn row(pid: u32, tgid: u32, uid: u32, comm: &str, on_cpu: u64) -> TaskRow {
    let mut row = TaskRow {
        key: TaskKey { pid, start: Nanos(1) },
        tgid: Some(tgid),
        uid: Some(uid),
        comm: Comm::new(comm.as_bytes()),
        ..TaskRow::default()
    };
    row.figures.set(Figure::ON_CPU, Some(on_cpu));
    row.figures.set(Figure::RESIDENT_BYTES, Some(100));
    row
}

/// Name, threads, processes, time on a CPU, memory.
type Told = (String, u32, u32, Option<u64>, Option<u64>);

fn sums(by: GroupBy) -> Vec<Told> {
    let tables = [at(100), at(101)].map(|clock| {
        let mut table = TaskTable::default();
        table.clock = clock;
        let used = clock.boottime.0 / Nanos::SECOND.0 - 100;
        for (pid, tgid, uid, comm) in [(12, 10, 0, "b"), (10, 10, 0, "a"), (20, 20, 5, "c")] {
            table.push(&row(pid, tgid, uid, comm, used));
        }
        table
    });
    // A thread of 10, and two processes of one name.
    let born = |pid, tgid, comm| {
        let mut row = row(pid, tgid, 5, comm, 3);
        row.key.start = Nanos(100 * Nanos::SECOND.0);
        row.figures.set(Figure::RESIDENT_BYTES, Some(0));
        Ended { row, wall: Nanos(9), between: (at(100).boottime, at(101).boottime), tick: Nanos(4) }
    };
    let mut ended = vec![born(13, 10, "b"), born(30, 30, "true"), born(31, 31, "true")];
    let mut changes = TaskChanges::default();
    changes.fill(&tables[0], &tables[1], &mut ended);
    let mut sums = TaskSums::default();
    sums.fill(changes.of(&tables[1]), by, None);
    let rows = sums.of(changes.of(&tables[1]));
    (0..rows.len())
        .map(|row| {
            let name = rows.comm(row).map_or(String::new(), |comm| comm.as_str().to_owned());
            let (on_cpu, resident) = (rows.get(row, Figure::ON_CPU), rows.get(row, Figure::RESIDENT_BYTES));
            (name, rows.threads(row), rows.processes(row), on_cpu, resident)
        })
        .collect()
}

#[test]
fn a_process_is_its_threads_the_ended_included() {
    let expected = [
        ("a".to_owned(), 3, 1, Some(5), Some(100)),
        ("c".to_owned(), 1, 1, Some(1), Some(100)),
        ("true".to_owned(), 2, 2, Some(6), Some(0)),
    ];
    assert_eq!(sums(GroupBy::Process), expected);
}

#[test]
fn a_user_is_all_processes() {
    let users = sums(GroupBy::User);
    let counts: Vec<_> = users.iter().map(|user| (user.1, user.2, user.3, user.4)).collect();
    // The ended thread says user 5, as its record did.
    assert_eq!(counts, [(2, 1, Some(2), Some(100)), (4, 4, Some(10), Some(100))]);
}

#[test]
fn who_ended_counts_the_same_in_any_sum() {
    let tables = [at(100), at(101)].map(|clock| {
        let mut table = TaskTable::default();
        table.clock = clock;
        table.push(&row(10, 10, 0, "a", clock.boottime.0 / Nanos::SECOND.0));
        table
    });
    // Its record lacks the last stretch on the precise figure; the ticks have it.
    let mut record = row(30, 30, 0, "true", 3);
    record.key.start = Nanos(100 * Nanos::SECOND.0);
    record.figures.set(Figure::USER, Some(5));
    record.figures.set(Figure::SYSTEM, Some(6));
    let mut changes = TaskChanges::default();
    changes.fill(
        &tables[0],
        &tables[1],
        &mut vec![Ended {
            row: record,
            wall: Nanos(20),
            between: (at(100).boottime, at(101).boottime),
            tick: Nanos(4),
        }],
    );
    for by in [GroupBy::Thread, GroupBy::Process, GroupBy::User, GroupBy::Cgroup] {
        let mut sums = TaskSums::default();
        sums.fill(changes.of(&tables[1]), by, None);
        let rows = sums.of(changes.of(&tables[1]));
        let all: Option<u64> = (0..rows.len()).map(|row| rows.cpu_ns(row)).sum();
        assert_eq!(all, Some(1 + 11), "{by:?}");
    }
}

#[test]
fn a_sum_of_processes_is_none_of_them() {
    let mut table = TaskTable::default();
    for (pid, uid, comm) in [(1, 0, "init"), (7, 0, "a"), (8, 5, "b")] {
        table.push(&row(pid, pid, uid, comm, 1));
    }
    let mut changes = TaskChanges::default();
    changes.fill(&TaskTable::default(), &table, &mut Vec::new());
    let mut sums = TaskSums::default();
    sums.fill(changes.of(&table), GroupBy::User, None);
    let rows = sums.of(changes.of(&table));
    assert_eq!((rows.uid(0), rows.comm(0), rows.nice(0), rows.processes(0)), (Some(0), None, None, 2));
    assert_eq!((rows.uid(1), rows.comm(1).map(|comm| comm.0[0])), (Some(5), Some(b'b')));
}

#[test]
fn threads_stay_apart() {
    assert_eq!(sums(GroupBy::Thread).len(), 6);
}

/// Living rows and ended ones, grouped; what `ask` says of each row.
fn grouped<T>(living: &[TaskRow], ended: &[TaskRow], by: GroupBy, ask: fn(Summed<'_>, usize) -> T) -> Vec<T> {
    let tables = [at(100), at(101)].map(|clock| {
        let mut table = TaskTable::default();
        table.clock = clock;
        living.iter().for_each(|row| table.push(row));
        table
    });
    let between = (at(100).boottime, at(101).boottime);
    let mut ended =
        ended.iter().map(|row| Ended { row: *row, wall: Nanos(9), between, tick: Nanos(4) }).collect();
    let mut changes = TaskChanges::default();
    changes.fill(&tables[0], &tables[1], &mut ended);
    let mut sums = TaskSums::default();
    sums.fill(changes.of(&tables[1]), by, None);
    let rows = sums.of(changes.of(&tables[1]));
    (0..rows.len()).map(|row| ask(rows, row)).collect()
}

#[test]
fn a_task_that_lives_stands_for_a_row() {
    // The main thread has ended and sorts first.
    let mut leader = row(10, 10, 5, "main", 3);
    leader.key.start = Nanos(100 * Nanos::SECOND.0);
    let thread = row(12, 10, 5, "thread", 3);
    for by in [GroupBy::User, GroupBy::Cgroup] {
        assert_eq!(
            grouped(&[thread], &[leader], by, |rows, row| (rows.first(row), rows.living(row))),
            [(0, Some(0))]
        );
    }
    let by_process = grouped(&[thread], &[], GroupBy::Process, |rows, row| (rows.pid(row), rows.tgid(row)));
    assert_eq!(by_process, [(10, 10)]);
}

#[test]
fn a_process_has_the_memory_that_one_of_its_threads_shows() {
    let (mut leader, thread) = (row(10, 10, 5, "main", 3), row(12, 10, 5, "thread", 3));
    leader.state = Some(b'Z');
    leader.figures.set(Figure::RESIDENT_BYTES, Some(0));
    let other = row(20, 20, 5, "other", 3);
    let resident = |rows: Summed<'_>, row| rows.get(row, Figure::RESIDENT_BYTES);
    assert_eq!(grouped(&[leader, thread, other], &[], GroupBy::User, resident), [Some(200)]);
    assert_eq!(grouped(&[leader, thread], &[], GroupBy::Process, resident), [Some(100)]);
}

#[test]
fn threads_that_no_record_tells_of_count_for_their_process() {
    let cpu_ns = |by: GroupBy, whole_ms: u64| {
        let mut tables = [at(100), at(101)].map(|clock| {
            let mut table = TaskTable::default();
            table.clock = clock;
            table.push(&row(10, 10, 0, "a", (clock.boottime.0 / Nanos::SECOND.0 - 100) * 10_000_000));
            table
        });
        tables[0].process_cpu.insert(10, Nanos(500_000_000));
        tables[1].process_cpu.insert(10, Nanos((500 + whole_ms) * 1_000_000));
        let [before, now] = tables;
        let mut changes = TaskChanges::default();
        changes.fill(&before, &now, &mut Vec::new());
        let mut sums = TaskSums::default();
        sums.fill(changes.of(&now), by, None);
        let summed = sums.of(changes.of(&now));
        (summed.cpu_ns(0).map(|ns| ns / 1_000_000), summed.thread_time(0).0 / 1_000_000)
    };
    assert_eq!(cpu_ns(GroupBy::Process, 900), (Some(900), 1_890));
    assert_eq!(cpu_ns(GroupBy::Thread, 900), (Some(10), 1_000));
    // What the ticks may be wrong by.
    assert_eq!(cpu_ns(GroupBy::Process, 25), (Some(10), 1_000));
}
