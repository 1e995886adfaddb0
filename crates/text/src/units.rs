//! Sizes, durations and percentages as short text.

use std::fmt::{self, Display, Write as _};

use facts::unit::{Bytes, Nanos, Ratio};

/// The unit in which sizes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteUnit {
    /// Divided by this number and rounded down, as `free` does.
    Fixed(u64),
    /// The largest power of 1024 that leaves a number of one or more.
    HumanBinary,
    /// The largest power of 1000.
    HumanDecimal,
}

impl ByteUnit {
    /// Formats a size.
    pub fn format(self, bytes: Bytes) -> String {
        match self {
            Self::Fixed(divisor) => (bytes.0 / divisor).to_string(),
            Self::HumanBinary => human(bytes.0 as f64, 1024.0, &["B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]),
            Self::HumanDecimal => human(bytes.0 as f64, 1000.0, &["B", "k", "M", "G", "T", "P", "E"]),
        }
    }

    /// Formats a difference of sizes, which may be negative.
    pub fn format_signed(self, bytes: i64) -> String {
        let magnitude = self.format(Bytes(bytes.unsigned_abs()));
        if bytes < 0 && magnitude != "0" { format!("-{magnitude}") } else { magnitude }
    }
}

/// Appends a number of at most three digits, scaled by powers of `base`, and its unit.
pub fn push_human(out: &mut String, value: f64, base: f64, units: &[&str]) {
    let (scaled, unit) = scaled(value, base, units, 1.0);
    let tenths = rounded(scaled * 10.0);
    if unit > 0 && tenths < 100 {
        push_number(out, tenths / 10);
        out.push('.');
        push_number(out, tenths % 10);
    } else {
        push_number(out, rounded(scaled));
    }
    out.push_str(units[unit]);
}

/// Appends a scaled number with a fixed number of decimals, and its unit.
pub fn push_human_decimals(out: &mut String, value: f64, base: f64, units: &[&str], digits: usize) {
    let (scaled, unit) = scaled(value, base, units, 10f64.powi(digits as i32));
    push_decimals(out, scaled, if unit == 0 { 0 } else { digits });
    out.push_str(units[unit]);
}

/// Scales a value to the largest unit that leaves at least one. Returns the index of the unit as well.
fn scaled(value: f64, base: f64, units: &[&str], steps: f64) -> (f64, usize) {
    let (mut scaled, mut unit) = (value, 0);
    // 1023.9 KiB would be rounded up to 1024 KiB: it is 1.0 MiB.
    while scaled * steps + 0.5 >= base * steps && unit + 1 < units.len() {
        scaled /= base;
        unit += 1;
    }
    (scaled, unit)
}

/// A number that is not negative, rounded; half goes up. Exact below 2^52. `f64::round` is a call on processors before SSE 4.1.
fn rounded(value: f64) -> u64 {
    (value + 0.5) as u64
}

/// Appends a number with `digits` decimals (at most 9).
pub fn push_decimals(out: &mut String, number: f64, digits: usize) {
    let power = 10u64.pow(digits as u32);
    let rounded = rounded(number.abs() * power as f64);
    if number < 0.0 && rounded > 0 {
        out.push('-');
    }
    push_number(out, rounded / power);
    if digits > 0 {
        out.push('.');
        let fraction = rounded % power;
        for place in (0..digits as u32).rev() {
            push_number(out, fraction / 10u64.pow(place) % 10);
        }
    }
}

fn human(value: f64, base: f64, units: &[&str]) -> String {
    let mut text = String::new();
    push_human(&mut text, value, base, units);
    text
}

/// A size: "8.7 MiB".
pub struct Size(pub Bytes);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        push_bytes(&mut text, self.0);
        f.pad(&text)
    }
}

/// A number with its digits in groups: "1,234,567".
pub struct Grouped(pub u64);

impl Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

/// A duration with its unit chosen by size: "730 ns", "1.24 ms", "12.5 s", "2m28s", "3h05m", "12d04h", "20y106d".
pub struct Span(pub Nanos);

impl Span {
    /// Appends it. Uses integer arithmetic, since a table of all tasks contains thousands of these.
    pub fn push(&self, out: &mut String) {
        const MICRO: u64 = 1_000;
        const MILLI: u64 = 1_000_000;
        const SECOND: u64 = 1_000_000_000;
        const YEAR: u64 = 365 * 86_400;
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
                    86_400..YEAR => (seconds / 86_400, seconds / 3_600 % 24, ["d", "h"]),
                    _ => (seconds / YEAR, seconds / 86_400 % 365, ["y", "d"]),
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

/// Appends a ratio as a whole percentage: "12 %".
pub fn push_percent(out: &mut String, share: Ratio) {
    push_number(out, rounded(share.percent()));
    out.push_str(" %");
}

/// Appends a number in decimal.
pub fn push_number(out: &mut String, number: u64) {
    push_padded(out, number, 1);
}

/// Appends a number in decimal, padded with zeros to `width` (at most 3).
pub fn push_padded(out: &mut String, number: u64, width: usize) {
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

/// "000001002…999": slices of a `str` need no UTF-8 check.
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

/// Appends a size: "8.7 MiB".
pub fn push_bytes(out: &mut String, bytes: Bytes) {
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
    fn decimals_are_rounded() {
        let text = |number, digits| {
            let mut text = String::new();
            push_decimals(&mut text, number, digits);
            text
        };
        assert_eq!(
            (text(0.53, 2), text(1.999, 2), text(-12.005, 1)),
            ("0.53".into(), "2.00".into(), "-12.0".into())
        );
        assert_eq!(
            (text(51.5, 0), text(0.007, 3), text(-0.01, 1)),
            ("52".into(), "0.007".into(), "0.0".into())
        );
        assert_eq!(text(1.000_000_001, 9), "1.000000001");
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
        assert_eq!(span(u64::MAX), "584y343d");
        assert_eq!(span(7_411 * 86_400 * 1_000_000_000), "20y111d");
        assert_eq!(span(148_000_000_000), "2m28s");
        assert_eq!(span(90_000_000_000_000), "1d01h");
    }
}
