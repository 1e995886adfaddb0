//! Values of a series.

use facts::sample::Clock;

/// A value and when it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The time of its tick.
    pub clock: Clock,
    /// Raw: counters are not rates. Of a window the last one.
    pub value: f64,
    /// The range of a gauge in a window.
    pub range: Option<GaugeRange>,
}

/// A reading of a series at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A value.
    Sample(Sample),
    /// From this tick on it is not there any more.
    End(Clock),
}

impl Reading {
    /// The time of its tick.
    pub fn clock(&self) -> Clock {
        match self {
            Self::Sample(sample) => sample.clock,
            Self::End(clock) => *clock,
        }
    }
}

/// The values of a gauge in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugeRange {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The sum of all values.
    pub sum: f64,
    /// How many values there were.
    pub count: f64,
}
