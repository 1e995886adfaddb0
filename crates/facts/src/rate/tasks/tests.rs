//! Tables made by hand.

use super::*;
use crate::task::TaskKey;
use crate::task::table::TaskRow;

fn at(seconds: u64) -> Clock {
    let nanos = Nanos(seconds * Nanos::SECOND.0);
    Clock { monotonic: nanos, boottime: nanos, realtime: nanos }
}

fn row(pid: u32, start_s: u64, on_cpu: u64) -> TaskRow {
    let mut row = TaskRow {
        key: TaskKey { pid, start: Nanos(start_s * Nanos::SECOND.0) },
        state: Some(b'S'),
        ..TaskRow::default()
    };
    row.figures.set(Figure::ON_CPU, Some(on_cpu));
    row.figures.set(Figure::delay(Cause::BlockIo), Some(on_cpu * 10));
    row
}

fn table(clock: Clock, rows: &[TaskRow]) -> TaskTable {
    let mut table = TaskTable::default();
    table.clock = clock;
    rows.iter().for_each(|row| table.push(row));
    table
}

fn on_cpu(before: &[TaskRow], now: &[TaskRow], ended: &[Ended]) -> Vec<Option<u64>> {
    let (before, now) = (table(at(100), before), table(at(101), now));
    let mut changes = TaskChanges::default();
    changes.fill(&before, &now, &mut ended.to_vec());
    let changed = changes.of(&now);
    (0..changed.len()).map(|index| changed.get(index, Figure::ON_CPU)).collect()
}

#[test]
fn the_living_are_subtracted_wherever_they_stand() {
    let before = [row(1, 0, 10), row(2, 0, 20), row(5, 0, 50)];
    let now = [row(2, 0, 21), row(9, 100, 3), row(5, 0, 49), row(1, 0, 17), row(7, 0, 7)];
    assert_eq!(on_cpu(&before, &now, &[]), [Some(1), Some(3), None, Some(7), None]);
}

#[test]
fn a_reused_pid_is_another_task() {
    assert_eq!(on_cpu(&[row(1, 0, 10)], &[row(1, 100, 4)], &[]), [Some(4)]);
}

#[test]
fn what_ended_counts_from_the_last_sample_and_once() {
    // The first record is of the task that was sampled, the second of one that had its pid afterwards.
    let first = Ended { row: row(1, 1, 15), wall: Nanos(100 * Nanos::SECOND.0) };
    let second = Ended { row: row(1, 101, 2), wall: Nanos(1) };
    assert_eq!(on_cpu(&[row(1, 0, 10)], &[], &[first, second]), [Some(5), Some(2)]);
}

#[test]
fn who_ended_after_the_table_was_read_is_left_for_the_next() {
    let mut changes = TaskChanges::default();
    let mut ended = vec![Ended { row: row(1, 1, 15), wall: Nanos(100 * Nanos::SECOND.0) }];
    let tables = [(100, vec![row(1, 0, 10)]), (101, vec![row(1, 0, 12)]), (102, vec![])];
    let [first, second, third] = tables.map(|(clock, rows)| table(at(clock), &rows));
    changes.fill(&first, &second, &mut ended);
    assert_eq!((changes.of(&second).get(0, Figure::ON_CPU), ended.len()), (Some(2), 1));
    changes.fill(&second, &third, &mut ended);
    assert_eq!((changes.of(&third).get(0, Figure::ON_CPU), ended.len()), (Some(3), 0));
}

#[test]
fn a_machine_that_slept_knows_who_ended() {
    // It began at 10, slept for 50 seconds and ended at the age of 40.
    let slept = |seconds| Clock { monotonic: Nanos((seconds - 50) * Nanos::SECOND.0), ..at(seconds) };
    let record = Ended { row: row(1, 60, 15), wall: Nanos(40 * Nanos::SECOND.0) };
    let mut changes = TaskChanges::default();
    let now = table(slept(101), &[]);
    changes.fill(&table(slept(100), &[row(1, 10, 9)]), &now, &mut vec![record]);
    let changed = changes.of(&now);
    assert_eq!((changed.len(), changed.get(0, Figure::ON_CPU)), (1, Some(6)));
}

