//! Bars, sparklines and icons.

use super::value::Value;
use crate::ABSENT;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// As wide as a digit. Stands for an absent value, where the lowest bar would stand for zero.
const BLANK: char = '\u{2007}';

/// `███▍▁▁▁`: a percentage.
pub(super) fn push_bar(percent: Option<f64>, width: usize, out: &mut String) {
    let Some(percent) = percent else { return out.push_str(ABSENT) };
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * width as f64 * 8.0).round() as usize;
    out.extend(std::iter::repeat_n('█', eighths / 8));
    let mut drawn = eighths / 8;
    if !eighths.is_multiple_of(8) {
        out.push(PARTS[eighths % 8 - 1]);
        drawn += 1;
    }
    out.extend(std::iter::repeat_n('▁', width - drawn));
}

/// The last values; percentages against 100, others against the highest that is shown.
pub(super) fn push_sparkline<'a>(
    values: impl DoubleEndedIterator<Item = &'a Option<f64>> + ExactSizeIterator + Clone,
    now: Value<'_>,
    width: usize,
    out: &mut String,
) {
    let is_percent = matches!(now, Value::Number(_, super::Unit::Percent));
    let highest = if is_percent { 100.0 } else { values.clone().flatten().copied().fold(0.0, f64::max) };
    out.extend(std::iter::repeat_n(BLANK, width.saturating_sub(values.len())));
    for value in values {
        out.push(value.map_or(BLANK, |value| level(value, highest)));
    }
}

fn level(value: f64, highest: f64) -> char {
    let share = if highest > 0.0 { (value / highest).clamp(0.0, 1.0) } else { 0.0 };
    LEVELS[(share * 7.0).floor() as usize]
}

/// A bar of eight heights for each percentage: the CPUs side by side.
pub fn push_heights(percents: impl Iterator<Item = Option<f64>>, out: &mut String) {
    out.extend(percents.map(|percent| percent.map_or(BLANK, |percent| level(percent, 100.0))));
}

/// The icon for a percentage.
pub(super) fn push_icon(percent: Option<f64>, icons: &[String], out: &mut String) {
    let (Some(percent), Some(last)) = (percent, icons.len().checked_sub(1)) else { return };
    let index = (percent.clamp(0.0, 100.0) / 100.0 * icons.len() as f64) as usize;
    out.push_str(&icons[index.min(last)]);
}
