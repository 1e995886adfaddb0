//! The report about a command, for people.

use facts::task::Cause;
use facts::task::figure::Figure;
use facts::unit::{Bytes, Nanos};
use probe::spawn::Ending;

use super::account::{Program, Tree};
use super::family::Survivor;
use super::supervise::{Outcome, Supervised};
use text::printable::push_printable;
use text::table::{Align, Table};
use text::units::{Grouped, Size, Span};

/// Programs with a line of their own; the others share one.
const MOST_PROGRAMS: usize = 12;

type FigureOf = fn(&Supervised) -> Nanos;

/// What several runs are compared by.
pub(crate) const FIGURES: [(&str, FigureOf); 5] = [
    ("wall", |run| run.wall),
    ("on CPU", |run| run.cpu()),
    ("run queue", |run| run.tree.whole.waited(Cause::RunQueue)),
    ("block I/O", |run| run.tree.whole.waited(Cause::BlockIo)),
    ("sleeping", |run| {
        let breakdown = run.tree.whole.breakdown();
        breakdown.sleeping.or(breakdown.undivided).unwrap_or_default()
    }),
];

/// Appends where the time of one run went.
pub(crate) fn push(run: &Supervised, out: &mut String) {
    let ending = match run.outcome {
        Outcome::TimedOut => ", ended because its time was over".to_owned(),
        Outcome::Ended(Ending::Signaled(signal)) => format!(", ended by signal {signal}"),
        Outcome::Ended(_) if run.outcome.code() != 0 => format!(", exit status {}", run.outcome.code()),
        Outcome::Ended(_) => String::new(),
    };
    out.push_str(&format!(
        "wall {}   on CPU {} (user {}, system {})   peak memory {}{ending}\n",
        Span(run.wall),
        Span(run.cpu()),
        Span(run.usage.user),
        Span(run.usage.system),
        Size(run.peak_resident()),
    ));
    let usage = &run.usage;
    out.push_str(&format!(
        "page faults {} ({} from a disk)   context switches {} voluntary, {} involuntary\n",
        Grouped(usage.minor_faults + usage.major_faults),
        Grouped(usage.major_faults),
        Grouped(usage.voluntary_switches),
        Grouped(usage.involuntary_switches),
    ));
    if let Some(summary) = summary(run) {
        out.push_str(&summary);
        out.push('\n');
    }
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

/// Where most of the time went, in a sentence; `None` if that is not known, or nothing took a tenth of it.
fn summary(run: &Supervised) -> Option<String> {
    let whole_ns = run.wall.0.max(1) as f64;
    let share = |nanos: Nanos| nanos.0 as f64 / whole_ns;
    let spent = |program: &Program| {
        let waits = Cause::ALL.map(|cause| (Some(cause), program.waited(cause)));
        let most = waits.into_iter().max_by_key(|(_, waited)| *waited).unwrap_or((None, Nanos(0)));
        // What overlaps with the time on a CPU or for the disk says more than these.
        if most.1.0 * 2 >= program.cpu.0 { most } else { (None, program.cpu) }
    };
    let named = run.tree.programs.iter().map(|program| (program, spent(program)));
    let (program, (cause, time)) = named.max_by_key(|(_, (_, time))| *time)?;
    let mut name = String::new();
    push_printable(&mut name, program.comm.as_bytes());
    let how_much = match share(time) {
        ..0.1 => {
            let slept = share(run.tree.whole.breakdown().sleeping?);
            let is_asleep = slept >= 0.9;
            return is_asleep.then(|| {
                "It slept nearly all of the time: for a timer, a lock, the network or another process."
                    .to_owned()
            });
        }
        share @ ..1.5 => format!("{:.0} % of its wall time", (share * 100.0).min(100.0)),
        share => format!("{share:.1} times its wall time"),
    };
    Some(match cause {
        Some(cause) => format!("It waited {how_much} {}, in {name}.", for_what(cause)),
        None => format!("It was on a CPU for {how_much}, most of it in {name}."),
    })
}

/// As a sentence names what is waited for.
fn for_what(cause: Cause) -> &'static str {
    match cause {
        Cause::RunQueue => "for a CPU",
        Cause::BlockIo => "for the disk",
        Cause::SwapIn => "for pages from swap",
        Cause::Reclaim => "for memory to be reclaimed",
        Cause::Thrashing => "for pages that had been dropped",
        Cause::Compaction => "for memory to be compacted",
        Cause::Copy => "for pages to be copied",
        Cause::Irq => "for interrupts to be served",
    }
}

/// Without exit records: what /proc says of the command's own process.
fn write_own(run: &Supervised, out: &mut String) {
    let Some(account) = &run.own_from_proc else { return };
    let breakdown = account.sum.breakdown();
    let span = |nanos: Option<Nanos>| nanos.map_or(text::ABSENT.to_owned(), |nanos| Span(nanos).to_string());
    out.push_str(&format!(
        "its own process: run queue {}   block I/O {}   sleeping {}\n",
        span(breakdown.run_queue),
        span(breakdown.block_io),
        span(breakdown.sleeping)
    ));
}

fn write_programs(tree: &Tree, out: &mut String) {
    let Tree { programs, whole, .. } = tree;
    let columns = [
        ("", Align::Left),
        ("on CPU", Align::Right),
        ("run queue", Align::Right),
        ("block I/O", Align::Right),
        ("unrecorded", Align::Right),
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
        row(&mut table, &format!("{name} ×{}", program.sum.processes.max(1)), program);
    }
    if !others.is_empty() {
        let rest = others.iter().fold(Program::default(), Program::plus);
        row(&mut table, &format!("{} others ×{}", others.len(), rest.sum.processes), &rest);
    }
    if programs.len() > 1 {
        row(&mut table, &format!("all ×{}", whole.sum.processes), whole);
    }
    table.write(out);
}

