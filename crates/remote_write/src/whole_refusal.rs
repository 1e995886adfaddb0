//! A shipment that a receiver refuses as a whole.

use std::time::{Duration, Instant};

use crate::pause::Pause;

/// It is tried again for this time, also if the receiver takes other samples: a limit of the receiver may be raised.
const LONG: Duration = Duration::from_secs(60);

/// How often a shipment was refused as a whole, and since when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeRefusal {
    long_at: Instant,
    again_at: Instant,
    pause: Pause,
    is_first: bool,
}

impl WholeRefusal {
    /// A refusal now, after earlier ones of the same shipment.
    pub(crate) fn after(before: Option<Self>) -> Self {
        let now = Instant::now();
        let mut pause = before.map_or_else(Pause::default, |before| before.pause);
        let again_at = now + pause.take();
        let long_at = before.map_or(now + LONG, |before| before.long_at);
        Self { long_at, again_at, pause, is_first: before.is_none() }
    }

    /// Returns whether there was none of the same shipment before.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns whether it has been refused for so long that no limit will be raised for it.
    pub(crate) fn is_for_long(&self) -> bool {
        Instant::now() >= self.long_at
    }

    /// Returns whether its pause is over.
    pub(crate) fn may_be_tried(&self) -> bool {
        Instant::now() >= self.again_at
    }

    /// Lets a test go on.
    #[cfg(test)]
    pub(crate) fn let_time_pass(&mut self) {
        self.long_at = Instant::now();
    }
}
