//! What is told about a command: for people, on standard error or in a file, and for programs.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use facts::task::Cause;
use facts::unit::Nanos;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Options;
use super::account::{Program, Tree, Waited};
use super::supervise::{Outcome, Supervised};
use crate::failure::{Failure, say};
use crate::show::table::{Align, Table};
use crate::show::text::push_printable;
use crate::show::units::{Size, Span};

/// Programs that are told apart; the others are one line.
const MOST_PROGRAMS: usize = 12;

/// What is told of each run as it ends, and of all at the end. Its files are there before the command is started, lest its time
/// was for nothing.
pub(super) struct Report<'a> {
    options: &'a Options,
    lock_waited: Option<Nanos>,
    json: Option<Target<'a>>,
    output: Option<Target<'a>>,
    figures: Vec<[Nanos; FIGURES.len()]>,
}

struct Target<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> Target<'a> {
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| failed(path, &error))?;
        Ok(Self { path, file })
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| failed(self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

impl<'a> Report<'a> {
    /// Makes the files that were asked for.
    pub(super) fn create(options: &'a Options) -> Result<Self, Failure> {
        let create = |path: &'a Option<PathBuf>| path.as_deref().map(Target::create).transpose();
        let (json, output) = (create(&options.json)?, create(&options.output)?);
        Ok(Self { options, lock_waited: None, json, output, figures: Vec::new() })
    }

    /// How long the lock was waited for.
    pub(super) fn lock_waited(&mut self, waited: Nanos) {
        self.lock_waited = Some(waited);
    }

    /// Tells a run. What people read comes in any case.
    pub(super) fn add(&mut self, run: &Supervised) -> Result<(), Failure> {
        self.figures.push(FIGURES.map(|(_, figure)| figure(run)));
        let mut text = String::new();
        write_text(run, &mut text);
        let told = self.write(&text);
        let Some(json) = &mut self.json else { return told };
        let document = RunJson::new(self.options, run, self.lock_waited);
        let document = serde_json::to_string(&document).map_err(Failure::internal)?;
        told.and(json.write(&(document + "\n")))
    }

    /// Tells what several runs have in common.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        if self.figures.len() < 2 {
            return Ok(());
        }
        let mut text = String::new();
        write_spread(&self.figures, &mut text);
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.output {
            _ if self.options.is_quiet => Ok(()),
            Some(output) => output.write(text),
            None => {
                say(text);
                Ok(())
            }
        }
    }
}

fn write_text(run: &Supervised, out: &mut String) {
    let ending = match run.outcome {
        Outcome::TimedOut => ", ended because its time was over".to_owned(),
        Outcome::Ended(probe::spawn::Ending::Signaled(signal)) => format!(", ended by signal {signal}"),
        Outcome::Ended(_) if run.outcome.code() != 0 => format!(", exit status {}", run.outcome.code()),
        Outcome::Ended(_) => String::new(),
    };
    out.push_str(&format!(
        "wall {}   on CPU {} (user {}, system {})   peak memory {}{ending}\n",
        Span(run.wall),
        Span(run.usage.cpu()),
        Span(run.usage.user),
        Span(run.usage.system),
        Size(run.peak_resident()),
    ));
    if run.tree.programs.is_empty() {
        write_own(run, out);
    } else {
        write_programs(&run.tree, out);
    }
    for note in notes(run) {
        out.push_str(&note);
        out.push('\n');
    }
}

/// Without exit records: what /proc says of the command's own process.
fn write_own(run: &Supervised, out: &mut String) {
    let Some(task) = &run.own_from_proc else { return };
    let division = task.division();
    let span = |nanos: Option<Nanos>| nanos.map_or("–".to_owned(), |nanos| Span(nanos).to_string());
    out.push_str(&format!(
        "its own process: run queue {}   block I/O {}   sleeping {}\n",
        span(division.run_queue),
        span(division.block_io),
        span(division.sleeping)
    ));
}

