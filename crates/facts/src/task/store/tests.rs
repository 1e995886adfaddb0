//! Rounds made by hand.

use super::*;

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

/// A record that was read in the second that ends then, of a task that lived so long, in milliseconds.
fn record(row: TaskRow, until_s: u64, wall_ms: u64) -> ExitRecord {
    let at = |seconds: u64| Nanos(seconds * Nanos::SECOND.0);
    let wall = Nanos(wall_ms * 1_000_000);
    let key = TaskKey { start: at(until_s).saturating_sub(wall), ..row.key };
    ExitRecord {
        row: TaskRow { key, wall, ..row },
        exit: crate::linux::taskstats::ExitInfo::default(),
        between: (at(until_s - 1), at(until_s)),
        tick: Nanos(4_000_000),
    }
}

/// Two rounds.
fn store(before: (Clock, &[TaskRow]), now: (Clock, &[TaskRow]), exits: &mut Vec<ExitRecord>) -> TaskStore {
    let mut store = TaskStore::default();
    round(&mut store, before, &mut Vec::new());
    round(&mut store, now, exits);
    store
}

/// A round in which the reader puts every task that exists.
fn round(store: &mut TaskStore, (clock, rows): (Clock, &[TaskRow]), exits: &mut Vec<ExitRecord>) {
    store.begin(clock);
    rows.iter().for_each(|row| store.put(row));
    store.remove_stale();
    store.finish(exits);
}

/// The CPU time of the living tasks of the second round, in their order, and of those that ended.
fn on_cpu(before: &[TaskRow], now: &[TaskRow], exits: &[ExitRecord]) -> Vec<Option<u64>> {
    let store = store((at(100), before), (at(101), now), &mut exits.to_vec());
    let living = now.iter().map(|row| store.delta(row.key.pid, Figure::ON_CPU));
    living.chain(store.ended().map(|ended| ended.delta.get(Figure::ON_CPU))).collect()
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
    let (first, second) = (record(row(1, 0, 15), 101, 100_300), record(row(1, 0, 2), 101, 1));
    assert_eq!(on_cpu(&[row(1, 0, 10)], &[], &[first, second]), [Some(5), Some(2)]);
}

#[test]
fn who_ended_after_the_table_was_read_is_left_for_the_next() {
    let mut exits = vec![record(row(1, 0, 15), 101, 101_000)];
    let mut store = store((at(100), &[row(1, 0, 10)]), (at(101), &[row(1, 0, 12)]), &mut exits);
    assert_eq!((store.delta(1, Figure::ON_CPU), exits.len()), (Some(2), 1));
    round(&mut store, (at(102), &[]), &mut exits);
    let ended: Vec<_> = store.ended().map(|ended| ended.delta.get(Figure::ON_CPU)).collect();
    assert_eq!((ended, exits.len()), (vec![Some(3)], 0));
}

#[test]
fn a_machine_that_slept_knows_who_ended() {
    // It began at 10, slept for 50 seconds and ended at the age of 40.
    let slept = |seconds| Clock { monotonic: Nanos((seconds - 50) * Nanos::SECOND.0), ..at(seconds) };
    let record = record(row(1, 0, 15), 101, 40_000);
    let store = store((slept(100), &[row(1, 10, 9)]), (slept(101), &[]), &mut vec![record]);
    let ended: Vec<_> = store.ended().map(|ended| ended.delta.get(Figure::ON_CPU)).collect();
    assert_eq!(ended, [Some(6)]);
}

#[test]
fn a_thread_that_executes_another_program_takes_its_leaders_place() {
    let thread = |pid, on_cpu| TaskRow { tgid: Some(1), ..row(pid, 0, on_cpu) };
    let before = [thread(1, 10), thread(7, 500), thread(8, 30)];
    let ended = |pid, on_cpu, wall_ms| record(thread(pid, on_cpu), 101, wall_ms);
    // Thread 7 executed: it is 1 now, and the old 1 and 8 have ended.
    let found = on_cpu(&before, &[thread(1, 503)], &[ended(1, 11, 100_500), ended(8, 34, 100_500)]);
    assert_eq!(found, [Some(3), Some(1), Some(4)]);
    // A leader that ended after it was looked at waits for the next interval.
    let records = [ended(1, 13, 101_000), ended(7, 501, 100_900), ended(8, 30, 100_900)];
    assert_eq!(on_cpu(&before, &[thread(1, 12)], &records), [Some(2), Some(1), Some(0)]);
}

#[test]
fn a_zombie_knew_more_than_its_record() {
    let record = record(row(1, 0, 15), 101, 100_000);
    assert_eq!(on_cpu(&[row(1, 0, 17)], &[], &[record]), [Some(0)]);
}

