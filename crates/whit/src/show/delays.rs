//! The table of `whit delays`: a line a task.

use facts::linux::taskstats::ExitInfo;
use facts::task::{Accounting, Cause, Delay, Task};
use facts::unit::Nanos;

use super::division::{LEGEND, bar};
use super::style::{Style, Tone};
use super::table::{Align, Table};
use super::units::Span;
use super::{ABSENT, UNSURE};
use crate::delays::{Kind, Notes, Row, States};

const BAR_WIDTH: usize = 20;

const COLUMNS: [(&str, Align); 9] = [
    ("PID", Align::Right),
    ("COMM", Align::Left),
    ("WALL", Align::Right),
    ("WHERE IT WENT", Align::Left),
    ("ON CPU", Align::Right),
    ("RUN QUEUE", Align::Right),
    ("BLOCK I/O", Align::Right),
    ("SLEEPING", Align::Right),
    ("OF WHICH", Align::Left),
];

/// Writes the rows under headings, and what the glyphs mean.
pub(crate) fn write(rows: &[Row], style: Style, out: &mut String) {
    let mut table = Table::new(&COLUMNS);
    for row in rows {
        table.row(cells(row, style));
    }
    table.write(out);
    out.push_str(&style.paint(Tone::Faint, LEGEND));
    out.push('\n');
    for row in rows {
        write_beside(row, out);
    }
}

fn cells(row: &Row, style: Style) -> Vec<String> {
    let task = &row.task;
    let division = task.division();
    let span = |value: Option<Nanos>| value.map_or(absent(task).to_owned(), |value| Span(value).to_string());
    let wall = match task.threads {
        0 | 1 => Span(task.wall).to_string(),
        threads => format!("{} ×{threads}", Span(task.wall)),
    };
    vec![
        if matches!(row.kind, Kind::Cgroup(_)) { String::new() } else { task.key.pid.to_string() },
        printable(task.comm.as_str()),
        wall,
        bar(&division, BAR_WIDTH, style),
        on_cpu(row),
        division.run_queue.map_or(ABSENT.to_owned(), |value| Span(value).to_string()),
        span(division.block_io),
        span(division.sleeping),
        of_which(task),
    ]
}

/// An ended task that ran for less than a tick may have been charged nothing.
fn on_cpu(row: &Row) -> String {
    match (row.task.on_cpu, row.kind) {
        (Some(Nanos(0)), Kind::Ended(_)) => "<1 tick".to_owned(),
        (Some(on_cpu), _) => Span(on_cpu).to_string(),
        (None, _) => ABSENT.to_owned(),
    }
}

/// How absence is told: a question mark where the kernel's zero may mean that it does not count.
fn absent(task: &Task) -> &'static str {
    if task.accounting == Accounting::Unsure { UNSURE } else { ABSENT }
}

