//! The table of `whit delays`: a line a task.

use facts::sample::Absence;
use facts::task::{Accounting, Cause, Task};
use facts::unit::Nanos;

use super::division::{LEGEND, push_bar};
use super::style::{Style, Tone};
use super::table::{Align, Table, characters};
use super::text::push_printable;
use super::units::{Span, push_number};
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
pub(crate) fn write<E>(
    rows: &[Row],
    style: Style,
    out: &mut String,
    drain: impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(), E> {
    let mut table = Table::new(&COLUMNS);
    table.reserve(rows.len());
    for row in rows {
        write_cells(row, style, |write| table.cell(write));
    }
    table.write_through(out, drain)?;
    style.paint_into(out, Tone::Faint, |out| out.push_str(LEGEND));
    out.push('\n');
    for row in rows {
        write_beside(row, out);
    }
    Ok(())
}

/// Hands the cells of [`COLUMNS`] to `cell`, each as what appends it.
fn write_cells(row: &Row, style: Style, mut cell: impl FnMut(&dyn Fn(&mut String))) {
    let task = &row.task;
    let division = task.division();
    let push = |out: &mut String, value: Option<Nanos>, absent: &str| match value {
        Some(value) => Span(value).push(out),
        None => out.push_str(absent),
    };
    cell(&|out| {
        if !matches!(row.kind, Kind::Cgroup(_)) {
            push_number(out, u64::from(task.key.pid));
        }
    });
    cell(&|out| push_printable(out, task.comm.as_bytes()));
    cell(&|out| {
        Span(task.wall).push(out);
        if task.threads > 1 {
            out.push_str(" ×");
            push_number(out, u64::from(task.threads));
        }
    });
    cell(&|out| push_bar(out, &division, BAR_WIDTH, style));
    // An ended task that ran for less than a tick may have been charged nothing.
    cell(&|out| match (task.on_cpu, row.kind) {
        (Some(Nanos(0)), Kind::Ended(_)) => out.push_str("<1 tick"),
        (on_cpu, _) => push(out, on_cpu, ABSENT),
    });
    cell(&|out| push(out, division.run_queue, ABSENT));
    cell(&|out| push(out, division.block_io, absent(task)));
    cell(&|out| push(out, division.sleeping, absent(task)));
    cell(&|out| push_of_which(out, task));
}

/// How absence is told: a question mark where the kernel's zero may mean that it does not count.
fn absent(task: &Task) -> &'static str {
    if task.accounting == Accounting::Unsure { UNSURE } else { ABSENT }
}

/// The overlapping causes that held the task up at all, the largest first.
fn push_of_which(out: &mut String, task: &Task) {
    // Not counted, or read from /proc alone, which knows none of them.
    let mut largest = [None; Cause::OVERLAPPING.len()];
    let mut is_counted = false;
    for (place, cause) in largest.iter_mut().zip(Cause::OVERLAPPING) {
        let delay = task.known(cause);
        is_counted |= delay.count().is_some();
        *place = delay.count().filter(|count| *count > 0).map(|_| (delay.total(), cause.name()));
    }
    if !is_counted {
        out.push_str(absent(task));
        return;
    }
    largest.sort_unstable_by(|a, b| b.cmp(a));
    for (index, (total, name)) in largest.into_iter().flatten().enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        out.push_str(name);
        out.push(' ');
        match total {
            Some(total) => Span(total).push(out),
            None => out.push_str(ABSENT),
        }
    }
}

/// What a line has no room for: a cgroup's states, an ended task's status, what ended threads left.
fn write_beside(row: &Row, out: &mut String) {
    match row.kind {
        Kind::Cgroup(states) => out.push_str(&states_line(&states)),
        Kind::Ended(_) | Kind::Process | Kind::Thread => {}
    }
    if let Some(ended) = &row.ended {
        let left = Cause::ALL.into_iter().filter_map(|cause| {
            let delay = ended[cause];
            let total = delay.total().filter(|total| total.0 > 0)?;
            let count = delay.count().unwrap_or(0);
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
    let mut cells = Vec::with_capacity(COLUMNS.len());
    write_cells(row, style, |write| {
        let mut cell = String::new();
        write(&mut cell);
        cells.push(cell);
    });
    let ending = match row.kind {
        Kind::Ended(exit) => crate::delays::ended::ending(exit),
        _ => String::new(),
    };
    cells.insert(2, ending);
    push_ended_line(&cells, out);
}

/// The headings over [`write_ended`].
pub(crate) fn write_ended_heading(out: &mut String) {
    let mut headings: Vec<_> = COLUMNS.map(|(heading, _)| heading.to_owned()).into();
    headings.insert(2, "ENDED".to_owned());
    push_ended_line(&headings, out);
}

const ENDED_WIDTHS: [(usize, Align); 10] = [
    (7, Align::Right),
    (15, Align::Left),
    (9, Align::Left),
    (8, Align::Right),
    (BAR_WIDTH, Align::Left),
    (8, Align::Right),
    (9, Align::Right),
    (9, Align::Right),
    (8, Align::Right),
    (0, Align::Left),
];

fn push_ended_line(cells: &[String], out: &mut String) {
    let start = out.len();
    for (cell, (width, align)) in cells.iter().zip(ENDED_WIDTHS) {
        let blanks = " ".repeat(width.saturating_sub(characters(cell)));
        let (before, after) =
            if align == Align::Right { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
        out.extend([before, cell, after, "  "]);
    }
    out.truncate(start + out[start..].trim_end().len());
    out.push('\n');
}

/// What must be said once: limits of the figures, with the remedy.
pub(crate) fn write_notes(notes: &Notes, out: &mut String) {
    let mut say = |sentence: &str| {
        out.push_str(sentence);
        out.push('\n');
    };
    if let Some(reason) = notes.procfs_reason {
        say("Only run queue and block I/O (in clock ticks) are known from /proc.");
        if reason == Absence::Denied {
            say("All causes need CAP_NET_ADMIN: run as root, or setcap cap_net_admin+ep on the binary.");
        }
    }
    if notes.is_off {
        say(
            "–: not counted, delay accounting is off. Remedy: sysctl kernel.task_delayacct=1 (or whit delays --enable); \
             tasks that are older than that need a restart.",
        );
    }
    if notes.is_unsure {
        say(if notes.has_switch {
            "?: the kernel says zero, which it also says of tasks made before sysctl kernel.task_delayacct=1; a restart of \
             the task makes it certain."
        } else {
            "?: the kernel says zero, which it also says where delay accounting is not compiled in or was switched off at \
             boot (nodelayacct)."
        });
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
