//! What the threads of a row wait for.

use facts::linux::system_calls::SystemCall;
use facts::task::TaskRow;
use facts::task::chain::chain_of;
use facts::task::groups::{GroupBy, RowId};
use facts::task::wait::{Wait, WaitTarget};
use facts::task::waits::{Waits, is_awake};
use probe::waits::WaitReader;

use crate::session::Session;

/// The most threads of a row for which /proc is read.
const MAX_ASKED: usize = 32;

/// Returns what the threads of a row wait for. Where the source of all tasks does not say it, /proc is asked, but for the past.
pub(crate) fn of_row(session: &mut Session, id: RowId) -> Waits {
    let rows: Vec<TaskRow> = session.tasks.living(id).copied().collect();
    complete(session, rows, |row| row.wait.is_none())
}

/// Completes rows that are wanted and sleep.
fn complete(session: &mut Session, mut rows: Vec<TaskRow>, is_wanted: impl Fn(&TaskRow) -> bool) -> Waits {
    if !session.is_of_past {
        for row in rows.iter_mut().filter(|row| is_wanted(row) && !is_awake(row)).take(MAX_ASKED) {
            if session.tasks.store.is_of_kernel(row) {
                row.wait = Some(Wait::KERNEL_WORK);
                continue;
            }
            // It may be another user's.
            let wait = session.commands.files().wait(row.process(), row.key.pid).ok().flatten();
            row.wait = wait.and_then(|wait| wait.in_state(row.state?)).or(row.wait);
        }
    }
    Waits::of(rows.iter())
}

/// Appends the reason of most threads, with their number if they are several; nothing if all are awake.
pub(crate) fn push(waits: &Waits, out: &mut String) {
    match waits.by_threads().first() {
        Some((wait, 1)) => out.push_str(wait.reason.name()),
        Some((wait, threads)) => {
            // Not all were asked.
            let at_least = if waits.unknown > 0 { "≥" } else { "" };
            out.push_str(&format!("{} ×{at_least}{threads}", wait.reason.name()));
        }
        None if waits.unknown > 0 => out.push('–'),
        None => {}
    }
}

/// The reasons for which the threads of a task sleep, a line each, with what they wait for; nothing if all are awake.
pub(crate) fn lines(session: &mut Session, pid: u32) -> Vec<String> {
    let is_thread = session.settings.by == GroupBy::Thread;
    let is_member = |row: &&TaskRow| if is_thread { row.key.pid == pid } else { row.process() == pid };
    let rows: Vec<TaskRow> = session.tasks.store.rows().filter(is_member).copied().collect();
    let Some(process) = rows.first().map(TaskRow::process) else { return Vec::new() };
    // Recorded reasons, and those of an agent, have no objects.
    let is_without_object = |row: &TaskRow| row.wait.is_none_or(|wait| wait.target == WaitTarget::None);
    let waits = complete(session, rows, is_without_object);
    let files = session.commands.files();
    let mut lines: Vec<String> = Vec::new();
    for (wait, threads) in waits.by_threads() {
        let call = wait.call.map_or("", SystemCall::name);
        let object = match wait.target {
            WaitTarget::Descriptor(descriptor) => {
                let file = files.link(process, &format!("fd/{descriptor}"));
                file.map_or(format!(" of {descriptor}"), |file| format!(" of {descriptor}, {file}"))
            }
            WaitTarget::Process(child) => format!(" of {child}"),
            WaitTarget::Address(address) => format!(" at {address:#x}"),
            WaitTarget::None => String::new(),
        };
        lines.push(format!("  {:<14} {:<12} {call}{object}", wait.reason.name(), number(threads)));
    }
    if waits.unknown > 0 {
        lines.push(format!("  {:<14} {}", "–", number(waits.unknown)));
    }
    if !lines.is_empty() {
        lines.insert(0, "waits for".to_owned());
    }
    if !session.is_of_past && !session.is_captured {
        lines.extend(chain(process));
    }
    lines
}

/// Who a process waits for now, link by link: a section of lines; nothing if it waits for none.
fn chain(pid: u32) -> Vec<String> {
    let chain = WaitReader::open().ok().and_then(|mut reader| chain_of(&mut reader, pid));
    let Some(chain) = chain.filter(|chain| chain.links.iter().any(|link| link.depth > 0)) else {
        return Vec::new();
    };
    let mut text = String::new();
    text::chain::push(&chain, &mut text);
    let lines = text.lines().map(|line| format!("  {line}"));
    ["and who that depends on".to_owned()].into_iter().chain(lines).collect()
}

fn number(threads: u32) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}
