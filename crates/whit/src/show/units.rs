//! Sizes, spans and shares in words of a few characters.

use std::fmt::{self, Display};

use facts::unit::{Bytes, Nanos, Ratio};

/// In what unit sizes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteUnit {
    /// Divided by this, rounded down as `free` does.
    Fixed(u64),
    /// The largest power of 1024 that leaves a number of one or more.
    HumanBinary,
    /// The largest power of 1000.
    HumanDecimal,
}

impl ByteUnit {
    /// A size in this unit.
    pub(crate) fn format(self, bytes: Bytes) -> String {
        match self {
            Self::Fixed(divisor) => (bytes.0 / divisor).to_string(),
            Self::HumanBinary => human(bytes.0 as f64, 1024.0, &["B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]),
            Self::HumanDecimal => human(bytes.0 as f64, 1000.0, &["B", "k", "M", "G", "T", "P", "E"]),
        }
    }

    /// A difference of sizes, which may be below zero.
    pub(crate) fn format_signed(self, bytes: i64) -> String {
        let magnitude = self.format(Bytes(bytes.unsigned_abs()));
        if bytes < 0 && magnitude != "0" { format!("-{magnitude}") } else { magnitude }
    }
}

/// Three characters of number at most, then the unit.
fn push_human(out: &mut String, value: f64, base: f64, units: &[&str]) {
    let mut scaled = value;
    let mut unit = 0;
    // What would be rounded up to the base belongs to the next unit.
    while scaled.round() >= base && unit + 1 < units.len() {
        scaled /= base;
        unit += 1;
    }
    let tenths = (scaled * 10.0).round();
    if unit > 0 && tenths < 100.0 {
        push_number(out, tenths as u64 / 10);
        out.push('.');
        push_number(out, tenths as u64 % 10);
    } else {
        push_number(out, scaled.round() as u64);
    }
    out.push_str(units[unit]);
}

fn human(value: f64, base: f64, units: &[&str]) -> String {
    let mut text = String::new();
    push_human(&mut text, value, base, units);
    text
}

/// A size for a line of text: "8.7 MiB".
pub(crate) struct Size(pub(crate) Bytes);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        push_bytes(&mut text, self.0);
        f.pad(&text)
    }
}

/// A span with its unit chosen by size: "730 ns", "1.24 ms", "12.5 s", "2m28s", "3h05m", "12d04h".
pub(crate) struct Span(pub(crate) Nanos);

impl Span {
    /// Appends it, by integers alone: a table of all tasks has some thirty thousand of these.
    pub(crate) fn push(&self, out: &mut String) {
        const MICRO: u64 = 1_000;
        const MILLI: u64 = 1_000_000;
        const SECOND: u64 = 1_000_000_000;
        let nanos = self.0.0;
        match nanos {
            0 => out.push('0'),
            1..MICRO => push_scaled(out, nanos, 1, " ns"),
            MICRO..999_500 => push_scaled(out, nanos, MICRO, " µs"),
            999_500..999_500_000 => push_scaled(out, nanos, MILLI, " ms"),
            999_500_000..59_950_000_000 => push_scaled(out, nanos, SECOND, " s"),
            _ => {
                let seconds = nanos.saturating_add(SECOND / 2) / SECOND;
                let (large, small, units) = match seconds {
                    ..3_600 => (seconds / 60, seconds % 60, ["m", "s"]),
                    3_600..86_400 => (seconds / 3_600, seconds / 60 % 60, ["h", "m"]),
                    _ => (seconds / 86_400, seconds / 3_600 % 24, ["d", "h"]),
                };
                push_number(out, large);
                out.push_str(units[0]);
                push_padded(out, small, 2);
                out.push_str(units[1]);
            }
        }
    }
}

impl Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push(&mut text);
        f.pad(&text)
    }
}

/// Appends `value / divisor` in three digits, rounded.
fn push_scaled(out: &mut String, value: u64, divisor: u64, unit: &str) {
    let rounded = |digits: u32| {
        let divisor = divisor / 10u64.pow(digits).min(divisor);
        (value + divisor / 2) / divisor
    };
    let (scaled, digits) = match (rounded(2), rounded(1)) {
        _ if divisor == 1 => (value, 0),
        (hundredths @ ..1_000, _) => (hundredths, 2),
        (_, tenths @ ..1_000) => (tenths, 1),
        _ => (rounded(0), 0),
    };
    let power = 10u64.pow(digits);
    push_number(out, scaled / power);
    if digits > 0 {
        out.push('.');
        push_padded(out, scaled % power, digits as usize);
    }
    out.push_str(unit);
}

