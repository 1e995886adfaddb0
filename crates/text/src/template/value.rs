//! The value of a field.

use facts::unit::Ratio;

/// The value of a field, which may be absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Unavailable: shown as `–`.
    Absent,
    /// Text that is escaped in markup.
    Text(&'a str),
    /// Text of the user's own: may be markup, and is not escaped.
    Markup(&'a str),
    /// A number and its unit.
    Number(f64, Unit),
}

/// The unit of a number, which decides how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// A number without unit, with this many decimals.
    Plain(u8),
    /// 0 to 100.
    Percent,
    /// Scaled by powers of 1024 by default.
    Bytes,
    /// Scaled by powers of 1000 by default, as networks and disks count.
    BytesPerSecond,
    /// Scaled by powers of 1000.
    BitsPerSecond,
    /// Scaled by powers of 1000.
    Hertz,
    /// Degrees Celsius.
    Celsius,
    /// Watts.
    Watts,
    /// Decibels relative to one milliwatt.
    DecibelMilliwatts,
    /// Seconds, written as hours and minutes: `4:20`.
    HoursMinutes,
    /// Seconds, written with a unit chosen by size.
    Seconds,
}

impl<'a> Value<'a> {
    /// A number from 0 to 100.
    pub fn percent(percent: f64) -> Self {
        Self::Number(percent, Unit::Percent)
    }

    /// A ratio as a percentage; absent if it is `None`.
    pub fn share(share: Option<Ratio>) -> Self {
        share.map_or(Self::Absent, |share| Self::percent(share.percent()))
    }

    /// A count.
    pub fn count(count: u64) -> Self {
        Self::Number(count as f64, Unit::Count)
    }

    /// A number; absent if it is `None`.
    pub fn number_of(number: Option<f64>, unit: Unit) -> Self {
        number.map_or(Self::Absent, |number| Self::Number(number, unit))
    }

    /// A text; absent if it is empty.
    pub fn text(text: &'a str) -> Self {
        if text.is_empty() { Self::Absent } else { Self::Text(text) }
    }

    /// Returns true if there is no value.
    pub fn is_absent(self) -> bool {
        self == Self::Absent
    }

    /// Its number; `None` if it is absent or text.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(number, _) => Some(number),
            Self::Absent | Self::Text(_) | Self::Markup(_) => None,
        }
    }
}
