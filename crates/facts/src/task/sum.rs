//! The figures of several tasks together.

use super::figure::{ABSENT, Figure, FigureSet, Figures};
use super::{Cause, Delay, Remainder, TimeBreakdown};
use crate::unit::Nanos;

/// The figures of one or several threads over a time: since they started, or in an interval.
///
/// A figure that one of the threads lacks is absent in the sum. Delays are summed over the threads for which they are known:
/// [`Self::is_partial`] says whether others exist, which makes the sum a lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSum {
    values: [u64; Figure::COUNT],
    absent: FigureSet,
    /// By cause, the number of threads whose delay is not known.
    unknown: [u32; Cause::ALL.len()],
    /// Threads.
    pub threads: u32,
    /// Processes, as far as the caller counts them.
    pub processes: u32,
    /// The wall time of all threads: what the parts of the time breakdown add up to.
    pub thread_time: Nanos,
    /// Threads for which the kernel counts no delays except the run queue's, or for which this cannot be known.
    pub uncounted: u32,
    /// The upper bound of CPU time that exit records do not contain.
    pub most_unrecorded: Nanos,
    /// Values that were dropped because they cannot be true.
    pub impossible_values: u32,
}

impl Default for TaskSum {
    fn default() -> Self {
        Self {
            values: [0; Figure::COUNT],
            absent: FigureSet::default(),
            unknown: [0; Cause::ALL.len()],
            threads: 0,
            processes: 0,
            thread_time: Nanos(0),
            uncounted: 0,
            most_unrecorded: Nanos(0),
            impossible_values: 0,
        }
    }
}

impl TaskSum {
    /// One thread. `is_counted` says whether the kernel counts its delays: the zeros of one for which it does not mean nothing.
    pub fn of_thread(figures: &Figures, thread_time: Nanos, is_counted: bool) -> Self {
        let mut sum = Self { threads: 1, thread_time, uncounted: u32::from(!is_counted), ..Self::default() };
        for figure in Figure::all() {
            match figures.raw(figure) {
                ABSENT => sum.absent.insert(figure),
                value => sum.values[figure.index()] = value,
            }
        }
        for cause in Cause::ALL {
            let total = Figure::delay(cause);
            if !is_counted && cause != Cause::RunQueue && sum.values[total.index()] == 0 {
                for figure in [total, Figure::count(cause), Figure::maximum(cause)] {
                    sum.absent.insert(figure);
                }
            }
            sum.unknown[cause as usize] = u32::from(sum.absent.contains(total));
        }
        sum
    }

    /// Adds other threads. Times and counts are summed; of maxima, and of the memory that threads share, the larger one counts.
    pub fn add(&mut self, other: &Self) {
        if self.threads == 0 {
            *self = other.clone();
            return;
        }
        for figure in Figure::all() {
            let value = other.values[figure.index()];
            let sum = &mut self.values[figure.index()];
            *sum = match figure.is_maximum() || figure.is_of_process() {
                true => value.max(*sum),
                false => value.saturating_add(*sum),
            };
        }
        // The memory of a process is known if one of its threads shows it.
        let shared = FigureSet::OF_PROCESS;
        let in_either = self.absent.union(other.absent).difference(shared);
        self.absent = in_either.union(self.absent.intersection(other.absent).intersection(shared));
        for (unknown, others) in self.unknown.iter_mut().zip(&other.unknown) {
            *unknown += others;
        }
        self.threads += other.threads;
        self.processes += other.processes;
        self.thread_time += other.thread_time;
        self.uncounted += other.uncounted;
        self.most_unrecorded += other.most_unrecorded;
        self.impossible_values += other.impossible_values;
    }

    /// Adds threads that did nothing in an interval. `absent` are the figures that one of them lacks; `unknown` says of how many
    /// a delay is not known.
    pub(crate) fn add_idle(
        &mut self,
        threads: u32,
        interval: Nanos,
        absent: FigureSet,
        unknown: impl Fn(Cause) -> u32,
        uncounted: u32,
    ) {
        self.absent = self.absent.union(absent);
        for cause in Cause::ALL {
            self.unknown[cause as usize] += unknown(cause);
            // A maximum is only known if it is new.
            self.absent.insert(Figure::maximum(cause));
        }
        self.threads += threads;
        self.thread_time += Nanos(interval.0.saturating_mul(u64::from(threads)));
        self.uncounted += uncounted;
    }

    /// Adds CPU time of threads of which nothing else is known.
    pub fn add_cpu(&mut self, on_cpu: Nanos) {
        let sum = &mut self.values[Figure::ON_CPU.index()];
        *sum = sum.saturating_add(on_cpu.0);
        self.thread_time += on_cpu;
    }

    /// Sets a figure.
    pub fn set(&mut self, figure: Figure, value: Option<u64>) {
        self.values[figure.index()] = value.unwrap_or(0);
        match value {
            Some(_) => self.absent.remove(figure),
            None => self.absent.insert(figure),
        }
    }

    /// Sets the figures of a cause.
    pub fn set_delay(&mut self, cause: Cause, delay: Delay) {
        self.set(Figure::count(cause), delay.count());
        self.set(Figure::delay(cause), delay.total().map(|total| total.0));
        self.set(Figure::maximum(cause), delay.max().map(|max| max.0));
        self.unknown[cause as usize] = if delay.total().is_some() { 0 } else { self.threads };
    }

