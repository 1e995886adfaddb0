//! The head of the screen: CPUs, memory, traffic, tasks.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::palette::Palette;
use crate::head::{self, Breadth};
use crate::session::Session;
use command::agent_problems::AgentProblems;

/// More CPUs than this are shown several a line.
const CPU_CELL: u16 = 20;

/// Draws it, and says how many lines it took. `problems` are those that an agent found.
pub(super) fn draw(
    session: &Session,
    problems: Option<AgentProblems>,
    palette: Palette,
    buffer: &mut Buffer,
    area: Rect,
) -> u16 {
    // Of a low screen the table gets the most.
    let most = (area.height / 3).max(1);
    let mut y = area.y;
    let lines = head::lines(session, Breadth::of(area.width));
    let is_full = |y: u16| y - area.y >= most;
    // Of a low screen the lines below it need the room.
    if most > lines.len() as u16 && verdict_line(session, problems, palette, buffer, area) {
        y += 1;
    }
    cpu_line(session, palette, buffer, Rect { y, height: 1, ..area }, &lines[0]);
    y += 1;
    if session.settings.with_each_cpu {
        let cells = (area.width / CPU_CELL).max(1);
        for (index, (number, cpu)) in session.machine.cpus().enumerate() {
            let (column, line) = (index as u16 % cells, index as u16 / cells);
            if is_full(y + line) {
                break;
            }
            let share = cpu.map(|cpu| cpu.busy.0);
            let x = area.x + column * CPU_CELL;
            // One that is offline is left out.
            let label = format!("{number:>3} ");
            let bar_width = usize::from(CPU_CELL) - 10;
            set(buffer, x, y + line, area, &label, palette.faint());
            gauge(buffer, x + 4, y + line, bar_width, share, palette);
            let text = share.map_or("  –".to_owned(), |share| format!("{:>4.0}", share * 100.0));
            set(buffer, x + 4 + bar_width as u16, y + line, area, &text, Style::new());
        }
        let used = (session.machine.cpus().len() as u16).div_ceil(cells);
        y = (y + used).min(area.y + most);
    }
    let devices = match session.settings.with_each_device {
        true => head::device_lines(session),
        false => Vec::new(),
    };
    for line in &lines[1..] {
        if is_full(y) {
            break;
        }
        set(buffer, area.x, y, area, line, Style::new());
        y += 1;
    }
    for (place, line) in devices.iter().enumerate() {
        if is_full(y) {
            break;
        }
        set(buffer, area.x, y, area, line, Style::new());
        y += 1;
        let left = devices.len() - place - 1;
        if is_full(y) && left > 0 {
            let more = format!("… and {left} more: a higher screen shows them");
            set(buffer, area.x, y - 1, area, &format!("{line:<60}"), Style::new());
            let x = area.x + 62;
            let more = if area.width > 62 + more.len() as u16 { more } else { format!("+{left}") };
            set(buffer, x.min(area.right().saturating_sub(4)), y - 1, area, &more, palette.caution());
        }
    }
    y - area.y
}

/// What an agent found, and what tasks wait for. Returns whether there is something to say.
fn verdict_line(
    session: &Session,
    problems: Option<AgentProblems>,
    palette: Palette,
    buffer: &mut Buffer,
    area: Rect,
) -> bool {
    let waits = head::verdict(session).map(|(words, worst)| {
        let style = match worst.percent() {
            30.0.. => palette.bad(),
            head::MIN_PRESSURE_PERCENT.. => palette.caution(),
            _ => palette.good(),
        };
        (words, style)
    });
    let found = problems.and_then(|problems| {
        let style = if problems.is_urgent() { palette.bad() } else { palette.caution() };
        Some((problems.words()?, style))
    });
    let mut x = area.x;
    // Of a narrow screen the end is cut off: what an agent found comes first.
    for (words, style) in [found, waits].into_iter().flatten() {
        set(buffer, x, area.y, area, &words, style);
        x = x.saturating_add(words.chars().count() as u16 + 3);
    }
    x > area.x
}

/// A bar of all CPUs, and the words.
fn cpu_line(session: &Session, palette: Palette, buffer: &mut Buffer, area: Rect, words: &str) {
    let width = usize::from(area.width / 6).min(if area.width < 132 { 10 } else { 24 });
    let share = session.machine.cpu().map(|cpu| cpu.busy.0);
    gauge(buffer, area.x, area.y, width, share, palette);
    let x = if width > 0 { area.x + width as u16 + 1 } else { area.x };
    set(buffer, x, area.y, area, words, Style::new());
}

/// A share as a bar in eighths.
fn gauge(buffer: &mut Buffer, x: u16, y: u16, width: usize, share: Option<f64>, palette: Palette) {
    const EIGHTHS: [&str; 9] = ["▁", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
    let Some(share) = share else { return };
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    for cell in 0..width {
        let filled = eighths.saturating_sub(cell * 8).min(8);
        let style = if filled == 0 { palette.faint() } else { palette.load(share) };
        put(buffer, x.saturating_add(cell as u16), y, EIGHTHS[filled], 1, style);
    }
}

/// Sets text that ends where the area does.
pub(super) fn set(buffer: &mut Buffer, x: u16, y: u16, area: Rect, text: &str, style: Style) {
    let room = area.right().saturating_sub(x);
    if room > 0 && y < area.bottom() {
        put(buffer, x, y, text, room, style);
    }
}

/// Writes a text of at most so many columns, and nothing outside the screen. Most are ASCII, of which every letter is one column.
pub(super) fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, width: u16, style: Style) {
    if !buffer.area.contains(Position { x, y }) {
        return;
    }
    if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        buffer.set_stringn(x, y, text, usize::from(width), style);
        return;
    }
    for (x, letter) in (x..x.saturating_add(width)).zip(text.chars()) {
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.set_char(letter).set_style(style);
        }
    }
}
