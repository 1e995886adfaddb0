//! One task: its delays over the last minutes, counts and maxima, and what /proc says of it.

use facts::task::figure::Figure;
use facts::task::groups::{GroupBy, RowId};
use facts::task::store::ended_threads_cpu;
use facts::task::{Cause, TaskAccount, TaskRow};
use facts::unit::{Bytes, Nanos};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::head::set;
use super::history::{Histories, LENGTH, Shares};
use super::palette::Palette;
use super::target::Target;
use crate::session::Session;
use crate::waits;
use text::ABSENT;
use text::table::{Align, Table};
use text::units::{Size, Span};

/// Files that are listed.
const FILES: usize = 100;
/// Lines of a plot.
const PLOT_HEIGHT: u16 = 8;

/// The task that is looked at.
pub(super) struct Detail {
    target: Target,
    /// The text of the last reading: a key that scrolls reads nothing again.
    text: Vec<String>,
    text_of: Option<Nanos>,
    /// The first line of the text that is shown.
    pub(super) first: usize,
}

impl Detail {
    pub(super) fn new(target: Target) -> Self {
        Self { target, text: Vec::new(), text_of: None, first: 0 }
    }
}

pub(super) fn draw(
    detail: &mut Detail,
    session: &mut Session,
    histories: &Histories,
    palette: Palette,
    buffer: &mut Buffer,
    area: Rect,
) {
    let key = detail.target.key;
    let same = |id: &RowId| session.tasks.row(*id).key().is_same(&key);
    let id = session.tasks.groups.row_of(key.pid).filter(same);
    let id = id.or_else(|| session.tasks.groups.rows().find(same));
    let row = id.map(|id| session.tasks.row(id)).filter(|row| !row.is_ended);
    let state = match &row {
        Some(row) => row.state().map_or(String::new(), |state| format!("state {}", char::from(state))),
        None => "has ended".to_owned(),
    };
    let title = format!("{} {}   {state}", key.pid, detail.target.comm);
    set(buffer, area.x, area.y, area, &title, palette.strong());
    if let Some(row) = &row {
        let bar = Rect { x: area.x, y: area.y + 1, width: area.width, height: 1 };
        if bar.y < area.bottom() {
            super::time_bar::draw_breakdown(row, palette, buffer, bar);
        }
    }
    let plot = Rect { y: area.y + 2, height: PLOT_HEIGHT.min(area.height.saturating_sub(6)), ..area };
    if let Some(history) = histories.of(key) {
        let shares: Vec<Shares> = history.iter().copied().collect();
        draw_plot(&shares, palette, buffer, plot);
    } else {
        set(
            buffer,
            plot.x,
            plot.y,
            plot,
            "Nothing of it to be drawn yet: no two readings, or too little in them.",
            palette.faint(),
        );
    }
    let reading = Some(session.tasks.store.clock().boottime);
    if detail.text_of != reading {
        detail.text = text(session, key.pid);
        detail.text_of = reading;
    }
    let y = plot.bottom() + 1;
    let room = usize::from(area.bottom().saturating_sub(y + 1));
    detail.first = detail.first.min(detail.text.len().saturating_sub(room));
    for (line, y) in detail.text.iter().skip(detail.first).zip(y..area.bottom().saturating_sub(1)) {
        let style = if line.starts_with(' ') || line.is_empty() { Style::new() } else { palette.strong() };
        set(buffer, area.x, y, area, line, style);
    }
}

/// The newest reading is at the right; each column is stacked as the bars are, its overlapping causes marked at the foot.
fn draw_plot(shares: &[Shares], palette: Palette, buffer: &mut Buffer, area: Rect) {
    if area.height < 2 {
        return;
    }
    let width = usize::from(area.width).min(LENGTH);
    let newest = &shares[shares.len().saturating_sub(width)..];
    let height = area.height - 1;
    let parts = palette.parts();
    for (at, Shares([on_cpu, run_queue, block_io, overlapping])) in newest.iter().enumerate() {
        let x = area.right() - (newest.len() - at) as u16;
        let levels = [*on_cpu, *run_queue, *block_io];
        let cells = levels.map(|level| (f32::from(level) / 255.0 * f32::from(height)).ceil() as u16);
        let mut y = area.y + height;
        for ((glyph, style), cells) in parts.into_iter().zip(cells) {
            for _ in 0..cells {
                if y == area.y {
                    break;
                }
                y -= 1;
                if let Some(cell) = buffer.cell_mut((x, y)) {
                    cell.set_char(glyph).set_style(style);
                }
            }
        }
        let marked = f32::from(*overlapping) / 255.0 * f32::from(height);
        for step in 0..(marked.round() as u16).min(height) {
            if let Some(cell) = buffer.cell_mut((x, area.y + height - 1 - step)) {
                cell.set_char('o').set_style(palette.mark());
            }
        }
    }
    let legend = "█ on CPU  ▓ run queue  ▒ block I/O  o overlapping causes; one column per reading, the newest at the right";
    set(buffer, area.x, area.y + height, area, legend, palette.faint());
}

