//! The report about a command, for people.

use facts::task::Cause;
use facts::task::figure::Figure;
use facts::unit::{Bytes, Nanos};
use probe::spawn::Ending;

use super::account::{Program, Tree};
use super::family::Survivor;
use super::supervise::{Outcome, Supervised};
use sampling::asleep::{self, Asleep};
use text::printable::push_printable;
use text::table::{Align, Table};
use text::units::{Grouped, Size, Span};

/// Programs with a line of their own; the others share one.
const MAX_PROGRAMS: usize = 12;

/// Appends where the time of one run went.
pub(crate) fn push(run: &Supervised, out: &mut String) {
    let ending = match run.outcome {
        Outcome::TimedOut => ", ended because its time was over".to_owned(),
        Outcome::Ended(Ending::Signaled(signal)) => format!(", ended by signal {signal}"),
        Outcome::Ended(_) if run.outcome.code() != 0 => format!(", exit status {}", run.outcome.code()),
        Outcome::Ended(_) => String::new(),
    };
    let peak = match run.peak_resident() {
        Some(peak) => Size(peak).to_string(),
        None => format!("≤{}", Size(run.usage.peak_resident)),
    };
    out.push_str(&format!(
        "wall {}   on CPU {} (user {}, system {})   peak memory {}{ending}\n",
        Span(run.wall),
        Span(run.cpu()),
        Span(run.usage.user),
        Span(run.usage.system),
        peak,
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
        write_programs(&run.tree, &run.asleep, out);
    }
    for note in notes(run) {
        out.push_str(&note);
        out.push('\n');
    }
}

/// Where most of the time went, in a sentence; `None` if that is not known, or nothing took a tenth of it.
fn summary(run: &Supervised) -> Option<String> {
    let Tree { programs, whole, .. } = &run.tree;
    let share = |nanos: Nanos| nanos.0 as f64 / run.wall.0.max(1) as f64;
    let longest = Cause::ALL.into_iter().max_by_key(|cause| whole.waited(*cause))?;
    // What overlaps with the time on a CPU or for the disk says more than these.
    let cause = Some(longest).filter(|cause| whole.waited(*cause).0 * 2 >= whole.cpu.0);
    let spent = |program: &Program| cause.map_or(program.cpu, |cause| program.waited(cause));
    // Exact, where the programs' is what their records contain.
    let time = if cause.is_some() { spent(whole) } else { run.cpu() };
    let most = programs.iter().max_by_key(|program| spent(program))?;
    let how_much = match share(time) {
        ..0.1 => {
            let slept = share(whole.breakdown().sleeping?);
            return (slept >= 0.9).then(|| {
                let reasons = asleep::words(&run.asleep.of_all());
                let how = if reasons.is_empty() { String::new() } else { format!(": {reasons}") };
                format!("It slept nearly all of the time{how}.")
            });
        }
        share @ ..1.5 => format!("{:.0} % of its wall time", (share * 100.0).min(100.0)),
        share => format!("{share:.1} times its wall time"),
    };
    let mut name = String::new();
    push_printable(&mut name, most.comm.as_bytes());
    let part = match spent(most).0 as f64 / spent(whole).0.max(1) as f64 {
        0.95.. => format!("in {name}"),
        0.5..0.95 => format!("most of it in {name}"),
        _ => format!("most of all in {name}"),
    };
    Some(match cause {
        Some(cause) => format!("It waited {how_much} {}, {part}.", for_what(cause)),
        None => format!("It was on a CPU for {how_much}, {part}."),
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

fn write_programs(tree: &Tree, asleep: &Asleep<String>, out: &mut String) {
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
        ("asleep for", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let (shown, others) = programs.split_at(programs.len().min(MAX_PROGRAMS));
    for program in shown {
        let mut name = String::new();
        push_printable(&mut name, program.comm.as_bytes());
        let reasons = asleep::words(&asleep.of(&program.comm.to_lossy()));
        row(&mut table, &format!("{name} ×{}", program.sum.processes.max(1)), program, reasons);
    }
    if !others.is_empty() {
        let rest = others.iter().fold(Program::default(), Program::plus);
        row(&mut table, &format!("{} others ×{}", others.len(), rest.sum.processes), &rest, String::new());
    }
    if programs.len() > 1 {
        row(&mut table, &format!("all ×{}", whole.sum.processes), whole, String::new());
    }
    table.write(out);
}

fn row(table: &mut Table, name: &str, program: &Program, reasons: String) {
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
        reasons,
    ]);
}

/// Describes the delays that overlap with the parts, the longest first; a sliver is no reason.
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
