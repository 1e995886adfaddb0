//! The cost of each cycle, in a block of its own.

use std::fmt::Write as _;

use facts::unit::Nanos;
use probe::{monotonic_now, own_cpu_time};

use text::units::Span;

/// Keeps account of the cycle before: a line can only tell what that one cost. A cycle reaches from one tick to the
/// next; what woke the bar between them is in it.
pub(crate) struct Debug {
    last: Option<Cost>,
    /// Time spent awake in this cycle, so far.
    awake: Nanos,
    woke_at: Nanos,
    calls_before: u64,
    cpu_before: Nanos,
}

/// The cost of a whole cycle: reading, drawing, writing, and the calls to wait for the next.
#[derive(Clone, Copy)]
struct Cost {
    wall: Nanos,
    cpu: Nanos,
    calls: u64,
}

impl Debug {
    pub(crate) fn start() -> Self {
        let woke_at = monotonic_now();
        Self { last: None, awake: Nanos(0), woke_at, calls_before: 0, cpu_before: own_cpu_time() }
    }

    pub(crate) fn render(&self, out: &mut String) {
        out.clear();
        if let Some(Cost { wall, cpu, calls }) = self.last {
            // A String takes whatever is written to it.
            let _ = write!(out, "last cycle {}, CPU {}, {calls} calls", Span(wall), Span(cpu));
        }
    }

    /// The bar is about to wait.
    pub(crate) fn sleep(&mut self) {
        self.awake += monotonic_now().saturating_sub(self.woke_at);
    }

    /// It has woken.
    pub(crate) fn wake(&mut self) {
        self.woke_at = monotonic_now();
    }

    /// A tick begins; so many calls were made until now.
    pub(crate) fn begin_cycle(&mut self, calls: u64) {
        // Reading the CPU time is itself a call, which a bar without --debug does not make.
        let (cpu, calls) = (own_cpu_time(), calls + 1);
        if self.calls_before > 0 {
            let spent = cpu.saturating_sub(self.cpu_before);
            let calls = calls.saturating_sub(self.calls_before);
            self.last = Some(Cost { wall: self.awake, cpu: spent, calls });
        }
        self.awake = Nanos(0);
        (self.cpu_before, self.calls_before) = (cpu, calls - 1);
    }
}
