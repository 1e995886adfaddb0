//! A value as its options say: text, its unit behind it, or a picture.

use facts::unit::{Nanos, Ratio};

use super::filling::Filling;
use super::history::History;
use super::plot;
use super::spec::{Align, Plot, Scale, Spec};
use super::value::{Unit, Value};
use crate::ABSENT;
use crate::printable::{push_markup_escaped, push_printable_text};
use crate::units::{
    Span, push_decimals, push_human, push_human_decimals, push_number, push_padded, push_percent,
};

/// Appends a value without options.
pub(super) fn push(value: Value<'_>, is_markup: bool, out: &mut String) {
    let start = out.len();
    push_text(value, &Spec::DEFAULT, out);
    if is_markup && matches!(value, Value::Text(_)) {
        escape(out, start);
    }
}

/// Appends a value with its options.
pub(super) fn push_with(
    value: Value<'_>,
    spec: &Spec,
    filling: &Filling<'_>,
    history: &History,
    out: &mut String,
) {
    let start = out.len();
    match spec.plot {
        Plot::Text => push_text(value, spec, out),
        Plot::Bar { width } => plot::push_bar(value.number(), width, out),
        Plot::Sparkline { slot, width } => plot::push_sparkline(history.values(slot), value, width, out),
        Plot::Icon => plot::push_icon(value.number(), filling.icons, out),
    }
    if spec.at_most > 0 {
        shorten(out, start, spec.at_most);
    }
    if spec.width > 0 {
        pad(spec, out, start);
    }
    // After padding and cutting, which count characters and not their escapes.
    if filling.is_markup && matches!(value, Value::Text(_)) {
        escape(out, start);
    }
}

fn escape(out: &mut String, start: usize) {
    let plain = out.split_off(start);
    push_markup_escaped(out, &plain);
}

fn pad(spec: &Spec, out: &mut String, start: usize) {
    let missing = spec.width.saturating_sub(out[start..].chars().count());
    let before = match spec.align {
        Align::Left => 0,
        Align::Middle => missing / 2,
        Align::Right | Align::Zeros => missing,
    };
    let filler = if spec.align == Align::Zeros { '0' } else { ' ' };
    for _ in 0..before {
        out.insert(start, filler);
    }
    out.extend(std::iter::repeat_n(' ', missing - before));
}

/// Cuts text that is too long and ends it with `…`.
fn shorten(out: &mut String, start: usize, at_most: usize) {
    if out[start..].chars().count() > at_most {
        let end = out[start..].char_indices().nth(at_most - 1).map_or(out.len(), |(at, _)| start + at);
        out.truncate(end);
        out.push('…');
    }
}

const BINARY: [&str; 7] = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
const DECIMAL: [&str; 7] = [" B", " kB", " MB", " GB", " TB", " PB", " EB"];
const BINARY_RATES: [&str; 6] = [" B/s", " KiB/s", " MiB/s", " GiB/s", " TiB/s", " PiB/s"];
const DECIMAL_RATES: [&str; 6] = [" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s"];
const BITS: [&str; 6] = [" bit", " kbit", " Mbit", " Gbit", " Tbit", " Pbit"];
const BIT_RATES: [&str; 6] = [" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s", " Pbit/s"];
const HERTZ: [&str; 5] = [" Hz", " kHz", " MHz", " GHz", " THz"];

/// Appends a value as text, followed by its unit.
fn push_text(value: Value<'_>, spec: &Spec, out: &mut String) {
    match value {
        Value::Absent => out.push_str(ABSENT),
        Value::Text(text) | Value::Markup(text) => push_printable_text(out, text),
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
