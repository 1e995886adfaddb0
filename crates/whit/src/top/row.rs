//! A row of the view: a thread, a process, a user or a cgroup, and what is known of it.

use facts::task::figure::Figure;
use facts::task::sums::Summed;
use facts::task::table::Comm;
use facts::task::{Accounting, Cause, Remainder, TaskKey, TimeBreakdown};
use facts::unit::Nanos;

/// One row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    rows: Summed<'a>,
    pub(crate) index: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn new(rows: Summed<'a>, index: usize) -> Self {
        Self { rows, index }
    }

    pub(crate) fn key(&self) -> TaskKey {
        self.rows.key(self.index)
    }

    /// The process, or the thread where each is a row of its own.
    pub(crate) fn pid(&self) -> u32 {
        self.rows.pid(self.index)
    }

    pub(crate) fn tgid(&self) -> u32 {
        self.rows.tgid(self.index)
    }

    pub(crate) fn ppid(&self) -> Option<u32> {
        self.rows.ppid(self.index)
    }

    pub(crate) fn uid(&self) -> Option<u32> {
        self.rows.uid(self.index)
    }

    pub(crate) fn comm(&self) -> Option<Comm> {
        self.rows.comm(self.index)
    }

    pub(crate) fn cgroup(&self) -> Option<u64> {
        self.rows.cgroup(self.index)
    }

    /// The keys of its tasks that live.
    pub(crate) fn living_keys(&self) -> impl Iterator<Item = TaskKey> + use<'a> {
        self.rows.living_keys(self.index)
    }

    pub(crate) fn nice(&self) -> Option<i8> {
        self.rows.nice(self.index)
    }

    pub(crate) fn state(&self) -> Option<u8> {
        if self.is_ended() { Some(b'X') } else { self.rows.state(self.index) }
    }

    pub(crate) fn threads(&self) -> u32 {
        self.rows.threads(self.index)
    }

    /// It stands for several processes.
    pub(crate) fn is_several(&self) -> bool {
        self.rows.is_several(self.index)
    }

    pub(crate) fn processes(&self) -> u32 {
        self.rows.processes(self.index)
    }

    /// All of its tasks have ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.rows.is_ended(self.index)
    }

    /// What its parts add up to.
    pub(crate) fn thread_time(&self) -> Nanos {
        self.rows.thread_time(self.index)
    }

    pub(crate) fn get(&self, figure: Figure) -> Option<u64> {
        self.rows.get(self.index, figure)
    }

    /// How much of a figure there was in a second.
    pub(crate) fn per_second(&self, figure: Figure) -> Option<f64> {
        Some(self.get(figure)? as f64 / self.rows.interval()?.elapsed().as_secs_f64())
    }

    /// Time on a CPU in the interval.
    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        self.rows.cpu_ns(self.index)
    }

    /// As a share of the interval; of several threads above 1.
    pub(crate) fn share(&self, nanos: Option<u64>) -> Option<f64> {
        Some(nanos? as f64 / self.rows.interval()?.elapsed().0 as f64)
    }

    pub(crate) fn accounting(&self) -> Accounting {
        self.rows.accounting(self.index)
    }

    /// Of how many of its tasks delays other than the run queue's are not counted.
    pub(crate) fn uncounted(&self) -> u32 {
        self.rows.uncounted(self.index)
    }

    /// Whether a delay is of a part of its tasks: the others are not counted.
    pub(crate) fn is_partial(&self, cause: Cause) -> bool {
        cause != Cause::RunQueue && (1..self.threads()).contains(&self.uncounted())
    }

    /// Time held up by a cause, as far as the kernel counts it for these tasks.
    pub(crate) fn delay_ns(&self, cause: Cause) -> Option<u64> {
        let is_counted = cause == Cause::RunQueue || self.uncounted() < self.threads();
        let delay = self.get(Figure::delay(cause))?;
        // A task that has waited is counted, whatever the reader could tell before.
        (is_counted || delay > 0).then_some(delay)
    }

    /// Where its time went.
    pub(crate) fn breakdown(&self) -> TimeBreakdown {
        let remainder = Remainder {
            most_unrecorded: self.rows.most_unrecorded(self.index),
            has_uncounted: self.is_partial(Cause::BlockIo),
        };
        let delay = |cause| self.delay_ns(cause).map(Nanos);
        let (on_cpu, run_queue, block_io) =
            (self.cpu_ns().map(Nanos), delay(Cause::RunQueue), delay(Cause::BlockIo));
        let breakdown = TimeBreakdown::new(self.thread_time(), on_cpu, run_queue, block_io, remainder);
        match self.rows.interval() {
            Some(_) => breakdown,
            // No time has passed in which anything could have been done.
            None => TimeBreakdown { unrecorded: None, sleeping: None, unknown: None, ..breakdown },
        }
    }

    /// What overlaps with those parts, the longest first.
    pub(crate) fn overlapping_delays(&self) -> Vec<(Cause, u64)> {
        let causes = Cause::OVERLAPPING.into_iter();
        let waited = causes.filter_map(|cause| Some((cause, self.delay_ns(cause).filter(|ns| *ns > 0)?)));
        let mut waited: Vec<_> = waited.collect();
        waited.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        waited
    }
}
