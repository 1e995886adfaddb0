//! Tables and documents for files, pipes and programs: the same columns as the screen.

use std::process::ExitCode;

use facts::linux::pressure::Pressure;
use facts::linux::system_calls::SystemCall;
use facts::sample::Reading;
use facts::task::figure::Figure;
use facts::task::groups::GroupRow;
use facts::task::wait::Wait;
use facts::task::waits::Waits;
use facts::task::{Accounting, TimeBreakdown};
use facts::unit::{Bytes, Nanos};
use serde::Serialize;
use serde_json::{Map, Value};

use super::head::{self, Breadth};
use super::lines::Line;
use super::notes::Topic;
use super::past::Step;
use super::session::Session;
use crate::cells;
use crate::cgroup_json::CgroupJson;
use crate::columns::{Column, elapsed};
use crate::options::{OutputKind, TopOptions};
use crate::waits;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::{Output, line_width, stdout_style};
use command::pressure_fields::PressureFields;
use command::task_fields::{FigureFields, delays};
use command::time_zone;
use sampling::ticker::Ticker;
use text::table::Table;
use text::time_bar::{Legend, push_bar};
use text::wrap::wrapped;

/// Prints again and again. One table spans an interval, and so comes after it.
pub(super) fn run(options: &TopOptions) -> Result<ExitCode, Failure> {
    let mut session = Session::open(options)?;
    let mut ticker = Ticker::new(session.settings.interval);
    let mut output = Output::stdout();
    let documents = Documents::of(&options.roots);
    session.tick()?;
    session.refuse_empty_selection()?;
    let mut remaining = options.count;
    let mut printed = Vec::new();
    loop {
        // A captured machine and the past stand still.
        if !options.roots.is_captured() && !session.is_of_past {
            ticker.wait();
            session.tick()?;
        }
        let lines: Vec<Line> = session.lines().from(0, &session.tasks).collect();
        session.tasks.complete(lines.iter().map(|line| line.id));
        let mut text = String::new();
        match options.output {
            OutputKind::Json => write_json(&mut session, &documents, &lines, &mut text)?,
            OutputKind::Text | OutputKind::Screen => {
                write_text(&mut session, &lines, &mut printed, &mut text)
            }
        }
        output.write(text.as_bytes())?;
        remaining = remaining.map(|remaining| remaining - 1);
        if remaining == Some(0) || options.roots.is_captured() {
            return Ok(ExitCode::SUCCESS);
        }
        // To the end of the history.
        if session.is_of_past && session.step(Step::Tick, true).is_err() {
            return Ok(ExitCode::SUCCESS);
        }
        if options.output != OutputKind::Json {
            output.write(b"\n")?;
        }
    }
}

