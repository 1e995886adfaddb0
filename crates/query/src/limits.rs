//! The limits of an evaluation.

use std::fmt;

/// The limits of an evaluation.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    /// How old the newest sample of a series may be, in milliseconds.
    pub lookback_ms: i64,
    /// The step of a range of an expression that names none, in milliseconds.
    pub usual_step_ms: i64,
    /// Samples and results in memory.
    pub most_points: usize,
    /// Returns whether to give up: asked now and then.
    pub is_interrupted: &'l dyn Fn() -> bool,
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("lookback_ms", &self.lookback_ms)
            .field("most_points", &self.most_points)
            .finish()
    }
}

impl Default for Limits<'_> {
    /// Prometheus' five minutes and one minute; 40 million points, which are 640 MB.
    fn default() -> Self {
        Self {
            lookback_ms: 300_000,
            usual_step_ms: 60_000,
            most_points: 40_000_000,
            is_interrupted: &|| false,
        }
    }
}