#[test]
fn a_thread_that_executes_another_program_takes_its_leaders_place() {
    let thread = |pid, on_cpu| TaskRow { tgid: Some(1), ..row(pid, 0, on_cpu) };
    let before = [thread(1, 10), thread(7, 500), thread(8, 30)];
    let record = |pid, on_cpu| Ended { row: thread(pid, on_cpu), wall: Nanos(101 * Nanos::SECOND.0) };
    // Thread 7 executed: it is 1 now, and the old 1 and 8 have ended.
    let told = on_cpu(&before, &[thread(1, 503)], &[record(1, 11), record(8, 34)]);
    assert_eq!(told, [Some(3), Some(1), Some(4)]);
    // Where all threads are told to have ended, the leader ended after it was looked at, and waits.
    let told = on_cpu(&before, &[thread(1, 12)], &[record(1, 13), record(7, 501), record(8, 30)]);
    assert_eq!(told, [Some(2), Some(1), Some(0)]);
}

#[test]
fn a_zombie_knew_more_than_its_record() {
    let record = Ended { row: row(1, 1, 15), wall: Nanos(100 * Nanos::SECOND.0) };
    assert_eq!(on_cpu(&[row(1, 0, 17)], &[], &[record]), [Some(0)]);
}

#[test]
fn a_wait_longer_than_the_interval_is_absent_and_counted() {
    let mut changes = TaskChanges::default();
    let (before, mut now) = (row(1, 0, 10), row(1, 0, 11));
    now.figures.set(Figure::delay(Cause::BlockIo), Some(90_000_000_000));
    let now = table(at(101), &[now]);
    changes.fill(&table(at(100), &[before]), &now, &mut Vec::new());
    assert_eq!(changes.of(&now).get(0, Figure::delay(Cause::BlockIo)), None);
    assert_eq!((changes.impossible_values, changes.of(&now).get(0, Figure::ON_CPU)), (1, Some(1)));
    // Unless it was waiting when the interval began.
    let waiting = TaskRow { state: Some(b'D'), ..before };
    changes.fill(&table(at(100), &[waiting]), &now, &mut Vec::new());
    assert_eq!(changes.of(&now).get(0, Figure::delay(Cause::BlockIo)), Some(90_000_000_000 - 100));
}

#[test]
fn a_first_table_has_no_counters() {
    let mut changes = TaskChanges::default();
    let now = table(at(0), &[row(1, 0, 10)]);
    changes.fill(&TaskTable::default(), &now, &mut Vec::new());
    assert_eq!((changes.of(&now).len(), changes.of(&now).get(0, Figure::ON_CPU)), (1, None));
}

/// What the second between two tables says of a task's block I/O: on a CPU, in the run queue, charged, waits, all in milliseconds.
fn block_io_ms(state: Option<u8>, on_cpu: u64, run_queue: u64, charged: u64, waits: u64) -> Option<u64> {
    const MS: u64 = 1_000_000;
    let mut before = TaskRow { state, ..row(1, 0, 0) };
    let mut now = before;
    for (figure, value) in [
        (Figure::ON_CPU, on_cpu * MS),
        (Figure::delay(Cause::RunQueue), run_queue * MS),
        (Figure::delay(Cause::BlockIo), charged * MS),
        (Figure::count(Cause::BlockIo), waits),
    ] {
        before.figures.set(figure, Some(0));
        now.figures.set(figure, Some(value));
    }
    let (before, now) = (table(at(100), &[before]), table(at(101), &[now]));
    let mut changes = TaskChanges::default();
    changes.fill(&before, &now, &mut Vec::new());
    changes.of(&now).get(0, Figure::delay(Cause::BlockIo)).map(|value| value / MS)
}

#[test]
fn the_parts_of_a_second_are_at_most_a_second() {
    assert_eq!(block_io_ms(Some(b'S'), 650, 220, 690, 3), Some(130));
    assert_eq!(block_io_ms(None, 650, 220, 690, 1), Some(130));
    assert_eq!(block_io_ms(Some(b'S'), 650, 220, 100, 3), Some(100));
}

#[test]
fn only_a_task_that_was_waiting_is_charged_with_more_than_the_interval() {
    assert_eq!(block_io_ms(Some(b'D'), 100, 0, 90_000, 1), Some(90_000));
    for state in [b'S', b'R'] {
        assert_eq!(block_io_ms(Some(state), 100, 0, 90_000, 1), None);
    }
    // taskstats does not say who waits: one long wait can be, several cannot, and nobody waits for longer than it has lived.
    assert_eq!(block_io_ms(None, 100, 0, 90_000, 1), Some(90_000));
    assert_eq!((block_io_ms(None, 100, 0, 30_000, 2), block_io_ms(None, 100, 0, 110_000, 1)), (None, None));
}
