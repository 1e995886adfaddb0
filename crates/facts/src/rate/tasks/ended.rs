//! Tasks that ended, and what no record told of them.

use crate::task::figure::Figure;
use crate::task::table::TaskRow;
use crate::unit::Nanos;

/// A task that ended, with its last account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// The account at its end. Its start is reckoned from when the record was read, and so may be later than it was by
    /// as long as the record waited.
    pub row: TaskRow,
    /// How long it lived.
    pub wall: Nanos,
}

impl Ended {
    /// Nanoseconds on a CPU in its whole life, as its record tells it.
    pub fn cpu_ns(&self) -> Option<u64> {
        recorded_cpu_ns(|figure| self.row.figures.get(figure))
    }

    /// Whether this task may be one that began then. Its start is reckoned from an age that leaves out what the machine slept,
    /// by a reader who came when the record had waited for as long as the interval, and longer if he was late. A pid does not
    /// come back in an interval.
    pub(super) fn may_have_begun(&self, start: Nanos, lateness: Nanos) -> bool {
        start <= self.row.key.start + super::SLACK && self.row.key.start <= start + lateness
    }
}

/// A record is made before the last of it is charged to the precise figure, when the ticks know better.
pub(super) fn recorded_cpu_ns(figure: impl Fn(Figure) -> Option<u64>) -> Option<u64> {
    let in_ticks = figure(Figure::USER).zip(figure(Figure::SYSTEM));
    in_ticks.map(|(user, system)| user + system).or_else(|| figure(Figure::ON_CPU))
}

/// What ended tasks used after their records were made, or without one: what the kernel forgot them with, less what their
/// records told. A record comes first, and what it told is waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded {
    recorded: Nanos,
    told: Nanos,
}

impl Unrecorded {
    /// Of the interval: from what all that ended used in their lives, since the reader was opened, and what new records tell
    /// of theirs.
    pub fn advance(&mut self, ended_on_cpu: Option<Nanos>, recorded: Nanos) -> Option<Nanos> {
        self.recorded += recorded;
        let all = ended_on_cpu?.saturating_sub(self.recorded);
        let fresh = all.saturating_sub(self.told);
        self.told += fresh;
        Some(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_record_told_is_told_once() {
        let mut unrecorded = Unrecorded::default();
        assert_eq!(unrecorded.advance(None, Nanos(100)), None);
        // The record of a task that is still a zombie; its end, with a tenth more; nothing new.
        assert_eq!(unrecorded.advance(Some(Nanos(50)), Nanos(0)), Some(Nanos(0)));
        assert_eq!(unrecorded.advance(Some(Nanos(110)), Nanos(0)), Some(Nanos(10)));
        assert_eq!(unrecorded.advance(Some(Nanos(110)), Nanos(40)), Some(Nanos(0)));
        assert_eq!(unrecorded.advance(Some(Nanos(155)), Nanos(0)), Some(Nanos(5)));
    }
}
