//! The table of tasks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::head::{put, set};
use super::state::{State, row};
use super::time_bar::draw_breakdown;
use crate::cells;
use crate::columns::Column;
use crate::lines::Line;
use crate::session::Session;
use text::table::Align;

/// Returns the area that is left between the head, and the notes and the foot.
pub(super) fn area(area: Rect, head: u16, notes: u16) -> Rect {
    Rect { y: area.y + head, height: area.height.saturating_sub(head + notes + 1), ..area }
}

/// The command has at least this much room.
const MIN_COMMAND_WIDTH: u16 = 8;
/// A rare column is shown only if a whole name has room beside it: 15 letters, says TASK_COMM_LEN.
const WHOLE_NAME_WIDTH: u16 = 15;

struct Place {
    column: Column,
    x: u16,
    width: u16,
}

/// Columns with their places, as many as fit, from the left; a column that does not fit goes, rather than the command.
fn places(columns: &[Column], sort: Column, area: Rect) -> Vec<Place> {
    let has_rest = columns.iter().any(|column| column.width() == 0);
    let reserved = if has_rest { MIN_COMMAND_WIDTH.min(area.width) } else { 0 };
    let mut room = area.width.saturating_sub(reserved);
    // The rarer ones go first: those with the most characters that are not the task's name.
    let mut kept: Vec<Column> = Vec::new();
    for column in by_importance(columns, sort) {
        let width = column.width() as u16;
        let is_rare = has_rest && importance(&column, sort) == MIN_IMPORTANCE;
        let needed = if is_rare { width + (WHOLE_NAME_WIDTH - MIN_COMMAND_WIDTH) } else { width };
        if width == 0 || needed < room {
            room = room.saturating_sub(if width == 0 { 0 } else { width + 1 });
            kept.push(column);
        }
    }
    let mut places = Vec::new();
    let mut x = area.x;
    for column in columns.iter().copied().filter(|column| kept.contains(column)) {
        let width = match column.width() as u16 {
            0 => MIN_COMMAND_WIDTH + room,
            width => width,
        };
        places.push(Place { column, x, width });
        x += width + 1;
    }
    places
}

/// The columns that identify a row and have its main figures first: they get space first.
fn by_importance(columns: &[Column], sort: Column) -> Vec<Column> {
    let mut ordered = columns.to_vec();
    ordered.sort_by_key(|column| importance(column, sort));
    ordered
}

const MIN_IMPORTANCE: u8 = 6;

fn importance(column: &Column, sort: Column) -> u8 {
    match column {
        Column::Pid | Column::Command => 0,
        // What the rows are ordered by is to be seen.
        column if *column == sort => 0,
        Column::Cpu => 1,
        Column::Resident => 2,
        Column::State => 3,
        Column::Time => 4,
        Column::User => 5,
        _ => MIN_IMPORTANCE,
    }
}

/// The columns. As long as none were chosen, those that have said nothing of any row so far are left out, but for the one by which rows are ordered.
fn shown_columns(state: &mut State, session: &Session, lines: &[Line]) -> Vec<Column> {
    let mut columns = session.columns();
    // After one reading rates are not known yet.
    let is_early = session.tasks.store.interval().is_none();
    if session.settings.columns != Column::DEFAULT || is_early || lines.is_empty() {
        return columns;
    }
    let (by, sort) = (session.settings.by, session.arrangement.sort);
    let filled = match &mut state.filled {
        Some((of, filled)) if *of == by => filled,
        others => &mut others.insert((by, Vec::new())).1,
    };
    let others = columns.iter().copied().filter(|column| !filled.contains(column) && *column != sort);
    let (more, empty): (Vec<Column>, Vec<Column>) =
        others.partition(|column| lines.iter().any(|line| says_something(session, *column, line)));
    filled.extend(more);
    columns.retain(|column| !empty.contains(column));
    columns
}

fn says_something(session: &Session, column: Column, line: &Line) -> bool {
    // They are never empty, and their text is not in a cell.
    if matches!(column, Column::Time | Column::Command) {
        return true;
    }
    let mut text = String::new();
    session.push_cell(column, line.id, &mut text);
    !matches!(text.as_str(), "" | "–" | "·")
}

