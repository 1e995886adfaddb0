//! Delays: how often and how long a task waited, by cause.

use std::ops::{Index, IndexMut};

use super::cause::Cause;
use super::figure::ABSENT;
use crate::unit::Nanos;

/// The figures of one cause. Each may be absent.
///
/// Uses 24 bytes instead of the 48 of three `Option`s: eight of these are most of a task's account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    count: u64,
    total: u64,
    max: u64,
}

fn present(value: u64) -> Option<u64> {
    (value != ABSENT).then_some(value)
}

impl Delay {
    /// Creates it from figures that may be absent.
    pub fn new(count: Option<u64>, total: Option<Nanos>, max: Option<Nanos>) -> Self {
        let nanos = |value: Option<Nanos>| value.map_or(ABSENT, |value| value.0);
        Self { count: count.unwrap_or(ABSENT), total: nanos(total), max: nanos(max) }
    }

    /// The number of waits.
    pub fn count(&self) -> Option<u64> {
        present(self.count)
    }

    /// The total time.
    pub fn total(&self) -> Option<Nanos> {
        present(self.total).map(Nanos)
    }

    /// The longest wait. Since Linux 6.14.
    pub fn max(&self) -> Option<Nanos> {
        present(self.max).map(Nanos)
    }

    /// Adds counts and totals, and takes the larger maximum. A figure that either lacks is absent.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::new(
            self.count().zip(other.count()).map(|(a, b)| a.saturating_add(b)),
            self.total().zip(other.total()).map(|(a, b)| a + b),
            self.max().zip(other.max()).map(|(a, b)| a.max(b)),
        )
    }

    /// The average time; `None` if there were no waits.
    pub fn average(&self) -> Option<Nanos> {
        let (count, total) = (self.count()?, self.total()?);
        (count > 0).then(|| Nanos(total.0 / count))
    }
}

impl Default for Delay {
    fn default() -> Self {
        Self::new(None, None, None)
    }
}

impl std::fmt::Debug for Delay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}×, {:?}, max {:?}", self.count(), self.total(), self.max())
    }
}

/// The figures of all causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays([Delay; Cause::ALL.len()]);

impl Index<Cause> for Delays {
    type Output = Delay;
    fn index(&self, cause: Cause) -> &Delay {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Delays {
    fn index_mut(&mut self, cause: Cause) -> &mut Delay {
        &mut self.0[cause as usize]
    }
}
