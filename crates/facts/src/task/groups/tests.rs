//! Groups of tasks made by hand.

use super::*;
use crate::sample::Clock;
use crate::task::comm::Comm;
use crate::task::exit_record::ExitRecord;
use crate::task::{Accounting, TaskKey};

fn at(milliseconds: u64) -> Clock {
    let nanos = Nanos(milliseconds * 1_000_000);
    Clock { monotonic: nanos, boottime: nanos, realtime: nanos }
}

const SECOND: u64 = 1_000;

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

fn record(row: TaskRow) -> ExitRecord {
    let between = (at(100 * SECOND).boottime, at(101 * SECOND).boottime);
    ExitRecord {
        row: TaskRow { wall: Nanos(9), ..row },
        exit: crate::linux::taskstats::ExitInfo::default(),
        between,
        tick: Nanos(4),
    }
}

fn round(store: &mut TaskStore, milliseconds: u64, rows: &[TaskRow], records: &[ExitRecord]) {
    store.begin(at(milliseconds));
    rows.iter().for_each(|row| store.put(row));
    store.remove_stale();
    store.finish(&mut records.to_vec());
}

/// Two rounds.
fn store(before: &[TaskRow], now: &[TaskRow], records: &[ExitRecord]) -> TaskStore {
    let mut store = TaskStore::default();
    round(&mut store, 100 * SECOND, before, &[]);
    round(&mut store, 101 * SECOND, now, records);
    store
}

fn grouped(store: &TaskStore, by: GroupBy) -> TaskGroups {
    let mut groups = TaskGroups::default();
    groups.update(store, by, None);
    groups
}

