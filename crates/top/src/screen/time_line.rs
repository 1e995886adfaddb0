//! The whole history in a line above the keys: where in it the view is, what was recorded, and where alerts fired.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::head::set;
use super::palette::Palette;
use crate::past_place::PastPlace;
use command::past::Part;
use command::time_zone::written;

/// Draws it above the last line, and says how many lines it took. `parts` are those of the last time, if there are as many.
pub(super) fn draw(
    place: &PastPlace,
    parts: &mut Vec<Part>,
    palette: Palette,
    buffer: &mut Buffer,
    area: Rect,
) -> u16 {
    let Some(y) = area.bottom().checked_sub(2) else { return 0 };
    let (first, last) = place.view.extent_ns();
    let now = place.time();
    let ends = [written(first), written(last)];
    let labels = now.chars().count() + ends.iter().map(|end| end.chars().count()).sum::<usize>();
    let width = usize::from(area.width);
    // Of a narrow screen the time alone, and what is left.
    let has_ends = width >= labels + 30;
    let taken = if has_ends { labels + 6 } else { now.chars().count() + 2 };
    let count = width.saturating_sub(taken);
    set(buffer, area.x, y, area, &now, palette.strong());
    if count < 3 {
        return 1;
    }
    if parts.len() != count {
        // A history that cannot be read any more has no marks.
        *parts = place.view.parts(count).unwrap_or_default();
    }
    let mut x = area.x + now.chars().count() as u16 + 2;
    if has_ends {
        set(buffer, x, y, area, &ends[0], palette.faint());
        x += ends[0].chars().count() as u16 + 1;
    }
    let at = (place.at_ns - first) as f64 / (last - first).max(1) as f64;
    let here = ((at * count as f64) as usize).min(count - 1);
    for (offset, part) in parts.iter().enumerate() {
        let (mark, style) = match part {
            _ if offset == here => ("▲", palette.strong()),
            Part { has_alert: true, .. } => ("!", palette.caution()),
            Part { is_recorded: true, .. } => ("─", palette.faint()),
            Part { .. } => (" ", palette.faint()),
        };
        set(buffer, x + offset as u16, y, area, mark, style);
    }
    if has_ends {
        set(buffer, x + count as u16 + 1, y, area, &ends[1], palette.faint());
    }
    1
}
