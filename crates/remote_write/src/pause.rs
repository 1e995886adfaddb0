//! Pauses before what failed is tried again.

use std::time::Duration;

/// The next pause: a second at first, then twice as long each time, up to a minute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause(Duration);

impl Pause {
    pub(crate) const FIRST: Duration = Duration::from_secs(1);
    pub(crate) const LONGEST: Duration = Duration::from_secs(60);

    /// Returns this pause. The next one is twice as long.
    pub(crate) fn take(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause
    }
}

impl Default for Pause {
    fn default() -> Self {
        Self(Self::FIRST)
    }
}
