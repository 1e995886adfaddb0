//! Quantities as people write them: `200ms`, `1m30s`, `64K`, `10GiB`, `1M`. The one grammar of the command line and of
//! configurations; docs/grammar.md describes it.

use facts::unit::{Bytes, Nanos};

const SECOND_NS: u64 = 1_000_000_000;
const DAY_NS: u64 = 86_400 * SECOND_NS;

/// Units of time, the longest first: a duration names them in this order.
const TIMES: [(&str, u64); 10] = [
    ("y", 365 * DAY_NS),
    ("w", 7 * DAY_NS),
    ("d", DAY_NS),
    ("h", 3_600 * SECOND_NS),
    ("m", 60 * SECOND_NS),
    ("s", SECOND_NS),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Prefixes and their powers.
const PREFIXES: [(char, u32); 7] = [('k', 1), ('K', 1), ('M', 2), ('G', 3), ('T', 4), ('P', 5), ('E', 6)];

const DURATION_EXPECTED: &str = "a duration: 5, 5s, 200ms, 1m30s, 1d12h (units y w d h m s ms us ns)";
const AGE_EXPECTED: &str = "an age with its unit: 30s, 10m, 6h, 7d, 2w, 1y";
const SIZE_EXPECTED: &str = "a size: 512, 64K, 10G, 10GiB (of 1024), 1MB (of 1000)";
const COUNT_EXPECTED: &str = "a number, perhaps with k, M or G: 1M is 1000000";
const TOO_LARGE: &str = "too large";

/// A decimal number without sign or exponent, exactly.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    /// All digits, without the point.
    digits: u64,
    /// How many of them are behind the point.
    decimals: u32,
}

impl Decimal {
    /// Splits a text into the number that it begins with, and the rest.
    fn split(text: &str) -> Option<(Self, &str)> {
        let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        // Zeros at the end say nothing, and no user writes more than eighteen decimals.
        let fraction = fraction.trim_end_matches('0');
        let decimals = u32::try_from(fraction.len()).ok().filter(|decimals| *decimals <= 18)?;
        // What is larger than any number is too large in every unit.
        let digits = format!("{whole}{fraction}").parse().unwrap_or(u64::MAX);
        Some((Self { digits, decimals }, rest))
    }

    /// So many times a unit, rounded down; `None` if that is too large.
    fn times(self, unit: u64) -> Option<u64> {
        if self.digits == u64::MAX {
            return None;
        }
        u64::try_from(u128::from(self.digits) * u128::from(unit) / 10u128.pow(self.decimals)).ok()
    }

    /// Returns true if so many of a unit are a whole number.
    fn is_whole(self, unit: u64) -> bool {
        u128::from(self.digits) * u128::from(unit) % 10u128.pow(self.decimals) == 0
    }

    fn is_zero(self) -> bool {
        self.digits == 0
    }
}

/// A duration; a number alone is seconds.
///
/// # Errors
/// Says what is expected.
pub fn duration(text: &str) -> Result<Nanos, String> {
    match Decimal::split(text) {
        Some((number, "")) => number.times(SECOND_NS).map(Nanos).ok_or_else(|| TOO_LARGE.to_owned()),
        _ => with_units(text),
    }
}

/// A duration with its unit. A number alone is refused (other tools take an age for days, and files depend on it), but for 0.
///
/// # Errors
/// Says what is expected.
pub fn age(text: &str) -> Result<Nanos, String> {
    match Decimal::split(text) {
        Some((number, "")) if number.is_zero() => Ok(Nanos(0)),
        Some((_, "")) => {
            Err(format!("what unit? {text}d is days, {text}h hours, {text}m minutes, {text}s seconds"))
        }
        // A bare number, which the message about durations offers, is no age.
        _ => with_units(text)
            .map_err(|error| if error == DURATION_EXPECTED { AGE_EXPECTED.to_owned() } else { error }),
    }
}

/// Numbers with units, each unit shorter than the one before it.
fn with_units(text: &str) -> Result<Nanos, String> {
    let expected = || DURATION_EXPECTED.to_owned();
    let (mut rest, mut units, mut sum) = (text, &TIMES[..], 0u64);
    if rest.is_empty() {
        return Err(expected());
    }
    while !rest.is_empty() {
        let (number, after) = Decimal::split(rest).ok_or_else(expected)?;
        let end = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let place = units.iter().position(|(name, _)| *name == unit).ok_or_else(expected)?;
        // A fraction ends it: what follows would be a part of the same fraction.
        if number.decimals > 0 && !after.is_empty() {
            return Err(expected());
        }
        let part = number.times(units[place].1).ok_or(TOO_LARGE)?;
        sum = sum.checked_add(part).ok_or(TOO_LARGE)?;
        (rest, units) = (after, &units[place + 1..]);
    }
    Ok(Nanos(sum))
}

/// Bytes. `K` and `KiB` are 1024, `KB` is 1000, and so on to `E`.
///
/// # Errors
/// Says what is expected.
pub fn size(text: &str) -> Result<Bytes, String> {
    let expected = || SIZE_EXPECTED.to_owned();
    let (number, unit) = Decimal::split(text).ok_or_else(expected)?;
    let factor = size_factor(unit).ok_or_else(expected)?;
    number.times(factor).map(Bytes).ok_or_else(|| TOO_LARGE.to_owned())
}