#[test]
fn a_wait_longer_than_the_interval_is_absent_and_counted() {
    let (before, mut now) = (row(1, 0, 10), row(1, 0, 11));
    now.figures.set(Figure::delay(Cause::BlockIo), Some(90_000_000_000));
    let after = |before: TaskRow| store((at(100), &[before]), (at(101), &[now]), &mut Vec::new());
    let awake = after(before);
    assert_eq!(awake.delta(1, Figure::delay(Cause::BlockIo)), None);
    assert_eq!((awake.impossible_values, awake.delta(1, Figure::ON_CPU)), (1, Some(1)));
    // Unless it was waiting when the interval began.
    let waiting = after(TaskRow { state: Some(b'D'), ..before });
    assert_eq!(waiting.delta(1, Figure::delay(Cause::BlockIo)), Some(90_000_000_000 - 100));
}

#[test]
fn a_first_table_has_no_counters() {
    let mut store = TaskStore::default();
    round(&mut store, (at(0), &[row(1, 0, 10)]), &mut Vec::new());
    assert_eq!((store.len(), store.delta(1, Figure::ON_CPU)), (1, None));
}

/// Returns a task's block I/O in the second between two tables: on a CPU, in the run queue, charged, waits, all in milliseconds.
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
    let store = store((at(100), &[before]), (at(101), &[now]), &mut Vec::new());
    store.delta(1, Figure::delay(Cause::BlockIo)).map(|value| value / MS)
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
    // taskstats does not say who waits: one long wait can be, several cannot, and no task waits for longer than it has lived.
    assert_eq!(block_io_ms(None, 100, 0, 90_000, 1), Some(90_000));
    assert_eq!((block_io_ms(None, 100, 0, 30_000, 2), block_io_ms(None, 100, 0, 110_000, 1)), (None, None));
}

/// On a CPU for so many milliseconds.
fn busy(pid: u32, tgid: u32, start_ms: u64, on_cpu_ms: u64) -> TaskRow {
    let mut row = row(pid, 0, on_cpu_ms * 1_000_000);
    row.key.start = Nanos(start_ms * 1_000_000);
    row.tgid = Some(tgid);
    row.figures.set(Figure::delay(Cause::BlockIo), Some(0));
    // As many switches as milliseconds.
    row.figures.set(Figure::VOLUNTARY_SWITCHES, Some(on_cpu_ms));
    row
}

fn busy_ms(before: &[TaskRow], now: &[TaskRow], ended: &[ExitRecord]) -> Vec<Option<u64>> {
    on_cpu(before, now, ended).into_iter().map(|value| value.map(|value| value / 1_000_000)).collect()
}

#[test]
fn a_pid_reused_within_the_interval_counts_for_both() {
    // A began at 99.6 s and ended at 100.2 s; B began at 100.3 s, and lives or ended at 100.8 s.
    let (a, b) = (busy(1, 1, 99_600, 200), busy(1, 1, 100_300, 400));
    let a_ended = record(busy(1, 1, 0, 500), 101, 600);
    assert_eq!(busy_ms(&[a], &[b], &[a_ended]), [Some(400), Some(300)]);
    let b_ended = record(b, 101, 500);
    assert_eq!(busy_ms(&[a], &[], &[a_ended, b_ended]), [Some(300), Some(400)]);
    // As near as a pid can come back.
    let near = busy(1, 1, 100_020, 400);
    assert_eq!(
        busy_ms(&[busy(1, 1, 99_960, 20)], &[near], &[record(busy(1, 1, 0, 30), 101, 50)]),
        [Some(400), Some(10)]
    );
}

#[test]
fn threads_that_execute_lose_no_time() {
    let leader = |on_cpu| busy(1, 1, 0, on_cpu);
    let ended = |on_cpu, wall_ms| record(leader(on_cpu), 101, wall_ms);
    // A thread of the older table executed and then ended.
    let before = [leader(10), busy(7, 1, 50_000, 500)];
    assert_eq!(busy_ms(&before, &[], &[ended(11, 100_300), ended(520, 100_600)]), [Some(1), Some(20)]);
    // Each thread began in the interval and executed the next program: four of them, the last one lives.
    let chain = [ended(11, 100_100), ended(50, 100_300), ended(50, 100_500), ended(50, 100_700)];
    assert_eq!(
        busy_ms(&before[..1], &[leader(50)], &chain),
        [Some(50), Some(1), Some(50), Some(50), Some(50)]
    );
    // Without records the counters tell: they went back, or went on for longer than the interval.
    assert_eq!(busy_ms(&before[..1], &[leader(5)], &[]), [Some(5)]);
    let before = [leader(10), busy(7, 1, 50_000, 5_000)];
    assert_eq!(busy_ms(&before, &[leader(5_060)], &[]), [Some(60)]);
}

#[test]
fn incarnations_share_the_time_of_their_id() {
    let leader = |on_cpu| busy(1, 1, 0, on_cpu);
    let records = [(11, 100_100), (50, 100_300), (50, 100_900)];
    let mut ended = records.map(|(on_cpu, wall_ms)| record(leader(on_cpu), 101, wall_ms)).to_vec();
    let store = store((at(100), &[leader(10)]), (at(101), &[]), &mut ended);
    let walls: Vec<u64> = store.ended().map(|ended| ended.wall_ns / 1_000_000).collect();
    assert_eq!(walls, [1_000, 200, 600]);
}

