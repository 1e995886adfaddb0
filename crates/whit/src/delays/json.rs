//! `whit delays --json`: a document a task, the same facts as the table.

use facts::task::Accounting;
use facts::task::figure::Figure;
use facts::unit::Nanos;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::delays::{Kind, Round, Row};
use command::task_fields::{AsleepJson, FigureFields, delays};

/// Beside the parts of its time.
const FIGURES: [Figure; 5] = [
    Figure::CPU_TICKS,
    Figure::USER,
    Figure::SYSTEM,
    Figure::PEAK_RESIDENT_BYTES,
    Figure::PEAK_VIRTUAL_BYTES,
];

/// One task.
#[derive(Serialize)]
pub(crate) struct TaskJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_ns: Option<u64>,
    kind: &'static str,
    pid: Option<u32>,
    tgid: Option<u32>,
    ppid: Option<u32>,
    uid: Option<u32>,
    comm: String,
    nice: Option<i8>,
    threads: u32,
    wall_ns: u64,
    thread_time_ns: u64,
    on_cpu_ns: Option<u64>,
    run_queue_ns: Option<u64>,
    block_io_ns: Option<u64>,
    unrecorded_ns: Option<u64>,
    sleeping_ns: Option<u64>,
    undivided_ns: Option<u64>,
    #[serde(flatten)]
    figures: FigureFields,
    accounting: &'static str,
    uncounted_threads: u32,
    impossible_values: u32,
    delays: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asleep_for: Vec<AsleepJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_threads: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<EndedJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<StatesJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
}

#[derive(Serialize)]
struct EndedJson {
    exit_status: Option<u32>,
    signal: Option<u32>,
    on_cpu_below_tick: bool,
}

#[derive(Serialize)]
struct UsageJson {
    cpu_ns: Option<u64>,
    throttled_ns: Option<u64>,
    throttled_periods: Option<u64>,
    memory_bytes: Option<u64>,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
}

#[derive(Serialize)]
struct StatesJson {
    sleeping: u64,
    running: u64,
    stopped: u64,
    uninterruptible: u64,
    io_wait: Option<u64>,
}

impl TaskJson {
    /// From a row, and the round it is of.
    pub(crate) fn new(row: &Row, round: Option<Round>) -> Self {
        let task = &row.task;
        let (sum, breakdown) = (&task.sum, task.sum.breakdown());
        let nanos = |value: Option<Nanos>| value.map(|value| value.0);
        let is_cgroup = matches!(row.kind, Kind::Cgroup);
        let of_one = |value: Option<u32>| value.filter(|_| !is_cgroup);
        Self {
            interval_ns: round.and_then(|round| round.elapsed).map(|elapsed| elapsed.0),
            kind: match row.kind {
                Kind::Process => "process",
                Kind::Thread => "thread",
                Kind::Cgroup => "cgroup",
                Kind::Ended(_) => "ended",
            },
            pid: of_one(Some(task.key.pid)),
            tgid: of_one(task.tgid),
            ppid: of_one(task.ppid),
            uid: of_one(task.uid),
            comm: String::from_utf8_lossy(row.name()).into_owned(),
            nice: Some(task.nice).filter(|_| !is_cgroup),
            threads: sum.threads,
            wall_ns: task.wall.0,
            thread_time_ns: breakdown.whole.0,
            on_cpu_ns: nanos(breakdown.on_cpu),
            run_queue_ns: nanos(breakdown.run_queue),
            block_io_ns: nanos(breakdown.block_io),
            unrecorded_ns: nanos(breakdown.unrecorded),
            sleeping_ns: nanos(breakdown.sleeping),
            undivided_ns: nanos(breakdown.undivided),
            figures: FigureFields::new(sum, &FIGURES),
            accounting: match task.accounting {
                Accounting::On => "on",
                Accounting::Off => "off",
                Accounting::Unsure => "unsure",
            },
            uncounted_threads: sum.uncounted,
            impossible_values: sum.impossible_values,
            delays: delays(|cause| sum.delay(cause), true),
            asleep_for: AsleepJson::of(&row.asleep),
            ended_threads: row.ended.as_ref().map(|ended| {
                let mut object = delays(|cause| ended.delays[cause], true);
                object.insert("on_cpu_ns".into(), nanos(ended.on_cpu).into());
                object
            }),
            ended: match row.kind {
                Kind::Ended(exit) => Some(EndedJson {
                    exit_status: exit.status(),
                    signal: exit.signal(),
                    on_cpu_below_tick: sum.on_cpu() == Some(Nanos(0)),
                }),
                _ => None,
            },
            states: row.cgroup.as_ref().map(|cgroup| StatesJson {
                sleeping: cgroup.states.sleeping,
                running: cgroup.states.running,
                stopped: cgroup.states.stopped,
                uninterruptible: cgroup.states.uninterruptible,
                io_wait: cgroup.states.io_wait,
            }),
            usage: row.cgroup.as_ref().map(|cgroup| UsageJson {
                cpu_ns: nanos(cgroup.usage.cpu),
                throttled_ns: nanos(cgroup.usage.throttled),
                throttled_periods: cgroup.usage.throttled_periods,
                memory_bytes: cgroup.usage.memory.map(|memory| memory.0),
                read_bytes: cgroup.usage.io.map(|io| io.read.0),
                written_bytes: cgroup.usage.io.map(|io| io.written.0),
            }),
        }
    }
}