fn write_programs(tree: &Tree, out: &mut String) {
    let Tree { programs, whole, .. } = tree;
    let columns = [
        ("", Align::Left),
        ("on CPU", Align::Right),
        ("run queue", Align::Right),
        ("block I/O", Align::Right),
        ("sleeping", Align::Right),
        ("of which", Align::Left),
        ("peak memory", Align::Right),
        ("read", Align::Right),
        ("written", Align::Right),
    ];
    let mut table = Table::new(&columns);
    let (shown, others) = programs.split_at(programs.len().min(MOST_PROGRAMS));
    for program in shown {
        let mut name = String::new();
        push_printable(&mut name, program.comm.as_bytes());
        row(&mut table, &format!("{name} ×{}", program.processes.max(1)), program);
    }
    if !others.is_empty() {
        let rest = others.iter().fold(Program::default(), Program::plus);
        row(&mut table, &format!("{} others ×{}", others.len(), rest.processes), &rest);
    }
    if programs.len() > 1 {
        row(&mut table, &format!("all ×{}", whole.processes), whole);
    }
    table.write(out);
}

fn row(table: &mut Table, name: &str, program: &Program) {
    let division = program.division();
    let least = |waited: &Waited| {
        let is_least = waited.unknown > 0;
        match (is_least, waited.total) {
            (true, Nanos(0)) => "–".to_owned(),
            (true, total) => format!("≥{}", Span(total)),
            (false, total) => Span(total).to_string(),
        }
    };
    let cpu = program.cpu;
    let cpu = if cpu == Nanos(0) && program.threads > 0 { "<tick".to_owned() } else { Span(cpu).to_string() };
    table.row([
        name.to_owned(),
        cpu,
        least(program.waited(Cause::RunQueue)),
        least(program.waited(Cause::BlockIo)),
        Span(division.sleeping.unwrap_or_default()).to_string(),
        of_which(program),
        Size(program.peak_resident).to_string(),
        Size(program.read).to_string(),
        Size(program.written).to_string(),
    ]);
}

/// What overlaps with the parts, the longest first; a sliver is no reason.
fn of_which(program: &Program) -> String {
    let least = program.thread_time.0 / 1000;
    let mut waited: Vec<_> = Cause::OVERLAPPING
        .into_iter()
        .map(|cause| (cause, program.waited(cause).total))
        .filter(|(_, total)| total.0 > least)
        .collect();
    waited.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    let told: Vec<String> =
        waited.iter().take(3).map(|(cause, total)| format!("{} {}", cause.name(), Span(*total))).collect();
    told.join(", ")
}

fn notes(run: &Supervised) -> Vec<String> {
    let mut notes = Vec::new();
    let whole = &run.tree.whole;
    if let Some(absence) = run.records_absence {
        notes.push(format!(
            "What descendants waited for is not told: exit records: {absence} (see whit doctor)"
        ));
    }
    if let (None, Some(absence)) = (run.records_absence, run.events_absence) {
        notes.push(format!(
            "Descendants are not in the table: forks are not told ({absence}; see whit doctor)"
        ));
    }
    if run.lost_forks > 0 {
        notes.push(format!("Forks were lost {} times: the table may lack descendants", run.lost_forks));
    }
    if run.lost_records > 0 {
        notes.push(format!("{} exit records were lost: the table is of the others", run.lost_records));
    }
    if whole.uncounted > 0 {
        notes.push(format!(
            "Of {} threads only the run queue was counted: sysctl kernel.task_delayacct=1",
            whole.uncounted
        ));
    }
    if whole.impossible_values > 0 {
        notes.push(format!(
            "{} waits longer than the clock were left out: ≥ marks what is at least so long, and sleeping is at most so long",
            whole.impossible_values
        ));
    }
    if run.left_running > 0 {
        notes.push(format!("{} descendants are still running and not in this account", run.left_running));
    }
    notes
}

type FigureOf = fn(&Supervised) -> Nanos;

/// What several runs are compared by.
const FIGURES: [(&str, FigureOf); 5] = [
    ("wall", |run| run.wall),
    ("on CPU", |run| run.usage.cpu()),
    ("run queue", |run| run.tree.whole.waited(Cause::RunQueue).total),
    ("block I/O", |run| run.tree.whole.waited(Cause::BlockIo).total),
    ("sleeping", |run| run.tree.whole.division().sleeping.unwrap_or_default()),
];

