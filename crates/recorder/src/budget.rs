//! The limit of the CPU time that recording takes: beyond it tasks are read less often.

use facts::unit::{Nanos, Ratio};

/// How long the cost is measured before anything is changed.
const MEASURED: Nanos = Nanos(60_000_000_000);
/// Ticks between two readings of all tasks, at most.
const MAX_TICKS: u32 = 64;

/// Decides how often tasks are read.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: Option<Ratio>,
    /// When the measurement began, and the cost until then.
    began: Option<(Nanos, RecordingCost)>,
    /// Ticks between two readings of all tasks.
    stride: u32,
}

/// CPU time of recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordingCost {
    pub(crate) all: Nanos,
    /// The part of reading and writing rounds of tasks.
    pub(crate) of_rounds: Nanos,
}

/// That tasks are read more or less often from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StrideChange {
    /// The part of a CPU that recording used.
    pub(crate) used: Ratio,
    /// Ticks between two readings.
    pub(crate) stride: u32,
}

impl Budget {
    pub(crate) fn new(limit: Option<Ratio>) -> Self {
        Self { limit, began: None, stride: 1 }
    }

    /// Another limit from now on.
    pub(crate) fn set_limit(&mut self, limit: Option<Ratio>) {
        self.limit = limit;
    }

    /// Ticks between two readings of all tasks.
    pub(crate) fn stride(&self) -> u32 {
        self.stride
    }

    /// Measures the cost at each tick. Returns a change once a minute, if there is one. `now` is boot time, `cost` the total so far.
    pub(crate) fn advance(&mut self, now: Nanos, cost: RecordingCost) -> Option<StrideChange> {
        let (began, before) = *self.began.get_or_insert((now, cost));
        let elapsed = now.saturating_sub(began);
        if elapsed < MEASURED {
            return None;
        }
        self.began = Some((now, cost));
        let part = |total: Nanos, earlier: Nanos| Ratio::of(total.saturating_sub(earlier).0, elapsed.0);
        let (used, of_rounds) = (part(cost.all, before.all)?, part(cost.of_rounds, before.of_rounds)?);
        let stride = match self.limit {
            None => 1,
            Some(limit) if used > limit => self.fitting(used, of_rounds, limit).max(self.stride * 2),
            // Some room must be left, or the next minute would take it back. A part of what is counted for rounds does not grow with them.
            Some(limit) => {
                let fitting = self.fitting(used, of_rounds, Ratio(limit.0 * 0.75));
                let half = if used.0 < limit.0 / 2.0 { self.stride / 2 } else { self.stride };
                fitting.min(half).max(1)
            }
        };
        let stride = stride.min(MAX_TICKS);
        let is_changed = stride != self.stride;
        self.stride = stride;
        is_changed.then_some(StrideChange { used, stride })
    }

    /// Returns the smallest stride whose cost is within a limit. The cost of rounds is inversely proportional to the stride, the rest is
    /// constant.
    fn fitting(&self, used: Ratio, of_rounds: Ratio, limit: Ratio) -> u32 {
        let rest = used.0 - of_rounds.0;
        let cost_at = |stride: u32| rest + of_rounds.0 * f64::from(self.stride) / f64::from(stride);
        let strides = std::iter::successors(Some(1), |stride| Some(stride * 2));
        strides
            .take_while(|stride| *stride <= MAX_TICKS)
            .find(|stride| cost_at(*stride) <= limit.0)
            .unwrap_or(MAX_TICKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_less_often_until_the_limit_holds() {
        let mut budget = Budget::new(Some(Ratio(0.01)));
        let (mut now, mut cost) = (Nanos(0), RecordingCost::default());
        // Costs of a reading and of the rest of a tick in milliseconds.
        let mut minute = |budget: &mut Budget, reading_ms: u64, rest_ms: u64| {
            let mut change = None;
            for tick in 0..60 {
                let of_rounds = if tick % u64::from(budget.stride()) == 0 { reading_ms } else { 0 };
                now += Nanos::SECOND;
                cost.of_rounds += Nanos(of_rounds * 1_000_000);
                cost.all += Nanos((of_rounds + rest_ms) * 1_000_000);
                change = budget.advance(now, cost).or(change);
            }
            change.map(|change| change.stride)
        };
        budget.advance(Nanos(0), RecordingCost::default());
        assert_eq!(minute(&mut budget, 5, 2), None);
        assert_eq!(minute(&mut budget, 30, 2), Some(4));
        assert_eq!(minute(&mut budget, 30, 2), None);
        // The stride returns to 1 within a minute after the load has ended.
        assert_eq!(minute(&mut budget, 200, 2), Some(32));
        assert_eq!(minute(&mut budget, 4, 2), Some(1));
        budget.set_limit(None);
        assert_eq!(minute(&mut budget, 9000, 0), None);
        budget.set_limit(Some(Ratio(0.0)));
        minute(&mut budget, 9, 9);
        assert_eq!(budget.stride(), MAX_TICKS);
    }
}