    /// A figure; `None` if a thread lacks it. Delays are known if those of one thread are.
    pub fn get(&self, figure: Figure) -> Option<u64> {
        let value = self.values[figure.index()];
        match figure.cause() {
            Some(cause) if self.unknown[cause as usize] >= self.threads => None,
            Some(cause) if figure == Figure::delay(cause) => Some(value),
            // Counts and maxima may be absent by themselves.
            Some(_) => Some(value).filter(|value| *value > 0 || !self.absent.contains(figure)),
            None => Some(value).filter(|_| !self.absent.contains(figure)),
        }
    }

    /// CPU time.
    pub fn on_cpu(&self) -> Option<Nanos> {
        self.get(Figure::ON_CPU).map(Nanos)
    }

    /// The figures of one cause.
    pub fn delay(&self, cause: Cause) -> Delay {
        let nanos = |figure| self.get(figure).map(Nanos);
        Delay::new(self.get(Figure::count(cause)), nanos(Figure::delay(cause)), nanos(Figure::maximum(cause)))
    }

    /// The number of threads whose delay is not known.
    pub fn unknown(&self, cause: Cause) -> u32 {
        self.unknown[cause as usize]
    }

    /// Returns true if a delay is that of some of the threads only: a lower bound.
    pub fn is_partial(&self, cause: Cause) -> bool {
        (1..self.threads).contains(&self.unknown(cause))
    }

    /// Divides the wall time of the threads into its parts.
    pub fn breakdown(&self) -> TimeBreakdown {
        TimeBreakdown::new(
            self.thread_time,
            self.on_cpu(),
            self.delay(Cause::RunQueue).total(),
            self.delay(Cause::BlockIo).total(),
            Remainder {
                most_unrecorded: self.most_unrecorded,
                has_uncounted: [Cause::RunQueue, Cause::BlockIo]
                    .into_iter()
                    .any(|cause| self.is_partial(cause)),
            },
        )
    }

    /// The time that no part claims.
    pub fn unclaimed(&self) -> Nanos {
        let delay = |cause| self.delay(cause).total();
        let parts = [self.on_cpu(), delay(Cause::RunQueue), delay(Cause::BlockIo)];
        self.thread_time.saturating_sub(parts.into_iter().flatten().sum())
    }

    /// The delays that overlap with the parts, the longest first; those that did not happen are left out.
    pub fn overlapping_delays(&self) -> Vec<(Cause, Nanos)> {
        let causes = Cause::OVERLAPPING.into_iter();
        let waited = causes.filter_map(|cause| Some((cause, self.delay(cause).total()?)));
        let mut waited: Vec<_> = waited.filter(|(_, total)| total.0 > 0).collect();
        waited.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(wall: u64, on_cpu: u64, run_queue: u64, block_io: Option<u64>, is_counted: bool) -> TaskSum {
        let mut figures = Figures::NONE;
        figures.set(Figure::ON_CPU, Some(on_cpu));
        for (cause, total) in [(Cause::RunQueue, Some(run_queue)), (Cause::BlockIo, block_io)] {
            figures.set(Figure::delay(cause), total);
            figures.set(Figure::count(cause), Some(1));
            figures.set(Figure::maximum(cause), total);
        }
        TaskSum::of_thread(&figures, Nanos(wall), is_counted)
    }

    #[test]
    fn the_parts_add_up_to_the_wall() {
        let breakdown = thread(1000, 300, 200, Some(100), true).breakdown();
        assert_eq!((breakdown.sleeping, breakdown.undivided), (Some(Nanos(400)), None));
    }

    #[test]
    fn without_accounting_sleep_and_block_io_are_one_unknown() {
        let breakdown = thread(1000, 300, 200, Some(0), false).breakdown();
        assert_eq!((breakdown.block_io, breakdown.sleeping), (None, None));
        assert_eq!(breakdown.undivided, Some(Nanos(500)));
    }

    #[test]
    fn a_sum_of_which_a_part_is_known_is_a_lower_bound() {
        // Not counted, or dropped.
        for (block_io, is_counted) in [(Some(0), false), (None, true)] {
            let mut sum = thread(1000, 300, 200, block_io, is_counted);
            sum.add(&thread(1000, 100, 100, Some(100), true));
            assert_eq!((sum.unknown(Cause::BlockIo), sum.is_partial(Cause::BlockIo)), (1, true));
            assert_eq!((sum.thread_time, sum.threads, sum.on_cpu()), (Nanos(2000), 2, Some(Nanos(400))));
            let breakdown = sum.breakdown();
            assert_eq!((breakdown.block_io, breakdown.sleeping), (Some(Nanos(100)), None));
            assert_eq!(breakdown.undivided, Some(Nanos(1200)));
            assert_eq!(sum.delay(Cause::RunQueue).max(), Some(Nanos(200)));
        }
    }

    #[test]
    fn what_one_thread_lacks_the_sum_lacks() {
        let mut sum = thread(1, 1, 0, None, true);
        let mut other = thread(1, 1, 0, None, true);
        other.set(Figure::READ_BYTES, Some(5));
        other.set(Figure::RESIDENT_BYTES, Some(7));
        sum.add(&other);
        assert_eq!((sum.get(Figure::READ_BYTES), sum.get(Figure::RESIDENT_BYTES)), (None, Some(7)));
        assert_eq!(sum.delay(Cause::BlockIo), Delay::default());
    }

    #[test]
    fn the_idle_add_time_and_nothing_else() {
        let mut sum = thread(10, 4, 1, Some(2), true);
        sum.add_idle(3, Nanos(10), FigureSet::default(), |_| 0, 0);
        assert_eq!((sum.threads, sum.thread_time, sum.on_cpu()), (4, Nanos(40), Some(Nanos(4))));
        assert_eq!(sum.breakdown().sleeping, Some(Nanos(33)));
    }
}
