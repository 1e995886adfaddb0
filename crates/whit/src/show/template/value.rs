//! What a field holds at a tick.

use facts::unit::Ratio;

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