pub(super) fn draw(state: &mut State, session: &mut Session, buffer: &mut Buffer, area: Rect) {
    state.body = area;
    if area.height == 0 {
        return;
    }
    let page = usize::from(area.height - 1);
    keep_in_sight(state, page);
    let end = (state.first + page).min(state.lines.len());
    let shown = state.first.min(end)..end;
    let lines: Vec<Line> = state.lines.from(shown.start, &session.tasks).take(page).collect();
    // A screen that stands still shows what was read.
    if !state.is_paused {
        session.tasks.complete(lines.iter().map(|line| line.id));
    }
    let places = places(&shown_columns(state, session, &lines), session.arrangement.sort, area);
    draw_headings(state, session, &places, buffer, area);
    let mut text = String::new();
    for ((at, y), line) in shown.zip(area.y + 1..).zip(&lines) {
        let is_selected = at == state.selected;
        let base = if is_selected { state.palette.selected() } else { Style::new() };
        if is_selected {
            buffer.set_style(Rect { y, height: 1, ..area }, base);
        }
        for Place { column, x, width } in &places {
            text.clear();
            let row = row(session, line);
            let is_busy =
                *column == Column::Cpu && row.share(row.sum.on_cpu()).is_some_and(|share| share >= 0.1);
            let style = if row.is_ended { base.patch(state.palette.faint()) } else { base };
            if *column == Column::Time {
                draw_breakdown(&row, state.palette, buffer, Rect { x: *x, y, width: *width, height: 1 });
                continue;
            }
            cells::push(session, *column, line, &mut text);
            if *column == Column::Command {
                text = text.chars().skip(state.shift).collect();
            }
            if column.align() == Align::Right {
                fit(&mut text, usize::from(*width));
            }
            let length = text.chars().count() as u16;
            let x = match column.align() {
                Align::Right => x + width.saturating_sub(length),
                Align::Left => *x,
            };
            let style = if is_busy { style.patch(state.palette.strong()) } else { style };
            put(buffer, x, y, &text, *width, style);
        }
    }
}

/// Makes a number that is wider than its column shorter: without decimals, else in thousands or millions. A number that is cut is another one.
fn fit(text: &mut String, width: usize) {
    if text.chars().count() <= width {
        return;
    }
    if let Some((whole, _)) =
        text.split_once('.').filter(|(_, part)| part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        text.truncate(whole.len());
    }
    for unit in ["k", "M"] {
        let digits = text.trim_end_matches(['k', 'M']);
        let is_whole = digits.trim_start_matches('≥').bytes().all(|byte| byte.is_ascii_digit());
        if text.chars().count() <= width || !is_whole || digits.len() <= 3 {
            return;
        }
        text.truncate(digits.len() - 3);
        text.push_str(unit);
    }
}

fn keep_in_sight(state: &mut State, page: usize) {
    if state.selected < state.first {
        state.first = state.selected;
    } else if page > 0 && state.selected >= state.first + page {
        state.first = state.selected + 1 - page;
    }
    state.first = state.first.min(state.lines.len().saturating_sub(page));
}

fn draw_headings(state: &mut State, session: &Session, places: &[Place], buffer: &mut Buffer, area: Rect) {
    buffer.set_style(Rect { height: 1, ..area }, state.palette.heading());
    state.column_ends.clear();
    for Place { column, x, width } in places {
        let heading = column.heading();
        let arrow = match (*column == session.arrangement.sort, session.arrangement.is_reversed) {
            (true, reversed) if column.is_ascending() == reversed => "▼",
            (true, _) => "▲",
            (false, _) => "",
        };
        let is_sorted = !arrow.is_empty();
        let style = if is_sorted { state.palette.sorted() } else { state.palette.heading() };
        let length = heading.chars().count() as u16;
        let start = match column.align() {
            Align::Right => x + width.saturating_sub(length),
            Align::Left => *x,
        };
        buffer.set_stringn(start, area.y, heading, usize::from(*width), style);
        let after = start + length;
        if is_sorted && after < area.right() {
            set(buffer, after, area.y, area, arrow, state.palette.heading());
        }
        state.column_ends.push((x + width, *column));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_too_wide_is_no_other_number() {
        let fitted = |text: &str, width: usize| {
            let mut text = text.to_owned();
            fit(&mut text, width);
            text
        };
        for (text, width, expected) in [
            ("99.9", 6, "99.9"),
            ("10000.0", 6, "10000"),
            ("≥1234.5", 6, "≥1234"),
            ("1000000.0", 6, "1000k"),
            ("100000", 5, "100k"),
            ("1234567890", 5, "1234M"),
            ("1.23 GiB", 6, "1.23 GiB"),
        ] {
            assert_eq!(fitted(text, width), expected);
        }
    }

    fn shown(width: u16) -> Vec<&'static str> {
        let area = Rect { x: 0, y: 0, width, height: 1 };
        let places = places(&Column::DEFAULT, Column::Cpu, area);
        let mut end = 0;
        for place in &places {
            assert!(place.x >= end && place.x + place.width <= width.max(8), "{width}");
            end = place.x + place.width;
        }
        places.iter().map(|place| place.column.name()).collect()
    }

    #[test]
    fn narrow_screens_lose_the_rarer_columns() {
        assert_eq!(shown(40), ["pid", "state", "cpu", "memory", "command"]);
        assert!(shown(80).contains(&"time"));
        assert_eq!(shown(200).len(), Column::DEFAULT.len());
        for width in 1..400 {
            shown(width);
        }
    }
}
