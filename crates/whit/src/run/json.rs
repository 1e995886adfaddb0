//! The report as JSON, a document a run.

use facts::task::figure::Figure;
use facts::task::{Cause, Delay};
use facts::unit::Nanos;
use probe::spawn::Ending;
use serde::Serialize;
use serde_json::{Map, Value};

use super::account::{Program, Tree};
use super::options::RunOptions;
use super::supervise::{Outcome, Supervised};
use command::task_fields::{AsleepJson, FigureFields, delays};
use sampling::asleep::Reasons;

#[derive(Serialize)]
pub(crate) struct RunJson {
    command: Vec<String>,
    pid: u32,
    exit_status: Option<u8>,
    signal: Option<i32>,
    is_timed_out: bool,
    wall_ns: u64,
    on_cpu_ns: u64,
    user_ns: u64,
    system_ns: u64,
    peak_resident_bytes: Option<u64>,
    voluntary_switches: u64,
    involuntary_switches: u64,
    minor_faults: u64,
    major_faults: u64,
    lock_waited_ns: Option<u64>,
    lost_exit_records: u64,
    lost_forks: u64,
    has_all_descendants: bool,
    left_running: usize,
    left_running_pids: Vec<u32>,
    adopted: u64,
    whole: Option<ProgramJson>,
    programs: Vec<ProgramJson>,
}

const CPU_FIGURES: [Figure; 2] = [Figure::USER, Figure::SYSTEM];
const OTHER_FIGURES: [Figure; 7] = [
    Figure::VOLUNTARY_SWITCHES,
    Figure::INVOLUNTARY_SWITCHES,
    Figure::MINOR_FAULTS,
    Figure::MAJOR_FAULTS,
    Figure::PEAK_RESIDENT_BYTES,
    Figure::READ_BYTES,
    Figure::WRITTEN_BYTES,
];

#[derive(Serialize)]
struct ProgramJson {
    comm: String,
    processes: u64,
    threads: u64,
    thread_time_ns: u64,
    on_cpu_ns: u64,
    run_queue_ns: u64,
    block_io_ns: u64,
    unrecorded_ns: u64,
    sleeping_ns: Option<u64>,
    undivided_ns: Option<u64>,
    cpu_precise_ns: u64,
    #[serde(flatten)]
    cpu: FigureFields,
    delays: Map<String, Value>,
    #[serde(flatten)]
    figures: FigureFields,
    uncounted_threads: u64,
    impossible_values: u64,
    asleep_for: Vec<AsleepJson>,
}

impl RunJson {
    pub(crate) fn new(options: &RunOptions, run: &Supervised, lock_waited: Option<Nanos>) -> Self {
        let (exit_status, signal) = match run.outcome {
            Outcome::Ended(Ending::Signaled(signal)) => (None, Some(signal)),
            Outcome::Ended(_) => (Some(run.outcome.code()), None),
            Outcome::TimedOut => (None, None),
        };
        let Tree { programs, whole, .. } = &run.tree;
        Self {
            command: options.command_words(),
            pid: run.pid,
            exit_status,
            signal,
            is_timed_out: run.outcome == Outcome::TimedOut,
            wall_ns: run.wall.0,
            on_cpu_ns: run.cpu().0,
            user_ns: run.usage.user.0,
            system_ns: run.usage.system.0,
            peak_resident_bytes: run.peak_resident().map(|peak| peak.0),
            voluntary_switches: run.usage.voluntary_switches,
            involuntary_switches: run.usage.involuntary_switches,
            minor_faults: run.usage.minor_faults,
            major_faults: run.usage.major_faults,
            lock_waited_ns: lock_waited.map(|waited| waited.0),
            lost_exit_records: run.lost_records,
            lost_forks: run.lost_forks,
            has_all_descendants: run.records_absence.or(run.events_absence).is_none(),
            left_running: run.survivors.len(),
            left_running_pids: run.survivors.iter().map(|survivor| survivor.pid).collect(),
            adopted: run.adopted,
            whole: (!programs.is_empty()).then(|| ProgramJson::new(whole, &run.asleep.of_all())),
            programs: programs
                .iter()
                .map(|program| ProgramJson::new(program, &run.asleep.of(&program.comm.to_lossy())))
                .collect(),
        }
    }
}

impl ProgramJson {
    fn new(program: &Program, asleep_for: &Reasons) -> Self {
        let breakdown = program.breakdown();
        // 0 where it is not known of any thread: the number of these stands beside it.
        let of_cause = |cause| {
            let nanos = |figure| Some(Nanos(program.figure(figure)));
            let max = program.sum.get(Figure::maximum(cause)).map(Nanos);
            Delay::new(Some(program.figure(Figure::count(cause))), nanos(Figure::delay(cause)), max)
        };
        let mut delays = delays(of_cause, false);
        for cause in Cause::ALL {
            if let Some(Value::Object(fields)) = delays.get_mut(cause.name()) {
                fields.insert("uncounted_threads".to_owned(), program.sum.unknown(cause).into());
            }
        }
        Self {
            comm: program.comm.to_lossy(),
            processes: program.sum.processes.into(),
            threads: program.sum.threads.into(),
            thread_time_ns: breakdown.whole.0,
            on_cpu_ns: program.cpu.0,
            run_queue_ns: program.waited(Cause::RunQueue).0,
            block_io_ns: program.waited(Cause::BlockIo).0,
            unrecorded_ns: program.unrecorded.0,
            sleeping_ns: breakdown.sleeping.map(|sleeping| sleeping.0),
            undivided_ns: breakdown.undivided.map(|undivided| undivided.0),
            cpu_precise_ns: program.figure(Figure::ON_CPU),
            cpu: FigureFields::at_least(&program.sum, &CPU_FIGURES),
            delays,
            figures: FigureFields::at_least(&program.sum, &OTHER_FIGURES),
            uncounted_threads: program.sum.uncounted.into(),
            impossible_values: program.sum.impossible_values.into(),
            asleep_for: AsleepJson::of(asleep_for),
        }
    }
}
