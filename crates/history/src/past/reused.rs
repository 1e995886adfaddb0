//! Processes by their number and start.

use facts::sample::Clock;
use facts::task::comm::Comm;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;
use query::Limits;
use store::{Store, TaskTick, Tick};

use super::ProcessKey;
use super::scratch::Scratch;

const BEGIN_MS: i64 = 1_700_000_000_000;

fn row(pid: u32, ppid: u32, start_s: u64, comm: &str) -> TaskRow {
    let mut row = TaskRow {
        key: TaskKey { pid, start: Nanos(start_s * Nanos::SECOND.0) },
        tgid: Some(pid),
        ppid: Some(ppid),
        comm: Comm::new(comm.as_bytes()),
        ..TaskRow::default()
    };
    row.figures.set(Figure::ON_CPU, Some(1));
    row
}

/// A minute, but for the ticks of 10 to 14 s. "old" is older than the history, and is there until the 50th second. There are 20 seconds of "first", which is a child of "shell" and has a thread and a child; of a process "second", which has the number of "first" from
/// the 40th second on. Nothing has an exit record.
fn record(store: &mut Store) {
    let mut tasks = TaskStore::default();
    for second in 1..=60_u64 {
        let at = Nanos(second * Nanos::SECOND.0);
        let clock =
            Clock { realtime: Nanos(BEGIN_MS as u64 * 1_000_000 + at.0), boottime: at, monotonic: at };
        if (10..15).contains(&second) {
            continue;
        }
        tasks.begin(clock);
        if second <= 50 {
            tasks.put(&row(3, 1, 0, "old"));
        }
        tasks.put(&row(1, 0, 0, "init"));
        tasks.put(&row(5, 1, 0, "shell"));
        if second <= 20 {
            tasks.put(&row(7, 5, 1, "first"));
            tasks.put(&TaskRow { tgid: Some(7), ..row(8, 5, 1, "first") });
            tasks.put(&row(9, 7, 1, "child"));
        }
        if second >= 40 {
            tasks.put(&row(7, 1, 40, "second"));
        }
        tasks.remove_stale();
        tasks.finish(&mut Vec::new());
        let tasks = Some(TaskTick { store: &tasks, lost_exits: 0 });
        store.append(&Tick { clock, boot_id: "boot", values: &[], tasks }).unwrap();
    }
}

#[test]
fn a_number_that_was_used_again_is_another_process() {
    let scratch = Scratch::new("reused");
    let past = scratch.past(record);
    let at_ms = |second: i64| BEGIN_MS + second * 1000;
    let find = |started_s: Option<i64>, second: i64| {
        let key = ProcessKey { pid: 7, started_ms: started_s.map(at_ms) };
        past.process(key, [at_ms(1), at_ms(second)], &Limits::default()).unwrap()
    };
    let first = find(Some(1), 60).unwrap();
    assert_eq!(
        (first.row.comm.to_lossy(), first.started_ms, first.ended_ms),
        ("first".into(), at_ms(1), Some(at_ms(20)))
    );
    let ancestors: Vec<String> = first.ancestors.iter().map(|one| one.comm.to_lossy()).collect();
    assert_eq!(ancestors, ["shell", "init"]);
    assert_eq!(first.children.iter().map(|child| child.pid).collect::<Vec<_>>(), [9]);
    assert_eq!(first.threads.iter().map(|thread| thread.key.pid).collect::<Vec<_>>(), [7, 8]);
    // Also a time between, at which there was none of this number, and one at which it was running.
    assert_eq!(find(Some(1), 30).unwrap().ended_ms, Some(at_ms(20)));
    assert_eq!(find(Some(1), 10).unwrap().ended_ms, None);
    let second = find(Some(40), 60).unwrap();
    assert_eq!((second.row.comm.to_lossy(), second.ended_ms), ("second".into(), None));
    // Without a start it is that of the time.
    assert_eq!(find(None, 60).unwrap().started_ms, at_ms(40));
    assert_eq!(find(None, 10).unwrap().started_ms, at_ms(1));
    assert!(find(None, 30).is_none() && find(Some(25), 60).is_none());
    // One that is older than the history.
    let key = ProcessKey { pid: 3, started_ms: Some(at_ms(0)) };
    let old = past.process(key, [at_ms(1), at_ms(60)], &Limits::default()).unwrap().unwrap();
    assert_eq!((old.row.comm.to_lossy(), old.ended_ms), ("old".into(), Some(at_ms(50))));
}
