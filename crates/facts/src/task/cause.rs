//! Causes of delay.

/// A cause of delay: what a task waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Runnable, waiting for a CPU. Counted by the scheduler, not by delay accounting.
    RunQueue,
    /// Waiting for synchronous block I/O.
    BlockIo,
    /// Waiting for pages from swap.
    SwapIn,
    /// Reclaiming memory (direct reclaim).
    Reclaim,
    /// Waiting for pages that were evicted a short time ago. Since Linux 4.20.
    Thrashing,
    /// Compacting memory. Since Linux 5.17.
    Compaction,
    /// Copying a write-protected page. Since Linux 5.19.
    Copy,
    /// Interrupts that ran while it was on a CPU. Since Linux 6.4.
    Irq,
}

impl Cause {
    /// All causes, in the order of `struct taskstats`.
    pub const ALL: [Self; 8] = [
        Self::RunQueue,
        Self::BlockIo,
        Self::SwapIn,
        Self::Reclaim,
        Self::Thrashing,
        Self::Compaction,
        Self::Copy,
        Self::Irq,
    ];

    /// Causes that overlap with CPU time and block I/O, so that they do not add up with them to wall time.
    pub const OVERLAPPING: [Self; 6] =
        [Self::SwapIn, Self::Thrashing, Self::Reclaim, Self::Compaction, Self::Copy, Self::Irq];

    /// Its name in options, columns and JSON fields.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunQueue => "run_queue",
            Self::BlockIo => "block_io",
            Self::SwapIn => "swap_in",
            Self::Reclaim => "reclaim",
            Self::Thrashing => "thrashing",
            Self::Compaction => "compaction",
            Self::Copy => "copy",
            Self::Irq => "irq",
        }
    }
}
