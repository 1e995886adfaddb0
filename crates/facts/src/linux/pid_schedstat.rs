//! /proc/PID/schedstat and /proc/PID/task/TID/schedstat: CPU time and run-queue wait of one task, to anyone's eyes.
//! Documentation/scheduler/sched-stats.rst; there where CONFIG_SCHED_INFO is.

use crate::cursor::{Cursor, Malformed};
use crate::unit::Nanos;

/// /proc/PID/schedstat: of the thread, not of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PidSchedstat {
    /// Time on a CPU.
    pub on_cpu: Nanos,
    /// Time runnable and waiting for one.
    pub run_queue: Nanos,
    /// Times it was given one.
    pub timeslices: u64,
}

impl PidSchedstat {
    /// Fills from the bytes of a schedstat file.
    ///
    /// # Errors
    /// If one of the three figures is missing.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        let mut number = || cursor.number().ok_or_else(|| cursor.expected("nanoseconds"));
        *self = Self { on_cpu: Nanos(number()?), run_queue: Nanos(number()?), timeslices: number()? };
        Ok(())
    }
}
