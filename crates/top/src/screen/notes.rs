//! Notes on what limits the view, between the table and the keys, for as long as it holds.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use text::wrap::wrapped;

use super::head::set;
use super::palette::Palette;
use crate::notes::Topic;
use crate::options::OutputKind;
use crate::session::Session;

/// Draws them above the last line, and says how many lines they took.
pub(super) fn draw(session: &Session, palette: Palette, buffer: &mut Buffer, area: Rect) -> u16 {
    if !session.settings.with_notes {
        return 0;
    }
    // Of a low screen the table gets the most.
    let most = usize::from(area.height / 5);
    let notes = session.notes(OutputKind::Screen);
    // Values that were left out are a matter for the help.
    let notes = notes.iter().filter(|note| note.topic != Topic::Impossible);
    let mut lines: Vec<&str> = notes.flat_map(|note| wrapped(&note.text, usize::from(area.width))).collect();
    let is_cut = lines.len() > most;
    lines.truncate(most);
    if is_cut && let Some(last) = lines.last_mut() {
        *last = "… more of this: ?   none of it: N";
    }
    let y = area.bottom().saturating_sub(1 + lines.len() as u16);
    for (line, y) in lines.iter().zip(y..) {
        set(buffer, area.x, y, area, line, palette.caution());
    }
    lines.len() as u16
}