/// Median and spread of several runs.
fn write_spread(runs: &[[Nanos; FIGURES.len()]], out: &mut String) {
    let columns = [
        ("", Align::Left),
        ("median", Align::Right),
        ("least", Align::Right),
        ("quartiles", Align::Right),
        ("most", Align::Right),
    ];
    let heading = format!("{} runs", runs.len());
    out.push_str(&heading);
    out.push('\n');
    let mut table = Table::new(&columns);
    for (place, (name, _)) in FIGURES.into_iter().enumerate() {
        let mut values: Vec<Nanos> = runs.iter().map(|figures| figures[place]).collect();
        values.sort_unstable();
        let at = |quarter: usize| values[(values.len() - 1) * quarter / 4];
        table.row([
            name.to_owned(),
            Span(at(2)).to_string(),
            Span(at(0)).to_string(),
            format!("{}–{}", Span(at(1)), Span(at(3))),
            Span(at(4)).to_string(),
        ]);
    }
    table.write(out);
}

#[derive(Serialize)]
struct RunJson {
    command: Vec<String>,
    pid: u32,
    exit_status: Option<u8>,
    signal: Option<i32>,
    is_timed_out: bool,
    wall_ns: u64,
    user_ns: u64,
    system_ns: u64,
    peak_resident_bytes: u64,
    lock_waited_ns: Option<u64>,
    lost_records: u64,
    lost_forks: u64,
    are_descendants_told: bool,
    left_running: usize,
    adopted: u64,
    whole: Option<ProgramJson>,
    programs: Vec<ProgramJson>,
}

#[derive(Serialize)]
struct ProgramJson {
    comm: String,
    processes: u64,
    threads: u64,
    thread_time_ns: u64,
    on_cpu_ns: u64,
    run_queue_ns: u64,
    block_io_ns: u64,
    sleeping_ns: Option<u64>,
    cpu_precise_ns: u64,
    user_ns: u64,
    system_ns: u64,
    delays: Map<String, Value>,
    peak_resident_bytes: u64,
    read_bytes: u64,
    written_bytes: u64,
    uncounted_threads: u64,
    impossible_values: u64,
}

impl RunJson {
    fn new(options: &Options, run: &Supervised, lock_waited: Option<Nanos>) -> Self {
        let (exit_status, signal) = match run.outcome {
            Outcome::Ended(probe::spawn::Ending::Signaled(signal)) => (None, Some(signal)),
            Outcome::Ended(_) => (Some(run.outcome.code()), None),
            Outcome::TimedOut => (None, None),
        };
        let Tree { programs, whole, .. } = &run.tree;
        Self {
            command: options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            pid: run.pid,
            exit_status,
            signal,
            is_timed_out: run.outcome == Outcome::TimedOut,
            wall_ns: run.wall.0,
            user_ns: run.usage.user.0,
            system_ns: run.usage.system.0,
            peak_resident_bytes: run.peak_resident().0,
            lock_waited_ns: lock_waited.map(|waited| waited.0),
            lost_records: run.lost_records,
            lost_forks: run.lost_forks,
            are_descendants_told: run.records_absence.or(run.events_absence).is_none(),
            left_running: run.left_running,
            adopted: run.adopted,
            whole: (!programs.is_empty()).then(|| ProgramJson::new(whole)),
            programs: programs.iter().map(ProgramJson::new).collect(),
        }
    }
}

impl ProgramJson {
    fn new(program: &Program) -> Self {
        let division = program.division();
        let mut delays = Map::new();
        for cause in Cause::ALL {
            let Waited { count, total, longest, unknown } = *program.waited(cause);
            let mut figures = Map::new();
            figures.insert("count".into(), count.into());
            figures.insert("total_ns".into(), total.0.into());
            figures.insert("max_ns".into(), longest.map(|longest| longest.0).into());
            figures.insert("threads_unknown".into(), unknown.into());
            delays.insert(cause.name().into(), Value::Object(figures));
        }
        Self {
            comm: program.comm.as_str().to_owned(),
            processes: program.processes,
            threads: program.threads,
            thread_time_ns: program.thread_time.0,
            on_cpu_ns: program.cpu.0,
            run_queue_ns: program.waited(Cause::RunQueue).total.0,
            block_io_ns: program.waited(Cause::BlockIo).total.0,
            sleeping_ns: division.sleeping.map(|sleeping| sleeping.0),
            cpu_precise_ns: program.on_cpu.0,
            user_ns: program.user.0,
            system_ns: program.system.0,
            delays,
            peak_resident_bytes: program.peak_resident.0,
            read_bytes: program.read.0,
            written_bytes: program.written.0,
            uncounted_threads: program.uncounted,
            impossible_values: program.impossible_values,
        }
    }
}
