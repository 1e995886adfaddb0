//! Numbers with a unit, as options take them: durations, ages, sizes, counts, rates.

use std::ops::RangeInclusive;
use std::time::Duration;

use facts::unit::{Bytes, Nanos};

const SECONDS_A_YEAR: f64 = 31_536_000.0;
/// Units of time, in seconds.
const TIMES: [(&str, f64); 8] = [
    ("", 1.0),
    ("s", 1.0),
    ("ms", 0.001),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
    ("y", SECONDS_A_YEAR),
];
/// Prefixes, each a power of 1000 or 1024.
const POWERS: [(&str, u32); 6] = [("", 0), ("k", 1), ("K", 1), ("M", 2), ("G", 3), ("T", 4)];

/// What stands before the letters at the end, and what these say.
fn split<'a, T: Copy>(text: &'a str, units: &[(&str, T)]) -> Option<(&'a str, T)> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let known = units.iter().find(|(name, _)| *name == unit)?;
    Some((digits, known.1))
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = split(text, &TIMES).and_then(|(digits, unit)| Some(digits.parse::<f64>().ok()? * unit));
    number.ok_or_else(|| "a number of seconds, or one with ms, s, m, h, d, w or y".to_owned())
}

/// How long something takes, from a millisecond to a year; seconds where no unit is named.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = seconds(text)?;
    if !(0.001..=SECONDS_A_YEAR).contains(&seconds) {
        return Err("from 1 ms to a year".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The same, or 0: not at all.
pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Duration::ZERO),
        _ => duration(text),
    }
}

/// How old something is. A number alone is refused: other tools take it for days, and what would go is what matters here.
pub(crate) fn age(text: &str) -> Result<Nanos, String> {
    if text.parse::<f64>().is_ok_and(|number| number.is_finite() && number != 0.0) {
        return Err(format!("what unit? {text}d is days, {text}h hours, {text}m minutes, {text}s seconds"));
    }
    let nanos = seconds(text)? * 1e9;
    if !(0.0..=9e18).contains(&nanos) {
        return Err("from 0 to 285 years".to_owned());
    }
    Ok(Nanos(nanos as u64))
}

fn scaled(text: &str, base: u64) -> Result<u64, String> {
    let number = split(text, &POWERS).and_then(|(digits, power)| Some((digits.parse::<u64>().ok()?, power)));
    let (number, power) = number.ok_or("a number, perhaps with K, M, G or T")?;
    base.pow(power).checked_mul(number).ok_or_else(|| "too much".to_owned())
}

/// Bytes, in powers of 1024.
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    scaled(text, 1024).map(Bytes)
}

/// How many, in powers of 1000.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    scaled(text, 1000)
}

/// How many in a second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    const POSSIBLE: RangeInclusive<f64> = 0.001..=1e9;
    let rate: f64 = text.parse().map_err(|_| "a number".to_owned())?;
    if POSSIBLE.contains(&rate) { Ok(rate) } else { Err("from 0.001 to 1e9 a second".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_bounds() {
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(patience("0"), Ok(Duration::ZERO));
        for wrong in ["x", "5q", "-1", "", "0", "2y"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert_eq!(age("7d"), Ok(Nanos(604_800_000_000_000)));
        assert_eq!((age("1.5s"), age("0")), (Ok(Nanos(1_500_000_000)), Ok(Nanos(0))));
        assert!(age("7").is_err_and(|error| error.contains("7d is days")));
        for wrong in ["7", "1.5", "7x", "-1", "999y", "", "NaN", "inf"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_of_1024_and_counts_of_1000() {
        assert_eq!((size("10G"), count("1M")), (Ok(Bytes(10 << 30)), Ok(1_000_000)));
        assert_eq!((size("2k"), count("2k")), (Ok(Bytes(2048)), Ok(2000)));
        for wrong in ["x", "99999999T", "1.5", "-1", "1P", "K"] {
            assert!(size(wrong).is_err() && count(wrong).is_err(), "{wrong}");
        }
        assert!(rate("0.5").is_ok() && rate("0").is_err() && rate("NaN").is_err());
    }
}
