//! The costs of the program itself.

use facts::unit::Nanos;

/// The program's own CPU time, from one reading to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnCost {
    total: Nanos,
    delta: Nanos,
}

impl OwnCost {
    /// Reads the CPU time of the process. Called after everything else of a tick, so that it contains what that tick cost.
    pub fn read(&mut self) {
        let total = probe::own_cpu_time();
        self.delta = total.saturating_sub(self.total);
        self.total = total;
    }

    /// CPU time between the last two readings; before the second, since the process started.
    pub fn cpu(&self) -> Nanos {
        self.delta
    }
}
