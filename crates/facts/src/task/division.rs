//! What a task's wall time divides into.

use crate::unit::Nanos;

/// The parts of a time. They add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// The whole.
    pub whole: Nanos,
    /// On a CPU.
    pub on_cpu: Option<Nanos>,
    /// Waiting for one.
    pub run_queue: Option<Nanos>,
    /// Waiting for block I/O.
    pub block_io: Option<Nanos>,
    /// Of a task that ended: on a CPU after the kernel's last count, or asleep. Its record does not say; none of a task that lives.
    pub unrecorded: Option<Nanos>,
    /// The rest: asleep of its own will, or for what the kernel does not count.
    pub sleeping: Option<Nanos>,
    /// What no part claims because one of them is absent; none where all are known.
    pub unknown: Option<Nanos>,
}

/// What is known of the time that no part claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// So much of it may have been on a CPU.
    pub most_unrecorded: Nanos,
    /// Some of it may have been block I/O: it is not counted of every thread.
    pub has_uncounted: bool,
}

impl Division {
    /// From the parts that are known. Parts that together exceed the whole by the clocks' disagreement make it longer.
    pub fn new(
        whole: Nanos,
        on_cpu: Option<Nanos>,
        run_queue: Option<Nanos>,
        block_io: Option<Nanos>,
        rest: Rest,
    ) -> Self {
        let parts = [on_cpu, run_queue, block_io];
        let claimed: Nanos = parts.into_iter().flatten().sum();
        let whole = whole.max(claimed);
        let left = whole.saturating_sub(claimed);
        let unrecorded = left.min(rest.most_unrecorded);
        let left = left.saturating_sub(unrecorded);
        let is_complete = parts.iter().all(Option::is_some) && !rest.has_uncounted;
        Self {
            whole,
            on_cpu,
            run_queue,
            block_io,
            unrecorded: (rest.most_unrecorded.0 > 0).then_some(unrecorded),
            sleeping: is_complete.then_some(left),
            unknown: (!is_complete).then_some(left),
        }
    }

    /// All parts, in the order in which they are drawn: on CPU, run queue, block I/O, unrecorded, sleeping, unknown.
    pub fn parts(&self) -> [Nanos; 6] {
        [self.on_cpu, self.run_queue, self.block_io, self.unrecorded, self.sleeping, self.unknown]
            .map(Option::unwrap_or_default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_no_record_tells_is_not_sleep() {
        let new = |most_unrecorded| {
            let rest = Rest { most_unrecorded: Nanos(most_unrecorded), has_uncounted: false };
            Division::new(Nanos(1_200), Some(Nanos(26)), Some(Nanos(0)), Some(Nanos(0)), rest)
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
            let rest = Rest { most_unrecorded, has_uncounted };
            let division = Division::new(whole, Some(on_cpu), Some(run_queue), block_io, rest);
            prop_assert_eq!(division.parts().into_iter().sum::<Nanos>(), division.whole);
        }
    }
}
