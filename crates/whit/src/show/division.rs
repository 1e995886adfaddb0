//! Where a task's wall time went, as a bar: on a CPU, in the run queue, on block I/O, asleep.

use facts::task::Division;
use facts::unit::Nanos;

use super::style::{Style, Tone};

/// On a CPU, run queue, block I/O, sleeping, not known.
const GLYPHS: [(char, Tone); 5] =
    [('█', Tone::Good), ('▓', Tone::Caution), ('▒', Tone::Bad), ('·', Tone::Faint), ('?', Tone::Faint)];

/// What the glyphs mean, for the foot of a table.
pub(crate) const LEGEND: &str = "█ on CPU  ▓ run queue  ▒ block I/O  · sleeping";

/// A bar of `width` characters whose parts add up to it. A part that is there but below a character still shows.
pub(crate) fn bar(division: &Division, width: usize, style: Style) -> String {
    let parts = [division.on_cpu, division.run_queue, division.block_io, division.sleeping, division.unknown]
        .map(|part| part.unwrap_or_default());
    let cells = apportion(&parts, width);
    let mut bar = String::new();
    for ((glyph, tone), cells) in GLYPHS.into_iter().zip(cells) {
        bar.push_str(&style.paint(tone, &String::from(glyph).repeat(cells)));
    }
    bar
}

/// Divides `width` characters in proportion (largest remainders), each part above nothing getting at least one while
/// the largest can spare it.
fn apportion(parts: &[Nanos; 5], width: usize) -> [usize; 5] {
    let whole: u128 = parts.iter().map(|part| u128::from(part.0)).sum();
    if whole == 0 {
        return [0; 5];
    }
    let scaled = parts.map(|part| u128::from(part.0) * width as u128);
    let mut cells = scaled.map(|scaled| (scaled / whole) as usize);
    let mut order = [0, 1, 2, 3, 4];
    order.sort_by_key(|part| std::cmp::Reverse(scaled[*part] % whole));
    let missing = width.saturating_sub(cells.iter().sum());
    for part in order.into_iter().take(missing) {
        cells[part] += 1;
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
    fn a_sliver_shows() {
        assert_eq!(apportion(&[1, 0, 0, 999_999, 0].map(Nanos), 10), [1, 0, 0, 9, 0]);
        assert_eq!(apportion(&[0; 5].map(Nanos), 10), [0; 5]);
    }

    proptest! {
        #[test]
        fn the_bar_is_always_full(parts in proptest::array::uniform5(any::<u64>()), width in 1usize..200) {
            prop_assume!(parts.iter().any(|part| *part > 0));
            prop_assert_eq!(apportion(&parts.map(Nanos), width).iter().sum::<usize>(), width);
        }
    }
}