fn row(table: &mut Table, name: &str, program: &Program) {
    let breakdown = program.breakdown();
    let least = |cause| {
        let is_least = program.sum.unknown(cause) > 0;
        match (is_least, program.waited(cause)) {
            (true, Nanos(0)) => text::ABSENT.to_owned(),
            (true, total) => format!("≥{}", Span(total)),
            (false, total) => Span(total).to_string(),
        }
    };
    let bytes = |figure| Size(Bytes(program.figure(figure))).to_string();
    let cpu = program.cpu;
    let cpu =
        if cpu == Nanos(0) && program.sum.threads > 0 { "<tick".to_owned() } else { Span(cpu).to_string() };
    table.row([
        name.to_owned(),
        cpu,
        least(Cause::RunQueue),
        least(Cause::BlockIo),
        Span(program.unrecorded).to_string(),
        breakdown.sleeping.map_or(text::ABSENT.to_owned(), |sleeping| Span(sleeping).to_string()),
        overlapping_delays(program),
        bytes(Figure::PEAK_RESIDENT_BYTES),
        bytes(Figure::READ_BYTES),
        bytes(Figure::WRITTEN_BYTES),
    ]);
}

/// What overlaps with the parts, the longest first; a sliver is no reason.
fn overlapping_delays(program: &Program) -> String {
    let least = program.sum.thread_time.0 / 1000;
    let mut waited = program.sum.overlapping_delays();
    waited.retain(|(_, total)| total.0 > least);
    let parts: Vec<String> =
        waited.iter().take(3).map(|(cause, total)| format!("{} {}", cause.name(), Span(*total))).collect();
    parts.join(", ")
}

fn notes(run: &Supervised) -> Vec<String> {
    let mut notes = Vec::new();
    let whole = &run.tree.whole;
    if let Some(absence) = run.records_absence {
        notes.push(format!(
            "What descendants waited for is not known: exit records: {absence} (see whit doctor)"
        ));
    }
    if let (None, Some(absence)) = (run.records_absence, run.events_absence) {
        notes.push(format!(
            "Descendants are not in the table: forks are not reported ({absence}; see whit doctor)"
        ));
    }
    if run.cpu() > run.usage.cpu() {
        notes.push(format!(
            "Children that were not waited for were on a CPU for {}: user and system are of the others",
            Span(run.cpu().saturating_sub(run.usage.cpu()))
        ));
    }
    if run.lost_forks > 0 {
        notes.push(format!("Forks were lost {} times: the table may lack descendants", run.lost_forks));
    }
    if run.lost_records > 0 {
        notes.push(format!("{} exit records were lost: the table is of the others", run.lost_records));
    }
    if whole.sum.uncounted > 0 {
        let threads = if whole.sum.uncounted == 1 { "thread" } else { "threads" };
        notes.push(format!(
            "Of {} {threads} only the run queue was counted, so that disk and sleep are one (–): sysctl kernel.task_delayacct=1",
            whole.sum.uncounted
        ));
    }
    if whole.sum.impossible_values > 0 {
        let (waits, were) =
            if whole.sum.impossible_values == 1 { ("wait", "was") } else { ("waits", "were") };
        notes.push(format!(
            "{} {waits} longer than the clock {were} left out: ≥ marks what is at least so long, and sleep cannot be told apart from it (–)",
            whole.sum.impossible_values
        ));
    }
    if !run.survivors.is_empty() {
        notes.push(survivors(&run.survivors));
    }
    notes
}

/// Names them, as far as a line has room.
fn survivors(all: &[Survivor]) -> String {
    const MOST: usize = 8;
    let (count, is) = if all.len() == 1 {
        ("1 descendant".to_owned(), "is")
    } else {
        (format!("{} descendants", all.len()), "are")
    };
    let mut note = format!("{count} {is} still running and not in this account:");
    for survivor in all.iter().take(MOST) {
        note.push_str(&format!(" {}", survivor.pid));
        if !survivor.comm.is_empty() {
            note.push_str(" (");
            push_printable(&mut note, survivor.comm.as_bytes());
            note.push(')');
        }
    }
    if all.len() > MOST {
        note.push_str(" …");
    }
    note
}

/// Figures of an earlier report, and of these runs: medians, and the change.
pub(crate) fn push_comparison(
    before: &[[Nanos; FIGURES.len()]],
    runs: &[[Nanos; FIGURES.len()]],
    out: &mut String,
) {
    let columns =
        [("", Align::Left), ("before", Align::Right), ("now", Align::Right), ("change", Align::Right)];
    let mut table = Table::new(&columns);
    for (place, (name, _)) in FIGURES.into_iter().enumerate() {
        let median = |runs: &[[Nanos; FIGURES.len()]]| {
            let mut values: Vec<Nanos> = runs.iter().map(|figures| figures[place]).collect();
            values.sort_unstable();
            values.get((values.len().max(1) - 1) / 2).copied().unwrap_or_default()
        };
        let (before, now) = (median(before), median(runs));
        let change = match before {
            Nanos(0) => text::ABSENT.to_owned(),
            _ => format!("{:+.1} %", (now.0 as f64 / before.0 as f64 - 1.0) * 100.0),
        };
        table.row([name.to_owned(), Span(before).to_string(), Span(now).to_string(), change]);
    }
    table.write(out);
}

/// Median and spread of several runs.
pub(crate) fn push_spread(runs: &[[Nanos; FIGURES.len()]], out: &mut String) {
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
