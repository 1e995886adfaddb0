//! What threads wait for, as series.

use facts::linux::system_calls::Machine;
use facts::sample::Clock;
use facts::task::comm::Comm;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::task::wait::{FileKind, Wait};
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;
use query::{Answer, Limits, Query};
use store::{Store, TaskTick, Tick};

use super::scratch::Scratch;

const FUTEX: i32 = 202;
const SLEEP: i32 = 230;

/// Ten seconds of a process with two threads: the first waits for a lock in all but the fourth and fifth, the second sleeps until it ends after
/// the sixth.
fn record(store: &mut Store) {
    let mut tasks = TaskStore::default();
    for second in 1..=10_u64 {
        let at = Nanos(second * Nanos::SECOND.0);
        let realtime = Nanos((1_700_000_000 + second) * Nanos::SECOND.0);
        tasks.begin(Clock { realtime, boottime: at, monotonic: at });
        let mut put = |pid: u32, call: Option<i32>| {
            let wait = call.and_then(|call| Wait::of_call(Machine::X86_64, call, [0; 4], FileKind::Unknown));
            let mut row = TaskRow {
                key: TaskKey { pid, start: Nanos(1) },
                tgid: Some(7),
                comm: Comm::new(b"convoy"),
                state: Some(if call.is_some() { b'S' } else { b'R' }),
                wait,
                ..TaskRow::default()
            };
            row.figures.set(Figure::ON_CPU, Some(second * 1_000));
            tasks.put(&row);
        };
        put(7, if matches!(second, 4 | 5) { None } else { Some(FUTEX) });
        if second <= 6 {
            put(8, Some(SLEEP));
        }
        tasks.remove_stale();
        tasks.finish(&mut Vec::new());
        let tasks = Some(TaskTick { store: &tasks, lost_exits: 0 });
        let clock = Clock { realtime, boottime: at, monotonic: at };
        store.append(&Tick { clock, boot_id: "boot", values: &[], tasks }).unwrap();
    }
}

#[test]
fn a_thread_has_a_sample_in_each_round_in_which_it_waits() {
    let scratch = Scratch::new("waiting");
    let past = scratch.past(record);
    let limits = Limits::default();
    let value = |expression: &str, second: i64| {
        let query = Query::parse(expression).unwrap();
        let answer = query.at(&past, (1_700_000_000 + second) * 1000, &limits).unwrap();
        let Answer::Vector(series) = answer else { panic!("{expression}") };
        series.first().map(|(_, point)| point.value)
    };
    let count = |reason: &str| format!("sum(count_over_time(whit_task_waiting{{reason=\"{reason}\"}}[20s]))");
    assert_eq!((value(&count("lock"), 10), value(&count("timer"), 10)), (Some(8.0), Some(6.0)));
    assert_eq!((value(&count("pipe"), 10), value("whit_task_waiting{comm=\"other\"}", 10)), (None, None));
    let now = |second: i64| value("sum(whit_task_waiting)", second);
    assert_eq!([now(3), now(4), now(6), now(7)], [Some(2.0), Some(1.0), Some(2.0), Some(1.0)]);
    assert_eq!(value("whit_task_waiting{pid=\"7\",tid=\"8\",reason=\"timer\"}", 5), Some(1.0));
    // The label is of this series alone.
    let on_cpu = |matcher: &str| value(&format!("whit_task_on_cpu_seconds_total{{{matcher}}}"), 10);
    assert_eq!((on_cpu("reason=\"lock\""), on_cpu("reason=\"\"").is_some()), (None, true));
}
