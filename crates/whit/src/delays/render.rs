//! The table of `whit delays`: a line a task.
//!
//! Columns have fixed widths, so that a line can be written when its task is known: a table of every task of a machine
//! is the largest thing that whit prints, and most of its price would be the keeping and measuring of cells.

use std::cell::OnceCell;

use facts::linux::taskstats::ExitInfo;
use facts::sample::Absence;
use facts::task::{Accounting, Cause, TaskAccount};
use facts::unit::Nanos;
use probe::cgroup_usage::CgroupUsage;

use crate::delays::{Kind, Notes, Round, Row, States};
use command::delay_accounting::{Remedy, explain_off};
use command::output::line_width;
use command::time_zone;
use sampling::asleep;
use sampling::users::Users;
use text::columns::Columns;
use text::printable::push_printable;
use text::style::{Emphasis, Style};
use text::time_bar::{BAR_WIDTH, Legend, push_bar};
use text::units::{Size, Span, push_number};
use text::wrap::wrapped;
use text::{ABSENT, UNSURE};

/// How wide a task's name is; a cgroup's may be longer and then moves its line.
const COMM_WIDTH: usize = 15;
/// "exit 255", "signal 11".
const ENDED_WIDTH: usize = 9;
/// "12:34:56".
const TIME_WIDTH: usize = 8;
const USER_WIDTH: usize = 8;
const SPAN_WIDTH: usize = 9;
const UNRECORDED_WIDTH: usize = 10;

/// The data that rows of ended tasks need beside themselves.
#[derive(Default)]
pub(crate) struct Ends {
    /// Read for the first of them.
    users: OnceCell<Users>,
}

fn push_time_of_day(out: &mut String, realtime: Nanos) {
    let when = jiff::Timestamp::from_nanosecond(i128::from(realtime.0)).unwrap_or_default();
    out.push_str(&when.to_zoned(time_zone::system()).strftime("%H:%M:%S").to_string());
}

