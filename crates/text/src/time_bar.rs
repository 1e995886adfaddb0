//! A task's wall time as a bar: on CPU, run queue, block I/O, unrecorded, sleeping.

use facts::task::TimeBreakdown;
use facts::unit::Nanos;

use super::style::{Emphasis, Style};

/// On CPU, run queue, block I/O, unrecorded, sleeping, undivided: each as long as the longest bar.
const GLYPHS: [(&str, Emphasis); PARTS] = [
    ("████████████████████", Emphasis::Good),
    ("▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓", Emphasis::Caution),
    ("▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒", Emphasis::Bad),
    ("~~~~~~~~~~~~~~~~~~~~", Emphasis::Faint),
    ("····················", Emphasis::Faint),
    ("────────────────────", Emphasis::Faint),
];

/// Parts of a breakdown.
const PARTS: usize = 6;

/// The width of a bar in characters.
pub const BAR_WIDTH: usize = 20;

/// Explains the glyphs, for the foot of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Legend {
    /// There are ended tasks.
    pub with_unrecorded: bool,
    /// There is time that could not be divided.
    pub with_undivided: bool,
}

impl Legend {
    /// Adds what a bar contains.
    pub fn add(&mut self, breakdown: &TimeBreakdown) {
        self.with_undivided |= breakdown.undivided.is_some_and(|undivided| undivided.0 > 0);
    }

    /// Appends it.
    pub fn push(self, out: &mut String) {
        out.push_str("█ on CPU  ▓ run queue  ▒ block I/O");
        out.push_str(if self.with_unrecorded { "  ~ unrecorded" } else { "" });
        out.push_str("  · sleeping");
        out.push_str(if self.with_undivided { "  ─ off CPU" } else { "" });
    }
}

/// Appends a bar of [`BAR_WIDTH`] characters. A part that is shorter than a character but not zero still gets one.
pub fn push_bar(out: &mut String, breakdown: &TimeBreakdown, style: Style) {
    for ((glyphs, emphasis), cells) in GLYPHS.into_iter().zip(apportion(&breakdown.parts(), BAR_WIDTH)) {
        if cells > 0 {
            let bytes = glyphs.len() / BAR_WIDTH * cells;
            style.paint_into(out, emphasis, |out| out.push_str(&glyphs[..bytes]));
        }
    }
}

/// Divides `width` characters in proportion to the parts (largest remainder method). Each part above zero gets at least one while
/// the largest can spare it.
pub fn apportion(parts: &[Nanos; PARTS], width: usize) -> [usize; PARTS] {
    // Shifted so that neither the sum nor a product overflows. The lost precision is far below a character.
    let highest = parts.iter().map(|part| part.0).max().unwrap_or(0);
    let shift = (64 - highest.leading_zeros()).saturating_sub(40);
    if width == 0 {
        return [0; PARTS];
    }
    let scaled = parts.map(|part| (part.0 >> shift) * width as u64);
    let whole = scaled.iter().sum::<u64>() / width as u64;
    if whole == 0 {
        return [0; PARTS];
    }
    let mut cells = scaled.map(|scaled| (scaled / whole) as usize);
    let mut remainders = [0; PARTS];
    for part in 0..parts.len() {
        remainders[part] = scaled[part] - cells[part] as u64 * whole;
    }
    for _ in cells.iter().sum()..width {
        let next = (0..parts.len()).max_by_key(|part| remainders[*part]).unwrap_or(0);
        cells[next] += 1;
        remainders[next] = 0;
    }
    for part in 0..parts.len() {
        let largest = (0..parts.len()).max_by_key(|part| cells[*part]).unwrap_or(0);
        if parts[part].0 > 0 && cells[part] == 0 && cells[largest] > 1 {
            cells[part] += 1;
            cells[largest] -= 1;
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_part_gets_a_character() {
        assert_eq!(apportion(&[1, 0, 0, 0, 999_999, 0].map(Nanos), 10), [1, 0, 0, 0, 9, 0]);
        assert_eq!(apportion(&[0; PARTS].map(Nanos), 10), [0; PARTS]);
    }

    proptest! {
        #[test]
        fn the_bar_is_always_full(parts in proptest::array::uniform6(any::<u64>()), width in 0usize..200) {
            prop_assume!(parts.iter().any(|part| *part > 0));
            prop_assert_eq!(apportion(&parts.map(Nanos), width).iter().sum::<usize>(), width);
        }
    }
}
