//! The limit of the agent's own CPU time: beyond it tasks are read less often.

use facts::unit::{Nanos, Ratio};

/// How long the cost is measured before anything is changed.
const MEASURED: Nanos = Nanos(60_000_000_000);
/// Ticks between two readings of all tasks, at most.
const MOST_TICKS: u32 = 64;

/// Decides how often tasks are read.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: Option<Ratio>,
    /// When the measurement began, and the CPU time of the process then.
    began: Option<(Nanos, Nanos)>,
    /// Ticks between two readings of all tasks.
    stride: u32,
}

/// That tasks are read more or less often from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StrideChange {
    /// What the agent used.
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

    /// Called with each tick, at a time on the boot clock and with the CPU time of the process.
    pub(crate) fn advance(&mut self, now: Nanos, cpu: Nanos) -> Option<StrideChange> {
        let (began, cpu_then) = *self.began.get_or_insert((now, cpu));
        let elapsed = now.saturating_sub(began);
        if elapsed < MEASURED {
            return None;
        }
        self.began = Some((now, cpu));
        let used = Ratio::of(cpu.saturating_sub(cpu_then).0, elapsed.0)?;
        let stride = match self.limit {
            None => 1,
            Some(limit) if used > limit => (self.stride * 2).min(MOST_TICKS),
            // Twice as many readings cost less than twice as much: then it stays within the limit.
            Some(limit) if used.0 < limit.0 / 2.0 => (self.stride / 2).max(1),
            Some(_) => self.stride,
        };
        let is_changed = stride != self.stride;
        self.stride = stride;
        is_changed.then_some(StrideChange { used, stride })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_less_often_until_the_limit_holds() {
        let mut budget = Budget::new(Some(Ratio(0.01)));
        let (mut now, mut cpu) = (Nanos(0), Nanos(0));
        let mut minute = |budget: &mut Budget, used_ms: u64| {
            let mut change = None;
            for _ in 0..60 {
                now += Nanos::SECOND;
                cpu += Nanos(used_ms * 1_000_000 / 60);
                change = budget.advance(now, cpu).or(change);
            }
            change.map(|change| change.stride)
        };
        budget.advance(Nanos(0), Nanos(0));
        assert_eq!(minute(&mut budget, 1200), Some(2));
        assert_eq!(minute(&mut budget, 1200), Some(4));
        assert_eq!(minute(&mut budget, 500), None);
        assert_eq!(minute(&mut budget, 200), Some(2));
        budget.set_limit(None);
        assert_eq!(minute(&mut budget, 9000), Some(1));
        budget.set_limit(Some(Ratio(0.0)));
        for _ in 0..20 {
            minute(&mut budget, 900);
        }
        assert_eq!(budget.stride(), MOST_TICKS);
    }
}