fn text(session: &mut Session, pid: u32) -> Vec<String> {
    let mut lines = delays(session, pid);
    let waits = waits::lines(session, pid);
    let files = session.commands.files();
    let or = |result: Result<String, facts::sample::Absence>| {
        result.unwrap_or_else(|absence| format!("– ({absence})"))
    };
    lines.extend(waits);
    lines.push("program".to_owned());
    let command = files
        .command_line(pid)
        .map(|line| line.unwrap_or_else(|| "– (a kernel thread or zombie)".to_owned()));
    lines.push(format!("  command line  {}", or(command)));
    lines.push(format!("  executable    {}", or(files.link(pid, "exe"))));
    lines.push(format!("  directory     {}", or(files.link(pid, "cwd"))));
    lines.push(format!("  cgroup        {}", or(files.cgroup(pid))));
    lines.push("limits".to_owned());
    match files.limits(pid) {
        Ok(limits) => lines.extend(limits.into_iter().map(|limit| format!("  {limit}"))),
        Err(absence) => lines.push(format!("  – ({absence})")),
    }
    match files.open_files(pid, FILES) {
        Ok((open, count)) => {
            lines.push(format!("open files: {count}"));
            lines.extend(open.iter().map(|file| format!("  {:>4}  {}", file.descriptor, file.target)));
            if count > open.len() {
                lines.push(format!("  and {} more", count - open.len()));
            }
        }
        Err(absence) => lines.push(format!("open files: – ({absence})")),
    }
    lines.extend(threads(session, pid));
    lines
}

/// Lists the delays of a task since it began, each cause with count, total, average and maximum: of a process with its threads.
fn delays(session: &mut Session, pid: u32) -> Vec<String> {
    let is_thread = session.settings.by == GroupBy::Thread;
    let whole = if is_thread { None } else { session.tasks.process_cpu(pid) };
    let store = &session.tasks.store;
    let Some(leader) = store.row(pid) else { return Vec::new() };
    let is_member = |row: &&TaskRow| if is_thread { row.key.pid == pid } else { row.process() == pid };
    let others = store.rows().filter(is_member).filter(|row| row.key.pid != pid);
    let Some(TaskAccount { sum, .. }) = TaskAccount::of_threads([leader].into_iter().chain(others)) else {
        return Vec::new();
    };
    let age = Span(store.clock().boottime.saturating_sub(leader.key.start));
    let bytes = [sum.get(Figure::READ_BYTES), sum.get(Figure::WRITTEN_BYTES), memory_of(session, pid)];
    let [read, written, memory] =
        bytes.map(|bytes| bytes.map_or(ABSENT.to_owned(), |bytes| Size(Bytes(bytes)).to_string()));
    let ended =
        whole.zip(sum.on_cpu()).and_then(|(whole, living)| ended_threads_cpu(whole, living, sum.threads));
    let mut lines = vec![match is_thread {
        true => format!("since it began, {age} ago (this thread alone)"),
        false => format!("since it began, {age} ago (its {} living threads)", sum.threads),
    }];
    let span = |nanos: Option<Nanos>| nanos.map_or(ABSENT.to_owned(), |nanos| Span(nanos).to_string());
    lines.push(format!(
        "  on CPU {}   user {}   system {}   read {read}   written {written}   memory {memory}",
        span(sum.on_cpu()),
        span(sum.get(Figure::USER).map(Nanos)),
        span(sum.get(Figure::SYSTEM).map(Nanos)),
    ));
    if let Some(ended) = ended {
        lines.push(format!("  and its threads that have ended were on a CPU for {}", Span(ended)));
    }
    let columns = [
        ("  delay", Align::Left),
        ("count", Align::Right),
        ("total", Align::Right),
        ("average", Align::Right),
        ("longest", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for cause in Cause::ALL {
        let delay = sum.delay(cause);
        table.row([
            format!("  {}", cause.name()),
            delay.count().map_or(ABSENT.to_owned(), |count| count.to_string()),
            span(delay.total()),
            span(delay.average()),
            span(delay.max()),
        ]);
    }
    let mut text = String::new();
    table.write(&mut text);
    lines.extend(text.lines().map(str::to_owned));
    lines
}

/// The memory of its process as the table shows it: a thread that sleeps shows an older one.
fn memory_of(session: &Session, pid: u32) -> Option<u64> {
    let id = session.tasks.groups.row_of(pid)?;
    session.tasks.row(id).get(Figure::RESIDENT_BYTES)
}

/// The threads of its process: what each did since it began, and in the last interval.
fn threads(session: &Session, pid: u32) -> Vec<String> {
    let store = &session.tasks.store;
    let members: Vec<&TaskRow> =
        store.rows().filter(|row| row.process() == pid || row.key.pid == pid).collect();
    let mut lines = vec![format!("threads: {}", members.len())];
    let elapsed = store.interval().map(|interval| interval.elapsed().0 as f64);
    for row in members.into_iter().take(FILES) {
        let share = |figure| match store.delta(row.key.pid, figure).zip(elapsed) {
            Some((nanos, elapsed)) => format!("{:.1} %", nanos as f64 / elapsed * 100.0),
            None => "–".to_owned(),
        };
        lines.push(format!(
            "  {:>7} {}  {:<15}  on CPU {:>9}, now {:>7}  run queue {:>7}  block I/O {:>7}",
            row.key.pid,
            row.state.map_or('–', char::from),
            row.comm.as_str(),
            row.figures.get(Figure::ON_CPU).map_or(ABSENT.to_owned(), |ns| Span(Nanos(ns)).to_string()),
            share(Figure::ON_CPU),
            share(Figure::delay(Cause::RunQueue)),
            share(Figure::delay(Cause::BlockIo)),
        ));
    }
    lines
}
