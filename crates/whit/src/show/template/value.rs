//! What a field holds at a tick.

use crate::show::units::{
    Span, push_decimals, push_human, push_human_decimals, push_number, push_padded, push_percent,
};
use facts::unit::{Nanos, Ratio};

use super::spec::{Scale, Spec};
use crate::show::ABSENT;
use crate::show::text::push_printable;

/// A value, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// Not known: shown as `–`.
    Absent,
    Text(&'a str),
    /// Of the user's own format, and so markup where that is.
    Markup(&'a str),
    Number(f64, Unit),
}

/// What a number is measured in, which decides how it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A number of things.
    Count,
    /// A figure with so many digits behind the point.
    Plain(u8),
    /// 0 to 100.
    Percent,
    /// In powers of 1024 where nothing else is asked for.
    Bytes,
    /// In powers of 1000, as networks and disks count.
    BytesPerSecond,
    BitsPerSecond,
    Hertz,
    Celsius,
    Watts,
    DecibelMilliwatts,
    /// Seconds, as `4:20` hours.
    HoursMinutes,
    /// Seconds, with a unit chosen by size.
    Seconds,
}

const BINARY: [&str; 7] = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
const DECIMAL: [&str; 7] = [" B", " kB", " MB", " GB", " TB", " PB", " EB"];
const BINARY_RATES: [&str; 6] = [" B/s", " KiB/s", " MiB/s", " GiB/s", " TiB/s", " PiB/s"];
const DECIMAL_RATES: [&str; 6] = [" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s"];
const BITS: [&str; 6] = [" bit", " kbit", " Mbit", " Gbit", " Tbit", " Pbit"];
const BIT_RATES: [&str; 6] = [" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s", " Pbit/s"];
const HERTZ: [&str; 5] = [" Hz", " kHz", " MHz", " GHz", " THz"];

impl<'a> Value<'a> {
    pub(crate) fn percent(percent: f64) -> Self {
        Self::Number(percent, Unit::Percent)
    }

    /// A share as a percentage.
    pub(crate) fn share(share: Option<Ratio>) -> Self {
        share.map_or(Self::Absent, |share| Self::percent(share.percent()))
    }

    pub(crate) fn count(count: u64) -> Self {
        Self::Number(count as f64, Unit::Count)
    }

    /// A number that may be absent.
    pub(crate) fn number_of(number: Option<f64>, unit: Unit) -> Self {
        number.map_or(Self::Absent, |number| Self::Number(number, unit))
    }

    /// A text that is absent where it is empty.
    pub(crate) fn text(text: &'a str) -> Self {
        if text.is_empty() { Self::Absent } else { Self::Text(text) }
    }

    pub(crate) fn is_absent(self) -> bool {
        self == Self::Absent
    }

    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Number(number, _) => Some(number),
            Self::Absent | Self::Text(_) | Self::Markup(_) => None,
        }
    }
}

/// Appends a value as text, its unit behind it.
pub(super) fn push(value: Value<'_>, spec: &Spec, out: &mut String) {
    match value {
        Value::Absent => out.push_str(ABSENT),
        Value::Text(text) | Value::Markup(text) => push_printable(out, text.as_bytes()),
        Value::Number(number, _) if !number.is_finite() => out.push_str(ABSENT),
        Value::Number(number, unit) => push_with_unit(number, unit, spec, out),
    }
}

fn push_with_unit(number: f64, unit: Unit, spec: &Spec, out: &mut String) {
    let start = out.len();
    push_number_of(number, unit, spec, out);
    if spec.is_bare {
        let digits = |character: char| character.is_ascii_digit() || matches!(character, '.' | '-' | ':');
        let end =
            out[start..].find(|character| !digits(character)).map_or(out.len(), |length| start + length);
        out.truncate(end);
    }
}

fn push_number_of(number: f64, unit: Unit, spec: &Spec, out: &mut String) {
    let fixed = |digits: u8| usize::from(spec.precision.unwrap_or(digits));
    match unit {
        Unit::Count => push_decimals(out, number, fixed(0)),
        Unit::Plain(digits) => push_decimals(out, number, fixed(digits)),
        Unit::Percent => match spec.precision {
            None if number >= 0.0 => push_percent(out, Ratio(number / 100.0)),
            _ => push_suffixed(out, number, fixed(0), " %"),
        },
        Unit::Celsius => push_suffixed(out, number, fixed(0), " °C"),
        Unit::Watts => push_suffixed(out, number, fixed(1), " W"),
        Unit::DecibelMilliwatts => push_suffixed(out, number, fixed(0), " dBm"),
        Unit::HoursMinutes => {
            let minutes = (number.max(0.0) / 60.0) as u64;
            push_number(out, minutes / 60);
            out.push(':');
            push_padded(out, minutes % 60, 2);
        }
        Unit::Seconds => Span(Nanos((number.max(0.0) * 1e9) as u64)).push(out),
        Unit::Bytes => push_scaled(out, number, spec, Scale::Binary, [&BINARY, &DECIMAL, &BITS], ""),
        Unit::BytesPerSecond => {
            push_scaled(out, number, spec, Scale::Decimal, [&BINARY_RATES, &DECIMAL_RATES, &BIT_RATES], "/s");
        }
        Unit::BitsPerSecond => push_prefixed(out, number, 1000.0, &BIT_RATES, spec),
        Unit::Hertz => push_prefixed(out, number, 1000.0, &HERTZ, spec),
    }
}

fn push_suffixed(out: &mut String, number: f64, digits: usize, suffix: &str) {
    push_decimals(out, number, digits);
    out.push_str(suffix);
}

fn push_scaled(out: &mut String, bytes: f64, spec: &Spec, usual: Scale, units: [&[&str]; 3], per: &str) {
    let [binary, decimal, bits] = units;
    match if spec.scale == Scale::Usual { usual } else { spec.scale } {
        Scale::Usual | Scale::Binary => push_prefixed(out, bytes, 1024.0, binary, spec),
        Scale::Decimal => push_prefixed(out, bytes, 1000.0, decimal, spec),
        Scale::Bits => push_prefixed(out, bytes * 8.0, 1000.0, bits, spec),
        Scale::Fixed { divisor, name } => {
            push_decimals(out, bytes / divisor as f64, usize::from(spec.precision.unwrap_or(1)));
            out.push(' ');
            out.push_str(name);
            out.push_str(per);
        }
    }
}

fn push_prefixed(out: &mut String, number: f64, base: f64, units: &[&str], spec: &Spec) {
    match spec.precision {
        None => push_human(out, number, base, units),
        Some(digits) => push_human_decimals(out, number, base, units, usize::from(digits)),
    }
}