/// Appends a share in whole per cent: "12 %".
pub(crate) fn push_percent(out: &mut String, share: Ratio) {
    push_number(out, share.percent().round() as u64);
    out.push_str(" %");
}

/// Appends a figure that is kept in thousandths, rounded to `digits` behind the point, at most 3.
pub(crate) fn push_thousandths(out: &mut String, thousandths: u64, digits: usize) {
    let unit = [1000, 100, 10, 1][digits];
    let rounded = thousandths.saturating_add(unit / 2) / unit;
    let whole = 1000 / unit;
    push_number(out, rounded / whole);
    if digits > 0 {
        out.push('.');
        push_padded(out, rounded % whole, digits);
    }
}

/// Appends a number in decimal.
pub(crate) fn push_number(out: &mut String, number: u64) {
    push_padded(out, number, 1);
}

/// Appends a number in decimal with zeros before it up to `width`, which is at most 3.
pub(crate) fn push_padded(out: &mut String, number: u64, width: usize) {
    if number >= 1000 {
        push_padded(out, number / 1000, 1);
        return push_padded(out, number % 1000, 3);
    }
    let digits = match number {
        100.. => 3,
        10.. => 2,
        _ => 1,
    };
    let end = number as usize * 3 + 3;
    out.push_str(&THREE_DIGITS[end - width.max(digits)..end]);
}

/// "000001002…999": what is cut from it is text already, and need not be proven to be.
const THREE_DIGITS: &str = {
    const DIGITS: [u8; 3000] = {
        let mut digits = [b'0'; 3000];
        let mut number = 0;
        while number < 1000 {
            digits[number * 3] = b'0' + (number / 100) as u8;
            digits[number * 3 + 1] = b'0' + (number / 10 % 10) as u8;
            digits[number * 3 + 2] = b'0' + (number % 10) as u8;
            number += 1;
        }
        digits
    };
    match std::str::from_utf8(&DIGITS) {
        Ok(digits) => digits,
        Err(_) => panic!("digits are text"),
    }
};

/// Appends a rate of bytes: "1.3 kB/s" in powers of 1000, as networks and disks count.
pub(crate) fn push_bytes_per_second(out: &mut String, rate: f64) {
    push_human(out, rate, 1000.0, &[" B/s", " kB/s", " MB/s", " GB/s", " TB/s"]);
}

/// Appends a size: "8.7 MiB".
pub(crate) fn push_bytes(out: &mut String, bytes: Bytes) {
    push_human(out, bytes.0 as f64, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_into_the_next_unit() {
        let binary = |bytes| ByteUnit::HumanBinary.format(Bytes(bytes));
        assert_eq!(binary(0), "0B");
        assert_eq!(binary(1023), "1023B");
        assert_eq!(binary(1024), "1.0Ki");
        assert_eq!(binary(10 * 1024 - 1), "10Ki");
        assert_eq!(binary(1024 * 1024 - 1), "1.0Mi");
        assert_eq!(ByteUnit::HumanDecimal.format(Bytes(999_999)), "1.0M");
        assert_eq!(ByteUnit::Fixed(1024).format_signed(-5000), "-4");
        assert_eq!(binary(u64::MAX), "16Ei");
    }

    #[test]
    fn thousandths_are_rounded() {
        let text = |thousandths, digits| {
            let mut text = String::new();
            push_thousandths(&mut text, thousandths, digits);
            text
        };
        assert_eq!(
            (text(530, 2), text(1_999, 2), text(12_005, 2)),
            ("0.53".into(), "2.00".into(), "12.01".into())
        );
        assert_eq!((text(51_500, 0), text(7, 3)), ("52".into(), "0.007".into()));
    }

    #[test]
    fn spans_choose_their_unit() {
        let span = |nanos| Span(Nanos(nanos)).to_string();
        assert_eq!(span(0), "0");
        assert_eq!(span(730), "730 ns");
        assert_eq!(span(1_240_000), "1.24 ms");
        assert_eq!(span(999_499), "999 µs");
        assert_eq!(span(999_500), "1.00 ms");
        assert_eq!(span(59_949_000_000), "59.9 s");
        assert_eq!(span(59_999_000_000), "1m00s");
        assert_eq!(span(9_994_999), "9.99 ms");
        assert_eq!(span(9_995_000), "10.0 ms");
        assert_eq!(span(99_950_000), "100 ms");
        assert_eq!(span(3_605_000_000_000), "1h00m");
        assert_eq!(span(u64::MAX), "213503d23h");
        assert_eq!(span(148_000_000_000), "2m28s");
        assert_eq!(span(90_000_000_000_000), "1d01h");
    }
}