/// Returns the result of `ask` for each row.
fn ask<T>(store: &TaskStore, by: GroupBy, ask: impl Fn(GroupRow<'_>) -> T) -> Vec<T> {
    let groups = grouped(store, by);
    groups.rows().map(|id| ask(groups.row(store, id))).collect()
}

/// Name, threads, processes, CPU time, memory.
type Figures = (String, u32, u32, Option<u64>, Option<u64>);

fn figures(row: GroupRow<'_>) -> Figures {
    let name = row.comm().map_or(String::new(), |comm| comm.as_str().to_owned());
    let (on_cpu, resident) = (row.get(Figure::ON_CPU), row.get(Figure::RESIDENT_BYTES));
    (name, row.sum.threads, row.sum.processes, on_cpu, resident)
}

/// A thread of 10 and two processes of one name ended; three threads live.
fn machine() -> TaskStore {
    let rows = |used| [row(12, 10, 0, "b", used), row(10, 10, 0, "a", used), row(20, 20, 5, "c", used)];
    let born = |pid, tgid, comm| {
        let mut row = row(pid, tgid, 5, comm, 3);
        row.key.start = at(100 * SECOND).boottime;
        row.figures.set(Figure::RESIDENT_BYTES, Some(0));
        record(row)
    };
    store(&rows(0), &rows(1), &[born(13, 10, "b"), born(30, 30, "true"), born(31, 31, "true")])
}

#[test]
fn a_process_is_its_threads_the_ended_included() {
    let expected = [
        ("a".to_owned(), 3, 1, Some(5), Some(100)),
        ("c".to_owned(), 1, 1, Some(1), Some(100)),
        ("true".to_owned(), 2, 2, Some(6), Some(0)),
    ];
    assert_eq!(ask(&machine(), GroupBy::Process, figures), expected);
}

#[test]
fn a_user_is_all_processes() {
    let users = ask(&machine(), GroupBy::User, figures);
    let counts: Vec<_> = users.iter().map(|user| (user.1, user.2, user.3, user.4)).collect();
    // The ended thread says user 5, as its record did.
    assert_eq!(counts, [(2, 1, Some(2), Some(100)), (4, 4, Some(10), Some(100))]);
}

#[test]
fn threads_stay_apart() {
    assert_eq!(ask(&machine(), GroupBy::Thread, |row| row.pid()), [10, 12, 20, 13, 30, 31]);
}

#[test]
fn who_ended_counts_the_same_in_any_sum() {
    let mut ended = row(30, 30, 0, "true", 9);
    ended.key.start = at(100 * SECOND).boottime;
    // Its record lacks the last of it on the precise counter; the ticks have it.
    ended.figures.set(Figure::USER, Some(11));
    ended.figures.set(Figure::SYSTEM, Some(0));
    let of = |used| [row(10, 10, 0, "a", used)];
    let store = store(&of(0), &of(1), &[record(ended)]);
    for by in [GroupBy::Thread, GroupBy::Process, GroupBy::User, GroupBy::Cgroup] {
        let all: u64 = ask(&store, by, |row| row.sum.on_cpu().unwrap_or_default().0).into_iter().sum();
        assert_eq!(all, 1 + 11, "{by:?}");
    }
}

#[test]
fn a_sum_of_processes_is_none_of_them() {
    let rows = [row(1, 1, 0, "init", 1), row(7, 7, 0, "a", 1), row(8, 8, 5, "b", 1)];
    let store = store(&rows, &rows, &[]);
    let found = ask(&store, GroupBy::User, |row| {
        (row.uid(), row.comm().map(|comm| comm.0[0]), row.nice(), row.sum.processes)
    });
    assert_eq!(found, [(Some(0), None, None, 2), (Some(5), Some(b'b'), Some(0), 1)]);
}

#[test]
fn a_task_that_lives_stands_for_a_row() {
    // The main thread has ended.
    let thread = row(12, 10, 5, "thread", 3);
    let mut leader = row(10, 10, 5, "main", 3);
    leader.key.start = at(100 * SECOND).boottime;
    let store = store(&[thread], &[thread], &[record(leader)]);
    for by in [GroupBy::User, GroupBy::Cgroup] {
        assert_eq!(ask(&store, by, |row| (row.key().pid, row.is_ended)), [(12, false)]);
    }
    let by_process = ask(&store, GroupBy::Process, |row| (row.pid(), row.tgid(), row.is_ended));
    assert_eq!(by_process, [(10, 10, false), (10, 10, true)]);
}

#[test]
fn a_process_has_the_memory_that_one_of_its_threads_shows() {
    let (mut leader, thread) = (row(10, 10, 5, "main", 3), row(12, 10, 5, "thread", 3));
    leader.state = Some(b'Z');
    leader.figures.set(Figure::RESIDENT_BYTES, Some(0));
    let other = row(20, 20, 5, "other", 3);
    let resident = |row: GroupRow<'_>| row.get(Figure::RESIDENT_BYTES);
    for living in [[leader, thread, other], [thread, leader, other]] {
        let store = store(&living, &living, &[]);
        assert_eq!(ask(&store, GroupBy::User, resident), [Some(200)]);
        assert_eq!(ask(&store, GroupBy::Process, resident), [Some(100), Some(100)]);
    }
}

#[test]
fn threads_without_a_record_count_for_their_process() {
    let cpu_ms = |by: GroupBy, whole_ms: u64| {
        let mut store = TaskStore::default();
        for (second, used) in [(0, 0), (1, whole_ms)] {
            store.begin(at((100 + second) * SECOND));
            store.put(&row(10, 10, 0, "a", second * 10_000_000));
            store.process_cpu.insert(10, Nanos((500 + used) * 1_000_000));
            store.finish(&mut Vec::new());
        }
        let of = |row: GroupRow<'_>| {
            (row.sum.on_cpu().map(|on_cpu| on_cpu.0 / 1_000_000), row.sum.thread_time.0 / 1_000_000)
        };
        ask(&store, by, of)[0]
    };
    assert_eq!(cpu_ms(GroupBy::Process, 900), (Some(900), 1_890));
    assert_eq!(cpu_ms(GroupBy::Thread, 900), (Some(10), 1_000));
    // What the ticks may be wrong by.
    assert_eq!(cpu_ms(GroupBy::Process, 25), (Some(10), 1_000));
}

#[test]
fn a_filter_chooses_processes() {
    let store = machine();
    let mut groups = TaskGroups::default();
    groups.update(&store, GroupBy::User, Some(&mut |row| row.comm.as_str() != "true"));
    let rows: Vec<_> = groups.rows().map(|id| figures(groups.row(&store, id))).collect();
    let counts: Vec<_> = rows.iter().map(|row| (row.1, row.2, row.3)).collect();
    assert_eq!(counts, [(2, 1, Some(2)), (2, 2, Some(4))]);
}

#[test]
fn the_idle_come_behind_the_active() {
    let before = [row(1, 1, 0, "a", 1), row(2, 2, 0, "b", 1), row(3, 3, 0, "c", 1)];
    let mut now = before;
    now[1].figures.set(Figure::ON_CPU, Some(5));
    let store = store(&before, &now, &[]);
    let groups = grouped(&store, GroupBy::Process);
    let pids = |rows: &mut dyn Iterator<Item = RowId>| -> Vec<u32> {
        rows.map(|id| groups.row(&store, id).pid()).collect()
    };
    assert_eq!(pids(&mut groups.active_rows()), [2]);
    assert_eq!(pids(&mut groups.idle_rows()), [1, 3]);
    let idle = groups.row(&store, RowId::Living(0)).sum;
    assert_eq!((idle.on_cpu(), idle.thread_time), (Some(Nanos(0)), Nanos(Nanos::SECOND.0)));
    assert!(groups.is_known_of_all(Figure::ON_CPU) && !groups.is_known_of_all(Figure::USER));
}

