//! The axis of values: round numbers in a unit that suits the largest.

use crate::units::push_decimals;

/// The kind of values, which decides how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Numbers without a unit.
    Number,
    /// Numbers of something a second.
    Rate,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Seconds.
    Seconds,
    /// A share of a whole, which is 1.
    Ratio,
    /// Degrees Celsius.
    Celsius,
}

/// A unit and its name.
pub type Unit = (f64, &'static str);

const NUMBERS: [Unit; 5] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];
const RATES: [Unit; 5] = [(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s"), (1e9, "G/s"), (1e12, "T/s")];
const BYTES: [Unit; 6] = [
    (1.0, " B"),
    (1024.0, " KiB"),
    (1_048_576.0, " MiB"),
    (1_073_741_824.0, " GiB"),
    (1_099_511_627_776.0, " TiB"),
    (1_125_899_906_842_624.0, " PiB"),
];
const BYTES_PER_SECOND: [Unit; 5] =
    [(1.0, " B/s"), (1e3, " kB/s"), (1e6, " MB/s"), (1e9, " GB/s"), (1e12, " TB/s")];
const SECONDS: [Unit; 7] = [
    (1e-9, " ns"),
    (1e-6, " µs"),
    (1e-3, " ms"),
    (1.0, " s"),
    (60.0, " min"),
    (3600.0, " h"),
    (86_400.0, " d"),
];
const RATIOS: [Unit; 1] = [(0.01, " %")];
const CELSIUS: [Unit; 1] = [(1.0, " °C")];

impl Measure {
    /// All, each with its name.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Number, "number"),
        (Self::Rate, "rate"),
        (Self::Bytes, "bytes"),
        (Self::BytesPerSecond, "bytes_per_second"),
        (Self::Seconds, "seconds"),
        (Self::Ratio, "ratio"),
        (Self::Celsius, "celsius"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Its units with their names, the smallest first.
    pub fn units(self) -> &'static [Unit] {
        match self {
            Self::Number => &NUMBERS,
            Self::Rate => &RATES,
            Self::Bytes => &BYTES,
            Self::BytesPerSecond => &BYTES_PER_SECOND,
            Self::Seconds => &SECONDS,
            Self::Ratio => &RATIOS,
            Self::Celsius => &CELSIUS,
        }
    }

    /// The largest unit of which there is one at least.
    fn unit(self, largest: f64) -> Unit {
        let units = self.units();
        *units.iter().rev().find(|(size, _)| largest >= *size).unwrap_or(&units[0])
    }

    /// A value in three digits.
    pub fn write(self, value: f64) -> String {
        if !value.is_finite() {
            return value.to_string();
        }
        let (size, name) = self.unit(value.abs());
        let scaled = value / size;
        let digits = match scaled.abs() {
            0.0 => 0,
            magnitude => (2 - magnitude.log10().floor() as i32).clamp(0, 6) as usize,
        };
        let mut text = String::new();
        push_trimmed(&mut text, scaled, digits);
        text.push_str(name);
        text
    }
}

/// Without zeros at the end of decimals.
fn push_trimmed(out: &mut String, value: f64, digits: usize) {
    // Beyond that there are no decimals, and no integer that could hold them.
    if value.abs() >= 1e9 {
        return out.push_str(&format!("{value:.3e}"));
    }
    let start = out.len();
    push_decimals(out, value, digits);
    if out[start..].contains('.') {
        let kept = out.trim_end_matches('0').trim_end_matches('.').len();
        out.truncate(kept);
    }
}

/// From the least to the most that is drawn, with ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The value at its lower end.
    pub least: f64,
    /// The value at its upper end.
    pub most: f64,
    /// Values that are marked, from the least, each as it is written.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// For values from `least` to `most`, with at most so many ticks.
    pub fn new(least: f64, most: f64, measure: Measure, most_ticks: usize) -> Self {
        // What is not far from 0, or varies much, is drawn from 0 on.
        let (least, most) = match () {
            () if least >= 0.0 && least <= most * 0.75 => (0.0, most),
            () if most <= 0.0 && most >= least * 0.75 => (least, 0.0),
            () => (least, most),
        };
        let largest = least.abs().max(most.abs());
        // All the same: it is drawn in the middle.
        let margin = if largest > 0.0 { largest * 0.1 } else { 1.0 };
        let (least, most) =
            if most - least > largest * 1e-9 { (least, most) } else { (least - margin, most + margin) };
        let (size, name) = measure.unit(largest);
        let step = step((most - least) / size, most_ticks.max(2) - 1);
        let (first, last) = ((least / size / step).floor(), (most / size / step).ceil());
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let count = (last - first) as usize;
        let ticks = (0..=count).map(|place| {
            let value = (first + place as f64) * step;
            let mut text = String::new();
            if value.abs() >= 1e9 {
                text.push_str(&format!("{value:.3e}"))
            } else {
                push_decimals(&mut text, value, digits)
            }
            text.push_str(name);
            (value * size, text)
        });
        Self { least: first * step * size, most: last * step * size, ticks: ticks.collect() }
    }

    /// A value as a part of the axis: 0 is its lower end, 1 its upper.
    pub fn part(&self, value: f64) -> f64 {
        (value - self.least) / (self.most - self.least)
    }
}

/// 1, 2 or 5 times a power of ten, so that a length has at most so many.
fn step(length: f64, most: usize) -> f64 {
    // The ends are rounded outwards, which takes another one.
    let least = length / (most.max(2) - 1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= least * 0.999_999);
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(least: f64, most: f64, measure: Measure) -> String {
        let axis = Axis::new(least, most, measure, 5);
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn ticks_are_round_in_a_suitable_unit() {
        for (least, most, measure, expected) in [
            (0.1, 1.84, Measure::Number, "0 | 1 | 2"),
            (0.0, 95.0, Measure::Number, "0 | 50 | 100"),
            (3e6, 3.1e6, Measure::Number, "3.00M | 3.05M | 3.10M"),
            (0.0, 3.0 * 1_073_741_824.0, Measure::Bytes, "0 GiB | 1 GiB | 2 GiB | 3 GiB"),
            (0.0, 0.37, Measure::Ratio, "0 % | 20 % | 40 %"),
            (0.0, 0.002, Measure::Seconds, "0 ms | 1 ms | 2 ms"),
            (0.0, 7200.0, Measure::Seconds, "0 h | 1 h | 2 h"),
            (-3.0, 4.0, Measure::Number, "-5 | 0 | 5"),
            (5.0, 5.0, Measure::Number, "4.5 | 5.0 | 5.5"),
            (0.0, 0.0, Measure::Rate, "-1/s | 0/s | 1/s"),
        ] {
            assert_eq!(labels(least, most, measure), expected, "{least} {most}");
        }
    }

    #[test]
    fn values_are_short() {
        for (value, measure, expected) in [
            (0.0, Measure::Bytes, "0 B"),
            (1536.0, Measure::Bytes, "1.5 KiB"),
            (0.123_456, Measure::Ratio, "12.3 %"),
            (1_234_567.0, Measure::Number, "1.23M"),
            (-90.0, Measure::Seconds, "-1.5 min"),
            (0.000_02, Measure::Number, "0.00002"),
            (f64::NAN, Measure::Number, "NaN"),
        ] {
            assert_eq!(measure.write(value), expected);
        }
    }

    proptest! {
        #[test]
        fn values_lie_within(a in -1e15..1e15_f64, b in -1e15..1e15_f64, ticks in 2..12_usize) {
            let (least, most) = (a.min(b), a.max(b));
            for measure in [Measure::Number, Measure::Bytes, Measure::Seconds, Measure::Ratio] {
                let axis = Axis::new(least, most, measure, ticks);
                prop_assert!(axis.ticks.len() <= ticks.max(3) + 1, "{} {}", axis.ticks.len(), ticks);
                prop_assert!(axis.part(least) > -1e-6 && axis.part(most) < 1.0 + 1e-6);
            }
        }
    }
}