#[test]
fn a_task_that_ended_is_in_its_parents_cgroup() {
    let of = |pid, ppid, cgroup| TaskRow { ppid: Some(ppid), cgroup, ..busy(pid, pid, 0, 5) };
    let living = [of(10, 1, Some(7)), of(20, 1, Some(8))];
    let before = [living[0], living[1], of(40, 10, Some(9))];
    // One that was there, a child, its child, and one of an unknown parent.
    let records = [of(40, 10, None), of(30, 10, None), of(31, 30, None), of(50, 99, None)];
    let walls = [100_500, 100, 50, 10];
    let mut ended: Vec<ExitRecord> =
        records.into_iter().zip(walls).map(|(row, wall)| record(row, 101, wall)).collect();
    let store = store((at(100), &before), (at(101), &living), &mut ended);
    let cgroups: Vec<_> = store.ended().map(|ended| ended.row().cgroup).collect();
    assert_eq!(cgroups, [Some(9), Some(7), Some(7), None]);
}

#[test]
fn what_another_slept_is_not_unrecorded() {
    let mut ended_row = busy(30, 10, 0, 40);
    ended_row.figures.set(Figure::VOLUNTARY_SWITCHES, Some(0));
    ended_row.figures.set(Figure::delay(Cause::BlockIo), Some(0));
    let leader = [busy(10, 10, 0, 0)];
    let mut ended = vec![record(ended_row, 101, 50)];
    let store = store((at(100), &leader), (at(101), &leader), &mut ended);
    let thread = store.ended().next().unwrap();
    // Of the 50 ms that it lived 40 are accounted for.
    let left = thread.wall_ns - thread.cpu_ns().unwrap_or(0);
    assert!(thread.most_unrecorded_ns() <= left && left <= 10_000_000);
}

#[test]
fn a_round_of_changes_leaves_the_others_alone() {
    let rows = [row(1, 0, 10), row(2, 0, 20), row(3, 0, 30)];
    let mut store = TaskStore::default();
    round(&mut store, (at(100), &rows), &mut Vec::new());
    store.begin(at(101));
    store.put(&row(2, 0, 25));
    // The reader says that it skipped one task, and which ended.
    let (count, sum) = store.stale(&[3]);
    assert_eq!((count, sum), (1, fingerprint(rows[0].key)));
    store.remove(3);
    store.finish(&mut Vec::new());
    let found = [1, 2, 3].map(|pid| store.delta(pid, Figure::ON_CPU));
    assert_eq!((found, store.len()), ([Some(0), Some(5), None], 2));
    // A task that was skipped is subtracted from its row, however old that is.
    store.begin(at(102));
    store.put(&row(1, 0, 17));
    store.finish(&mut Vec::new());
    assert_eq!([1, 2].map(|pid| store.delta(pid, Figure::ON_CPU)), [Some(7), Some(0)]);
}

#[test]
fn an_exact_start_replaces_a_rounded_one() {
    let mut store = TaskStore::default();
    round(&mut store, (at(100), &[row(1, 0, 10), row(2, 0, 20)]), &mut Vec::new());
    let mut exact = row(1, 0, 15);
    exact.key.start = Nanos(4_000_000);
    store.begin(at(101));
    store.put_exact(&exact);
    store.finish(&mut Vec::new());
    assert_eq!(store.delta(1, Figure::ON_CPU), Some(5));
    // Both are left out of the next round.
    store.begin(at(102));
    let sum = fingerprint(exact.key).wrapping_add(fingerprint(row(2, 0, 20).key));
    assert_eq!(store.stale(&[]), (2, sum));
}

#[test]
fn a_round_that_starts_over_drops_tasks_that_went_meanwhile() {
    let rows = [row(1, 0, 10), row(2, 0, 20)];
    let mut store = TaskStore::default();
    round(&mut store, (at(100), &rows), &mut Vec::new());
    store.begin(at(101));
    rows.iter().for_each(|row| store.put(row));
    store.start_over();
    store.put(&row(2, 0, 26));
    store.remove_stale();
    store.finish(&mut Vec::new());
    assert_eq!((store.len(), store.delta(2, Figure::ON_CPU)), (1, Some(6)));
}

#[test]
fn a_reading_that_came_late_is_no_other_task() {
    let second = Nanos::SECOND.0;
    let (before, now) = (row(1, 0, 50 * second), row(1, 0, 52 * second));
    assert_eq!(on_cpu(&[before], &[now], &[]), [Some(2 * second)]);
}

#[test]
fn a_round_that_failed_is_part_of_the_next() {
    let mut store = TaskStore::default();
    round(&mut store, (at(100), &[row(1, 0, 10)]), &mut Vec::new());
    store.begin(at(101));
    store.abandon();
    round(&mut store, (at(102), &[row(1, 0, 16)]), &mut Vec::new());
    assert_eq!(store.interval().map(|interval| interval.elapsed()), Some(Nanos(2 * Nanos::SECOND.0)));
    assert_eq!(store.delta(1, Figure::ON_CPU), Some(6));
}