/// Writes the rows under headings, and what the glyphs mean. `drain` may empty the text after each line.
pub(crate) fn write<E>(
    rows: &[Row],
    style: Style,
    out: &mut String,
    ends: &Ends,
    mut drain: impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(), E> {
    let with_ending = rows.iter().any(|row| matches!(row.kind, Kind::Ended(_)));
    write_heading(out, with_ending);
    let mut cell = String::new();
    let mut legend = Legend { with_unrecorded: with_ending, ..Legend::default() };
    for row in rows {
        legend.add(&row.task.sum.breakdown());
        write_row(row, style, ends, out, &mut cell);
        drain(out)?;
    }
    // WALL is of the process, and its parts are of all its threads.
    let has_threads = rows.iter().any(|row| row.task.sum.threads > 1);
    style.paint_into(out, Emphasis::Faint, |out| {
        legend.push(out);
        out.push_str(if has_threads { "   several threads: parts of the time of all of them" } else { "" });
    });
    out.push('\n');
    for row in rows {
        write_beside(row, out);
    }
    Ok(())
}

/// When a table was read, and over how long, over one of several.
pub(crate) fn write_round(round: Round, out: &mut String) {
    out.push_str(&time_zone::written(round.realtime.0.cast_signed()));
    // Otherwise since the tasks began.
    if let Some(elapsed) = round.elapsed {
        out.push_str(&format!(" over {}", Span(elapsed)));
    }
    out.push('\n');
}

/// The headings over rows, with a column for how a task ended or without.
pub(crate) fn write_heading(out: &mut String, with_ending: bool) {
    let mut cell = String::new();
    let mut columns = Columns::new(out, &mut cell);
    if with_ending {
        columns.left(TIME_WIDTH, |out| out.push_str("TIME"));
    }
    columns.right(7, |out| out.push_str("PID"));
    if with_ending {
        columns.right(7, |out| out.push_str("PPID"));
        columns.left(USER_WIDTH, |out| out.push_str("USER"));
    }
    columns.left(COMM_WIDTH, |out| out.push_str("COMM"));
    if with_ending {
        columns.left(ENDED_WIDTH, |out| out.push_str("ENDED"));
    }
    columns.right(4, |out| out.push_str("THR"));
    columns.right(SPAN_WIDTH, |out| out.push_str("WALL"));
    columns.left(BAR_WIDTH, |out| out.push_str("WHERE IT WENT"));
    for heading in ["ON CPU", "RUN QUEUE", "BLOCK I/O"] {
        columns.right(SPAN_WIDTH, |out| out.push_str(heading));
    }
    if with_ending {
        columns.right(UNRECORDED_WIDTH, |out| out.push_str("UNRECORDED"));
    }
    columns.right(SPAN_WIDTH, |out| out.push_str("SLEEPING"));
    columns.last(|out| out.push_str("OVERLAP"));
}

/// A line for a task; `cell` is room to write in.
pub(crate) fn write_row(row: &Row, style: Style, ends: &Ends, out: &mut String, cell: &mut String) {
    let task = &row.task;
    let breakdown = task.sum.breakdown();
    let push = |out: &mut String, value: Option<Nanos>, absent: &str| match value {
        Some(value) => Span(value).push(out),
        None => out.push_str(absent),
    };
    let mut columns = Columns::new(out, cell);
    let is_ended = matches!(row.kind, Kind::Ended(_));
    if is_ended {
        columns.left(TIME_WIDTH, |out| push_time_of_day(out, probe::clock_now().realtime));
    }
    columns.right(7, |out| {
        if row.kind != Kind::Cgroup {
            push_number(out, u64::from(task.key.pid));
        }
    });
    if is_ended {
        columns.right(7, |out| match task.ppid {
            Some(ppid) => push_number(out, u64::from(ppid)),
            None => out.push_str(ABSENT),
        });
        columns.left(USER_WIDTH, |out| match task.uid {
            Some(uid) => match ends.users.get_or_init(Users::read).name(uid) {
                Some(name) => push_printable(out, name.as_bytes()),
                None => push_number(out, u64::from(uid)),
            },
            None => out.push_str(ABSENT),
        });
    }
    columns.left(COMM_WIDTH, |out| push_printable(out, row.name()));
    if let Kind::Ended(exit) = row.kind {
        columns.left(ENDED_WIDTH, |out| push_ending(out, exit));
    }
    columns.right(4, |out| push_number(out, u64::from(task.sum.threads)));
    columns.right(SPAN_WIDTH, |out| Span(task.wall).push(out));
    // A task that has lived no time at all has no bar.
    let bar_width = if breakdown.whole.0 > 0 { BAR_WIDTH } else { 0 };
    columns.left_of_width(BAR_WIDTH, bar_width, |out| push_bar(out, &breakdown, style));
    // An ended task that ran for less than a tick may have been charged nothing.
    columns.right(SPAN_WIDTH, |out| match (task.sum.on_cpu(), row.kind) {
        (Some(Nanos(0)), Kind::Ended(_)) => out.push_str("<1 tick"),
        (on_cpu, _) => push(out, on_cpu, ABSENT),
    });
    columns.right(SPAN_WIDTH, |out| push(out, breakdown.run_queue, ABSENT));
    columns.right(SPAN_WIDTH, |out| {
        out.push_str(if task.sum.is_partial(Cause::BlockIo) { "≥" } else { "" });
        push(out, breakdown.block_io, absent(task));
    });
    if let Kind::Ended(_) = row.kind {
        columns.right(UNRECORDED_WIDTH, |out| push(out, breakdown.unrecorded, ABSENT));
    }
    columns.right(SPAN_WIDTH, |out| push(out, breakdown.sleeping, absent(task)));
    columns.last(|out| push_overlap(out, task));
}

fn push_ending(out: &mut String, exit: ExitInfo) {
    let (word, number) = match exit.status() {
        Some(status) => ("exit ", status),
        None => ("signal ", exit.signal().unwrap_or(0)),
    };
    out.push_str(word);
    push_number(out, u64::from(number));
}

/// How absence is shown: a question mark if the kernel's zero may mean that it does not count.
pub(super) fn absent(task: &TaskAccount) -> &'static str {
    if task.accounting == Accounting::Unsure { UNSURE } else { ABSENT }
}