/// A table, and the notes below it that are not among those that were printed before (`printed`).
fn write_text(session: &mut Session, lines: &[Line], printed: &mut Vec<Topic>, out: &mut String) {
    if !session.is_captured {
        out.push_str(&time_zone::written(session.machine.now().clock.realtime.0.cast_signed()));
        out.push('\n');
    }
    for line in head::lines(session, Breadth::Wide) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
    let columns = session.columns();
    let headings: Vec<_> = columns.iter().map(|column| (column.heading(), column.align())).collect();
    let mut table = Table::new(&headings);
    let style = stdout_style();
    let mut legend = Legend { with_unrecorded: true, ..Legend::default() };
    for line in lines {
        for column in &columns {
            table.cell(|out| match column {
                Column::Time => {
                    let breakdown = session.tasks.row(line.id).breakdown();
                    legend.add(&breakdown);
                    push_bar(out, &breakdown, style);
                }
                column => cells::push(session, *column, line, out),
            });
        }
    }
    table.write(out);
    if columns.contains(&Column::Time) {
        legend.push(out);
        out.push('\n');
    }
    for note in session.notes(OutputKind::Text) {
        if !printed.contains(&note.topic) {
            printed.push(note.topic);
            for line in wrapped(&note.text, line_width()) {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

/// A tick.
#[derive(Serialize)]
struct TickJson<'a> {
    interval_ns: Option<u64>,
    by: &'static str,
    source: &'static str,
    machine: MachineJson,
    whit: OwnJson,
    tasks: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct MachineJson {
    cpu_busy_ratio: Option<f64>,
    each_cpu_busy_ratio: Vec<Option<f64>>,
    /// The CPU quota of the own cgroup, in CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota_cpus: Option<f64>,
    load_averages: Option<[f64; 3]>,
    memory: Option<MemoryFields>,
    swap: Option<SwapFields>,
    received_bytes_per_second: Option<f64>,
    sent_bytes_per_second: Option<f64>,
    read_bytes_per_second: Option<f64>,
    written_bytes_per_second: Option<f64>,
    pressure: Pressures,
}

#[derive(Serialize)]
struct MemoryFields {
    total_bytes: u64,
    used_bytes: Option<u64>,
    available_bytes: Option<u64>,
}

#[derive(Serialize)]
struct SwapFields {
    total_bytes: u64,
    used_bytes: u64,
}

#[derive(Serialize)]
struct Pressures {
    cpu: Option<PressureFields>,
    io: Option<PressureFields>,
    memory: Option<PressureFields>,
}

/// The cost of whit itself, and what it missed.
#[derive(Serialize)]
struct OwnJson {
    cpu_ns: u64,
    lost_exit_records: u64,
    /// Used by tasks that ended, after their records were made or without any.
    unrecorded_cpu_ns: Option<u64>,
    impossible_values: u64,
}

#[derive(Serialize)]
struct RowJson<'a> {
    pid: Option<u32>,
    tgid: Option<u32>,
    ppid: Option<u32>,
    uid: Option<u32>,
    user: Option<&'a str>,
    comm: Option<String>,
    /// Where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    command_line: Option<String>,
    state: Option<char>,
    /// `None` if it is known of no thread that sleeps.
    waits: Option<Vec<WaitJson>>,
    nice: Option<i8>,
    cgroup: Option<String>,
    /// What its path names.
    unit: Option<String>,
    container: Option<String>,
    /// In Kubernetes.
    pod: Option<String>,
    namespace: Option<String>,
    threads: u32,
    processes: u32,
    is_ended: bool,
    elapsed_ns: Option<u64>,
    cpu_time_ns: Option<u64>,
    /// Where its column was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    swapped_bytes: Option<u64>,
    thread_time_ns: u64,
    on_cpu_ns: Option<u64>,
    run_queue_ns: Option<u64>,
    block_io_ns: Option<u64>,
    unrecorded_ns: Option<u64>,
    sleeping_ns: Option<u64>,
    undivided_ns: Option<u64>,
    #[serde(flatten)]
    cpu: FigureFields,
    accounting: &'static str,
    uncounted_threads: u32,
    delays: Map<String, Value>,
    #[serde(flatten)]
    figures: FigureFields,
}

/// A reason for which threads of a row sleep.
#[derive(Serialize)]
struct WaitJson {
    reason: &'static str,
    is_idle: bool,
    /// The system call of the first of them.
    call: Option<&'static str>,
    threads: u32,
}

impl WaitJson {
    fn all(waits: &Waits) -> Option<Vec<Self>> {
        let found = waits.by_threads();
        (!found.is_empty() || waits.unknown == 0).then(|| found.into_iter().map(Self::new).collect())
    }

    fn new((wait, threads): (Wait, u32)) -> Self {
        let Wait { reason, call, .. } = wait;
        Self { reason: reason.name(), is_idle: reason.is_idle(), call: call.map(SystemCall::name), threads }
    }
}

/// The figures of a row's whole life.
struct SinceStart {
    elapsed: Option<Nanos>,
    cpu: Option<Nanos>,
    swapped: Option<Bytes>,
}

/// Beside the parts of a row's time.
const CPU_FIGURES: [Figure; 2] = [Figure::USER, Figure::SYSTEM];
const OTHER_FIGURES: [Figure; 8] = [
    Figure::VOLUNTARY_SWITCHES,
    Figure::INVOLUNTARY_SWITCHES,
    Figure::MINOR_FAULTS,
    Figure::MAJOR_FAULTS,
    Figure::READ_BYTES,
    Figure::WRITTEN_BYTES,
    Figure::RESIDENT_BYTES,
    Figure::VIRTUAL_BYTES,
];

fn write_json(
    session: &mut Session,
    documents: &Documents,
    lines: &[Line],
    out: &mut String,
) -> Result<(), Failure> {
    let interval = session.tasks.store.interval();
    let mut tasks = Vec::with_capacity(lines.len());
    let waits: Vec<Waits> = lines.iter().map(|line| waits::of_row(session, line.id)).collect();
    for (line, waits) in lines.iter().zip(&waits) {
        let row = session.tasks.row(line.id);
        let cgroup = session.commands.cgroup_of(&row, session.tasks.living(line.id)).map(str::to_owned);
        let with_lines = session.settings.with_commands;
        let command_line = with_lines.then(|| session.commands.line_of(&row)).flatten().map(str::to_owned);
        let user = row.uid().and_then(|uid| session.users.name(uid));
        let since_start = SinceStart {
            elapsed: elapsed(&row, &session.tasks),
            cpu: session.tasks.cpu_since_start(line.id),
            swapped: session.tasks.swapped(line.id),
        };
        let waits = WaitJson::all(waits);
        let cgroup = cgroup.map(|path| CgroupJson::new(path, &mut session.containers));
        tasks.push(RowJson::new(&row, waits, user, cgroup, command_line, since_start));
    }
    let document = TickJson {
        interval_ns: interval.map(|interval| interval.elapsed().0),
        by: super::settings::group_name(session.settings.by),
        source: if session.is_of_past { "history" } else { session.tasks.source().name() },
        machine: MachineJson::new(session),
        whit: OwnJson {
            cpu_ns: session.machine.own_cpu().0,
            lost_exit_records: session.tasks.lost_exits(),
            unrecorded_cpu_ns: session.tasks.unrecorded_cpu.map(|cpu| cpu.0),
            impossible_values: session.tasks.impossible_values,
        },
        tasks,
    };
    documents.push(DocumentKind::Top, session.machine.now().clock.realtime, &document, out)
}

impl MachineJson {
    fn new(session: &Session) -> Self {
        let machine = &session.machine;
        let memory = machine.memory();
        let swap = memory.as_ref().and_then(|memory| memory.swap.as_ref());
        let (network, disks) = (machine.network(), machine.disks());
        let pressures = &machine.now().pressure;
        let pressure = |of: &Reading<Pressure>| of.get().ok().map(PressureFields::new);
        Self {
            cpu_busy_ratio: machine.cpu().map(|cpu| cpu.busy.0),
            each_cpu_busy_ratio: machine.cpus().map(|(_, cpu)| cpu.map(|cpu| cpu.busy.0)).collect(),
            quota_cpus: machine.cpu_quota_cpus(),
            load_averages: machine.now().load.get().ok().map(|load| load.averages()),
            memory: memory.as_ref().map(|memory| MemoryFields {
                total_bytes: memory.breakdown.total.0,
                used_bytes: memory.used().map(|used| used.0),
                available_bytes: memory.available.map(|available| available.bytes.0),
            }),
            swap: swap.map(|swap| SwapFields { total_bytes: swap.total.0, used_bytes: swap.used.0 }),
            received_bytes_per_second: network.inwards,
            sent_bytes_per_second: network.outwards,
            read_bytes_per_second: disks.inwards,
            written_bytes_per_second: disks.outwards,
            pressure: Pressures {
                cpu: pressure(&pressures.cpu),
                io: pressure(&pressures.io),
                memory: pressure(&pressures.memory),
            },
        }
    }
}

impl<'a> RowJson<'a> {
    fn new(
        row: &GroupRow<'_>,
        waits: Option<Vec<WaitJson>>,
        user: Option<&'a str>,
        cgroup: Option<CgroupJson>,
        command_line: Option<String>,
        beside: SinceStart,
    ) -> Self {
        let TimeBreakdown { whole, on_cpu, run_queue, block_io, unrecorded, sleeping, undivided } =
            row.breakdown();
        let nanos = |value: Option<Nanos>| value.map(|value| value.0);
        let is_one = !row.is_several();
        let CgroupJson { path, unit, container, pod, namespace } = cgroup.unwrap_or_default();
        Self {
            pid: is_one.then(|| row.pid()),
            tgid: is_one.then(|| row.tgid()),
            ppid: row.ppid(),
            uid: row.uid(),
            user,
            comm: row.comm().map(|comm| comm.to_lossy()),
            command_line,
            state: row.state().map(char::from),
            waits,
            nice: row.nice(),
            cgroup: path,
            unit,
            container,
            pod,
            namespace,
            threads: row.sum.threads,
            processes: row.sum.processes,
            is_ended: row.is_ended,
            elapsed_ns: nanos(beside.elapsed),
            cpu_time_ns: nanos(beside.cpu),
            swapped_bytes: beside.swapped.map(|bytes| bytes.0),
            thread_time_ns: whole.0,
            on_cpu_ns: nanos(on_cpu),
            run_queue_ns: nanos(run_queue),
            block_io_ns: nanos(block_io),
            unrecorded_ns: nanos(unrecorded),
            sleeping_ns: nanos(sleeping),
            undivided_ns: nanos(undivided),
            cpu: FigureFields::new(&row.sum, &CPU_FIGURES),
            accounting: match row.accounting() {
                Accounting::On => "on",
                Accounting::Off => "off",
                Accounting::Unsure => "unsure",
            },
            uncounted_threads: row.sum.uncounted,
            delays: delays(|cause| row.sum.delay(cause), false),
            figures: FigureFields::new(&row.sum, &OTHER_FIGURES),
        }
    }
}