/// Delays are counted or not: of a main thread, of its other thread, of another process.
#[test]
fn uncounted_threads_are_those_whose_main_thread_is_not_counted() {
    let uncounted = |counted: [bool; 3]| {
        let mut rows = [row(10, 10, 0, "a", 1), row(12, 10, 0, "a", 1), row(20, 20, 0, "b", 1)];
        for (row, is_counted) in rows.iter_mut().zip(counted) {
            row.accounting = if is_counted { Accounting::On } else { Accounting::Unsure };
            row.figures.set(Figure::delay(Cause::BlockIo), Some(0));
        }
        let mut now = rows;
        now[1].figures.set(Figure::ON_CPU, Some(2));
        let store = store(&rows, &now, &[]);
        ask(&store, GroupBy::User, |row| (row.sum.uncounted, row.sum.unknown(Cause::BlockIo)))[0]
    };
    assert_eq!(uncounted([true, true, true]), (0, 0));
    assert_eq!(uncounted([true, false, true]), (0, 0));
    assert_eq!(uncounted([false, true, true]), (1, 1));
    assert_eq!(uncounted([false, false, false]), (3, 3));
    assert_eq!(uncounted([true, false, false]), (1, 1));
}

/// Groups that follow a store are those that are made anew of it, whatever happens.
#[test]
fn following_is_the_same_as_making_anew() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let all = [GroupBy::Thread, GroupBy::Process, GroupBy::User, GroupBy::Cgroup];
    let mut store = TaskStore::default();
    let mut followers = all.map(|_| TaskGroups::default());
    let mut living: Vec<TaskRow> = Vec::new();
    for second in 1..400_u64 {
        let now = at(second * SECOND);
        living.retain(|_| random(8) > 0);
        for row in &mut living {
            if random(3) == 0 {
                let on_cpu = row.figures.get(Figure::ON_CPU).unwrap_or(0) + random(1_000);
                row.figures.set(Figure::ON_CPU, Some(on_cpu));
            }
            if random(9) == 0 {
                row.uid = Some(random(3) as u32);
                row.cgroup = Some(random(3));
                row.accounting = [Accounting::On, Accounting::Off][random(2) as usize];
            }
        }
        for _ in 0..random(6) {
            let (pid, tgid) = (1 + random(40) as u32, 1 + random(10) as u32);
            if living.iter().all(|row| row.key.pid != pid) {
                let mut new = row(pid, tgid, random(3) as u32, "a", random(100));
                new.key.start = now.boottime;
                living.push(new);
            }
        }
        store.begin(now);
        let is_whole = second % 5 == 0;
        for row in living.iter().filter(|_| is_whole || random(2) == 0) {
            // Threads of a process share its memory.
            let memory = 100 + second / u64::from(row.process());
            let mut row = *row;
            row.figures.set(Figure::RESIDENT_BYTES, Some(memory));
            store.put(&row);
        }
        let there: HashSet<u32> = living.iter().map(|row| row.key.pid).collect();
        let gone: Vec<u32> = store.rows().map(|row| row.key.pid).filter(|pid| !there.contains(pid)).collect();
        gone.into_iter().for_each(|pid| store.remove(pid));
        let mut records = Vec::new();
        for _ in 0..random(3) {
            let mut ended = row(41 + random(9) as u32, 1 + random(10) as u32, random(3) as u32, "e", 3);
            ended.key.start = now.boottime;
            let between = (at((second - 1) * SECOND).boottime, now.boottime);
            records.push(ExitRecord {
                row: TaskRow { wall: Nanos(9), ..ended },
                exit: crate::linux::taskstats::ExitInfo::default(),
                between,
                tick: Nanos(4),
            });
        }
        store.finish(&mut records);
        for (follower, by) in followers.iter_mut().zip(all) {
            follower.update(&store, by, None);
            let sums = |groups: &TaskGroups| {
                let mut sums: Vec<String> = groups
                    .rows()
                    .map(|id| {
                        let GroupRow { mut sum, is_ended, .. } = groups.row(&store, id);
                        // Memory that a thread showed which ended since is newer than that of the others.
                        if !is_whole {
                            sum.set(Figure::RESIDENT_BYTES, None);
                        }
                        format!("{is_ended} {sum:?}")
                    })
                    .collect();
                sums.sort();
                sums
            };
            let anew = grouped(&store, by);
            assert_eq!(sums(follower), sums(&anew), "{by:?} after {second} rounds");
            assert_eq!((follower.len(), follower.active_len()), (anew.len(), anew.active_len()));
            let threads: u32 = follower.rows().map(|id| follower.living(&store, id).count() as u32).sum();
            assert_eq!(threads as usize, store.len());
        }
    }
}
