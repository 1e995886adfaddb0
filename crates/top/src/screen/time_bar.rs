//! A row's time as a bar.

use facts::task::Cause;
use facts::task::groups::GroupRow;
use facts::unit::Nanos;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use text::time_bar::apportion;

use super::palette::Palette;

/// A row's time as a stacked bar; over its beginning the letters of what overlaps, each as long as its share.
pub(super) fn draw_breakdown(row: &GroupRow<'_>, palette: Palette, buffer: &mut Buffer, area: Rect) {
    let breakdown = row.breakdown();
    let parts = breakdown.parts();
    let width = usize::from(area.width);
    let mut x = area.x;
    for ((glyph, style), cells) in palette.parts().into_iter().zip(apportion(&parts, width)) {
        for _ in 0..cells {
            if let Some(cell) = buffer.cell_mut((x, area.y)) {
                cell.set_char(glyph).set_style(style);
            }
            x += 1;
        }
    }
    mark(row, breakdown.whole, palette, buffer, area);
}

/// Draws marks for delays that overlap: they lie within the time on a CPU and the block I/O. Of several the longest comes first.
fn mark(row: &GroupRow<'_>, whole: Nanos, palette: Palette, buffer: &mut Buffer, area: Rect) {
    let mut x = area.x;
    for (cause, total) in row.sum.overlapping_delays() {
        let share = total.0 as f64 / whole.0.max(1) as f64;
        let cells = (share * f64::from(area.width)).round() as u16;
        for _ in 0..cells.min(area.right().saturating_sub(x)) {
            if let Some(cell) = buffer.cell_mut((x, area.y)) {
                cell.set_char(letter(cause)).set_style(palette.mark());
            }
            x += 1;
        }
    }
}

fn letter(cause: Cause) -> char {
    match cause {
        Cause::SwapIn => 's',
        Cause::Thrashing => 't',
        Cause::Reclaim => 'r',
        Cause::Compaction => 'c',
        Cause::Copy => 'w',
        Cause::Irq => 'i',
        Cause::RunQueue | Cause::BlockIo => ' ',
    }
}