fn size_factor(unit: &str) -> Option<u64> {
    let mut letters = unit.chars();
    let Some((_, power)) =
        letters.next().and_then(|first| PREFIXES.iter().find(|(prefix, _)| *prefix == first))
    else {
        return matches!(unit, "" | "B").then_some(1);
    };
    match letters.as_str() {
        "" | "i" | "iB" => Some(1024u64.pow(*power)),
        "B" => Some(1000u64.pow(*power)),
        _ => None,
    }
}

/// How many; prefixes are powers of 1000.
///
/// # Errors
/// Says what is expected.
pub fn count(text: &str) -> Result<u64, String> {
    let expected = || COUNT_EXPECTED.to_owned();
    let (number, factor) = scaled(text).ok_or_else(expected)?;
    if !number.is_whole(factor) {
        return Err("a whole number".to_owned());
    }
    number.times(factor).ok_or_else(|| TOO_LARGE.to_owned())
}

/// A number with or without a fraction; prefixes are powers of 1000.
///
/// # Errors
/// Says what is expected.
pub fn number(text: &str) -> Result<f64, String> {
    let (number, factor) = scaled(text).ok_or(COUNT_EXPECTED)?;
    if number.digits == u64::MAX {
        return Err(TOO_LARGE.to_owned());
    }
    Ok(number.digits as f64 / 10f64.powi(number.decimals as i32) * factor as f64)
}

fn scaled(text: &str) -> Option<(Decimal, u64)> {
    let (number, prefix) = Decimal::split(text)?;
    let mut letters = prefix.chars();
    let factor = match letters.next() {
        None => 1,
        Some(first) => 1000u64.pow(PREFIXES.iter().find(|(prefix, _)| *prefix == first)?.1),
    };
    letters.next().is_none().then_some((number, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use proptest::prelude::*;

    #[test]
    fn durations_are_sums_of_units() {
        let nanos = |text| duration(text).map(|nanos| nanos.0);
        assert_eq!(nanos("5"), Ok(5 * SECOND_NS));
        assert_eq!(nanos("1.5"), nanos("1500ms"));
        assert_eq!(nanos("1m30s"), Ok(90 * SECOND_NS));
        assert_eq!(nanos("1d12h"), nanos("36h"));
        assert_eq!(nanos("0"), Ok(0));
        assert_eq!(nanos(".5s"), Ok(SECOND_NS / 2));
        assert_eq!(nanos("0.000000001"), Ok(1));
        assert_eq!((nanos("250us"), nanos("250µs")), (Ok(250_000), Ok(250_000)));
        for wrong in [
            "", "s", "x", "5q", "-1", "1s1m", "1m1m", "1.5m10s", "1m30", "1e3", "nan", "inf", ".", "1..5s",
            "1 m", "600y",
        ] {
            assert!(nanos(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_age_names_its_unit() {
        assert_eq!(age("7d"), Ok(Nanos(7 * DAY_NS)));
        assert_eq!((age("0"), age("1.5s")), (Ok(Nanos(0)), Ok(Nanos(1_500_000_000))));
        assert!(age("7").is_err_and(|error| error.contains("7d is days")));
        assert!(age("").is_err() && age("7x").is_err());
    }

    #[test]
    fn sizes_are_of_1024_unless_they_say_otherwise() {
        let bytes = |text| size(text).map(|bytes| bytes.0);
        assert_eq!((bytes("64K"), bytes("64k"), bytes("64KiB")), (Ok(65_536), Ok(65_536), Ok(65_536)));
        assert_eq!((bytes("10G"), bytes("10Gi")), (Ok(10 << 30), Ok(10 << 30)));
        assert_eq!(
            (bytes("1MB"), bytes("1kB"), bytes("7B"), bytes("7")),
            (Ok(1_000_000), Ok(1_000), Ok(7), Ok(7))
        );
        assert_eq!(bytes("1.5K"), Ok(1_536));
        for wrong in ["", "K", "1Q", "1KBB", "-1", "1iB", "1 K", "99999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_are_of_1000() {
        assert_eq!(
            (count("1M"), count("2k"), count("1.5k"), count("7")),
            (Ok(1_000_000), Ok(2_000), Ok(1_500), Ok(7))
        );
        assert_eq!((number("0.5"), number("10k")), (Ok(0.5), Ok(10_000.0)));
        for wrong in ["", "k", "1.5", "1Ki", "-1", "1e3", "99999999999G"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            (count("18446744073709551616"), age("1D")),
            (Err(TOO_LARGE.into()), Err(AGE_EXPECTED.into()))
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(minutes in 1u64..60, seconds in 0u64..60) {
            let nanos = Nanos((minutes * 60 + seconds) * SECOND_NS);
            prop_assert_eq!(duration(&Span(nanos).to_string()), Ok(nanos));
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,12}") {
            let _ = (duration(&text), age(&text), size(&text), count(&text), number(&text));
        }
    }
}