/// The overlapping causes that held the task up at all, the largest first.
fn of_which(task: &Task) -> String {
    if task.accounting != Accounting::On {
        return absent(task).to_owned();
    }
    let known = Cause::OVERLAPPING.map(|cause| (cause, task.known(cause)));
    // /proc alone knows none of them.
    if known.iter().all(|(_, delay)| delay.count.is_none() && delay.total.is_none()) {
        return ABSENT.to_owned();
    }
    let mut counted: Vec<(Cause, Delay)> =
        known.into_iter().filter(|(_, delay)| delay.count.is_some_and(|count| count > 0)).collect();
    counted.sort_by_key(|(_, delay)| std::cmp::Reverse(delay.total));
    let words = counted.iter().map(|(cause, delay)| {
        let total = delay.total.map_or(ABSENT.to_owned(), |total| Span(total).to_string());
        format!("{} {total}", cause.name())
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What a line has no room for: a cgroup's states, an ended task's status, what ended threads left.
fn write_beside(row: &Row, out: &mut String) {
    match row.kind {
        Kind::Cgroup(states) => out.push_str(&states_line(&states)),
        Kind::Ended(_) | Kind::Process | Kind::Thread => {}
    }
    if let Some(ended) = row.ended {
        let left = Cause::ALL.into_iter().filter_map(|cause| {
            let delay = ended[cause];
            let total = delay.total.filter(|total| total.0 > 0)?;
            let count = delay.count.unwrap_or(0);
            Some(format!("{} {} ({count}×)", cause.name(), Span(total)))
        });
        let left: Vec<_> = left.collect();
        out.push_str(&format!("{}: its ended threads waited: {}\n", row.task.key.pid, left.join(", ")));
    }
}

fn states_line(states: &States) -> String {
    let io_wait = states.io_wait.map_or(ABSENT.to_owned(), |tasks| tasks.to_string());
    format!(
        "tasks: sleeping {}, running {}, stopped {}, uninterruptible {}, waiting for I/O {io_wait}\n",
        states.sleeping, states.running, states.stopped, states.uninterruptible
    )
}

/// A line for a task that ended, for a stream that has no end: fixed widths, no legend.
pub(crate) fn write_ended(row: &Row, style: Style, out: &mut String) {
    let [pid, comm, wall, bar, on_cpu, run_queue, block_io, sleeping, of_which] =
        <[String; 9]>::try_from(cells(row, style)).unwrap_or_default();
    let ending = match row.kind {
        Kind::Ended(exit) => crate::delays::ended::ending(exit),
        _ => String::new(),
    };
    let line = format!(
        "{pid:>7}  {comm:<15}  {ending:<9}  {wall:>8}  {bar}  {on_cpu:>8}  {run_queue:>9}  {block_io:>9}  {sleeping:>8}  {of_which}"
    );
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The headings over [`write_ended`].
pub(crate) fn write_ended_heading(out: &mut String) {
    let sample = Row { kind: Kind::Ended(ExitInfo::default()), task: Task::default(), ended: None };
    debug_assert_eq!(cells(&sample, Style { is_colored: false }).len(), COLUMNS.len());
    out.push_str(&format!(
        "{:>7}  {:<15}  {:<9}  {:>8}  {:<BAR_WIDTH$}  {:>8}  {:>9}  {:>9}  {:>8}  {}\n",
        "PID",
        "COMM",
        "ENDED",
        "WALL",
        "WHERE IT WENT",
        "ON CPU",
        "RUN QUEUE",
        "BLOCK I/O",
        "SLEEPING",
        "OF WHICH"
    ));
}

/// What must be said once: limits of the figures, with the remedy.
pub(crate) fn write_notes(notes: &Notes, out: &mut String) {
    let mut say = |sentence: &str| {
        out.push_str(sentence);
        out.push('\n');
    };
    if notes.is_procfs {
        say(
            "Only run queue and block I/O (in clock ticks) are known from /proc. All causes need CAP_NET_ADMIN: run as \
             root, or setcap cap_net_admin+ep on the binary.",
        );
    }
    if notes.is_off {
        say(
            "–: not counted, delay accounting is off. Remedy: sysctl kernel.task_delayacct=1 (or whit delays --enable); \
             tasks that are older than that need a restart.",
        );
    }
    if notes.is_unsure {
        say(
            "?: the kernel says zero, which it also says of tasks made before sysctl kernel.task_delayacct=1; a restart \
             of the task makes it certain.",
        );
    }
    if notes.impossible_values > 0 {
        say(&format!(
            "{} left out: longer than the task can have waited (kernels since 6.12 charge some block-I/O waits with the \
             uptime).",
            values(u64::from(notes.impossible_values))
        ));
    }
    if notes.lost_records > 0 {
        say(&format!("{} lost: tasks ended faster than they could be read.", records(notes.lost_records)));
    }
}

fn values(count: u64) -> String {
    format!("{count} value{}", if count == 1 { "" } else { "s" })
}

fn records(count: u64) -> String {
    format!("{count} exit record{}", if count == 1 { "" } else { "s" })
}

/// A task names itself, so the name may hold anything: control characters are not for a terminal.
pub(crate) fn printable(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { '?' } else { character }).collect()
}