/// The overlapping causes that held the task up at all, the largest first.
fn push_overlap(out: &mut String, task: &TaskAccount) {
    // Not counted, or read from /proc alone, which knows none of them.
    let mut largest = [None; Cause::OVERLAPPING.len()];
    let mut is_counted = false;
    for (place, cause) in largest.iter_mut().zip(Cause::OVERLAPPING) {
        let delay = task.sum.delay(cause);
        is_counted |= delay.count().is_some();
        *place = delay.count().filter(|count| *count > 0).map(|_| (delay.total(), cause.name()));
    }
    if !is_counted {
        out.push_str(absent(task));
        return;
    }
    if largest.iter().flatten().count() > 1 {
        largest.sort_unstable_by(|a, b| b.cmp(a));
    }
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

/// Writes what a line has no room for: a cgroup's states, an ended task's status, what ended threads left.
fn write_beside(row: &Row, out: &mut String) {
    if let Some(cgroup) = &row.cgroup {
        push_states(out, &cgroup.states);
        push_usage(out, &cgroup.usage);
    }
    if !row.asleep.is_empty() {
        out.push_str(&format!("{}: asleep for {}\n", row.task.key.pid, asleep::words(&row.asleep)));
    }
    if let Some(ended) = &row.ended {
        let left = Cause::ALL.into_iter().filter_map(|cause| {
            let delay = ended.delays[cause];
            let total = delay.total().filter(|total| total.0 > 0)?;
            let count = delay.count().unwrap_or(0);
            Some(format!("{} {} ({count}×)", cause.name(), Span(total)))
        });
        let left: Vec<_> = left.collect();
        let on_cpu = ended.on_cpu.map(|on_cpu| format!(" were on a CPU for {}", Span(on_cpu)));
        let waited = (!left.is_empty()).then(|| format!(" waited: {}", left.join(", ")));
        let parts: Vec<String> = [on_cpu, waited].into_iter().flatten().collect();
        match row.kind {
            Kind::Cgroup => out.push_str(&format!("of that its ended tasks{}\n", parts.join(" and"))),
            _ => out.push_str(&format!("{}: its ended threads{}\n", row.task.key.pid, parts.join(" and"))),
        }
    }
}

fn push_states(out: &mut String, states: &States) {
    let io_wait = states.io_wait.map_or(ABSENT.to_owned(), |tasks| tasks.to_string());
    out.push_str(&format!(
        "tasks: sleeping {}, running {}, stopped {}, uninterruptible {}, waiting for I/O {io_wait}\n",
        states.sleeping, states.running, states.stopped, states.uninterruptible
    ));
}

/// Appends the counts of the cgroup's own files, if any: a v1 hierarchy counts only what its controllers do.
fn push_usage(out: &mut String, usage: &CgroupUsage) {
    let mut parts = Vec::new();
    parts.extend(usage.cpu.map(|cpu| format!("CPU {}", Span(cpu))));
    parts.extend(usage.throttled.map(|throttled| {
        format!("throttled {} in {} periods", Span(throttled), usage.throttled_periods.unwrap_or(0))
    }));
    parts.extend(usage.memory.map(|memory| format!("memory {}", Size(memory))));
    parts.extend(usage.io.map(|io| format!("read {}, written {}", Size(io.read), Size(io.written))));
    if !parts.is_empty() {
        out.push_str(&format!("cgroup: {}\n", parts.join(", ")));
    }
}

/// Writes what must be said once: limits of the figures, with the remedy.
pub(crate) fn write_notes(notes: &Notes, out: &mut String) {
    let width = line_width();
    let mut say = |sentence: &str| {
        for line in wrapped(sentence, width) {
            out.push_str(line);
            out.push('\n');
        }
    };
    if notes.has_no_delays {
        say(
            "FreeBSD counts neither delays nor time in the run queue: only time on a CPU is known, the rest is absent.",
        );
        return;
    }
    if let Some(reason) = notes.procfs_reason {
        say("Only run queue and block I/O (in clock ticks) are known from /proc.");
        if reason == Absence::Denied {
            say("All causes need CAP_NET_ADMIN: run as root (or see whit-install(7)).");
        }
    }
    if notes.is_off {
        let remedy = if notes.may_enable { Remedy::Command } else { Remedy::Administrator };
        say(&explain_off(remedy));
    }
    if notes.is_unsure {
        say(if notes.has_switch {
            "?: the kernel says zero, which it also says of tasks that were started before delay accounting was enabled; \
             started again, the task is counted for certain."
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
