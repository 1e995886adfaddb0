//! The breakdown of a task's wall time.

use crate::unit::Nanos;

/// The parts of a wall time. They add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeBreakdown {
    /// The wall time.
    pub whole: Nanos,
    /// Time on a CPU.
    pub on_cpu: Option<Nanos>,
    /// Time runnable, waiting for a CPU.
    pub run_queue: Option<Nanos>,
    /// Time waiting for block I/O.
    pub block_io: Option<Nanos>,
    /// Time of an ended task on a CPU or asleep: its exit record is made before the last of it is counted. `None` for living tasks.
    pub unrecorded: Option<Nanos>,
    /// The rest: asleep, or waiting for something that the kernel does not count.
    pub sleeping: Option<Nanos>,
    /// The rest if a part of it is not counted, so that sleep cannot be separated from it; mostly time off the CPU, of which block
    /// I/O is not counted. `None` if all parts are known.
    pub undivided: Option<Nanos>,
}

/// Parts that the rest of the time may contain, beside sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remainder {
    /// Upper bound of CPU time that no record contains.
    pub most_unrecorded: Nanos,
    /// Block I/O is not counted for some threads.
    pub has_uncounted: bool,
}

impl TimeBreakdown {
    /// Creates it from the known parts. If they exceed the whole (clocks differ a little), the whole is their sum.
    pub fn new(
        whole: Nanos,
        on_cpu: Option<Nanos>,
        run_queue: Option<Nanos>,
        block_io: Option<Nanos>,
        remainder: Remainder,
    ) -> Self {
        let parts = [on_cpu, run_queue, block_io];
        let claimed: Nanos = parts.into_iter().flatten().sum();
        let whole = whole.max(claimed);
        let left = whole.saturating_sub(claimed);
        let unrecorded = left.min(remainder.most_unrecorded);
        let left = left.saturating_sub(unrecorded);
        let is_complete = parts.iter().all(Option::is_some) && !remainder.has_uncounted;
        Self {
            whole,
            on_cpu,
            run_queue,
            block_io,
            unrecorded: (remainder.most_unrecorded.0 > 0).then_some(unrecorded),
            sleeping: is_complete.then_some(left),
            undivided: (!is_complete).then_some(left),
        }
    }

    /// All parts in the order of the bar: on CPU, run queue, block I/O, unrecorded, sleeping, undivided.
    pub fn parts(&self) -> [Nanos; 6] {
        [self.on_cpu, self.run_queue, self.block_io, self.unrecorded, self.sleeping, self.undivided]
            .map(Option::unwrap_or_default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn time_without_a_record_is_not_sleep() {
        let new = |most_unrecorded| {
            let remainder = Remainder { most_unrecorded: Nanos(most_unrecorded), has_uncounted: false };
            TimeBreakdown::new(Nanos(1_200), Some(Nanos(26)), Some(Nanos(0)), Some(Nanos(0)), remainder)
        };
        // It never gave up the CPU by itself: it has not slept.
        assert_eq!((new(1_200).unrecorded, new(1_200).sleeping), (Some(Nanos(1_174)), Some(Nanos(0))));
        assert_eq!((new(400).unrecorded, new(400).sleeping), (Some(Nanos(400)), Some(Nanos(774))));
        assert_eq!((new(0).unrecorded, new(0).sleeping), (None, Some(Nanos(1_174))));
    }

    proptest! {
        #[test]
        fn the_parts_add_up(parts in proptest::array::uniform5(0u64..1 << 40), is_absent: bool, has_uncounted: bool) {
            let [whole, on_cpu, run_queue, block_io, most_unrecorded] = parts.map(Nanos);
            let block_io = (!is_absent).then_some(block_io);
            let remainder = Remainder { most_unrecorded, has_uncounted };
            let breakdown = TimeBreakdown::new(whole, Some(on_cpu), Some(run_queue), block_io, remainder);
            prop_assert_eq!(breakdown.parts().into_iter().sum::<Nanos>(), breakdown.whole);
        }
    }
}
