//! Units, typed at the edge, so that ticks are never added to nanoseconds.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl $name {
            /// The larger minus the smaller, or zero: for two values of *one* instant, never for a counter at two.
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        /// Saturating, since a sum of what the kernel printed must not panic on absurd input.
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self(0), Add::add)
            }
        }
    };
}

unit! {
    /// A number of bytes.
    Bytes
}
unit! {
    /// A span of time in nanoseconds.
    Nanos
}
unit! {
    /// A span of time in clock ticks of `sysconf(_SC_CLK_TCK)`, 100 to the second on every port in use.
    Ticks
}

impl From<std::time::Duration> for Nanos {
    /// Converts a duration; one that is longer than 584 years becomes that long.
    fn from(duration: std::time::Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Bytes {
    /// From the kibibytes that /proc calls "kB".
    pub fn from_kib(kib: u64) -> Self {
        Self(kib.saturating_mul(1024))
    }
}

impl Nanos {
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// The earlier of two times; the only one if there is one.
    pub fn earlier(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// From microseconds.
    pub fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1000))
    }

    /// As seconds, for people and for quotients.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Ticks {
    /// As a span of time, given the machine's ticks per second.
    pub fn to_nanos(self, ticks_per_second: u64) -> Nanos {
        Nanos(self.0.saturating_mul(1_000_000_000 / ticks_per_second.max(1)))
    }
}

/// A part of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

impl Ratio {
    /// `part` of `whole`; `None` if the whole is nothing.
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        (whole > 0).then(|| Self(part as f64 / whole as f64))
    }

    /// As a percentage, 0 to 100.
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}
