//! A line a second while the sink runs.

use std::sync::atomic::Ordering;

use facts::unit::Nanos;

use super::shared::Shared;
use crate::render::push_live;
use command::failure::write_stderr_if_ready;

/// Overwrites one line with the figures of the last second.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) next: Nanos,
    packets: u64,
    bytes: u64,
}

impl Live {
    pub(super) fn new(now: Nanos) -> Self {
        Self { next: now + Nanos::SECOND, packets: 0, bytes: 0 }
    }

    pub(super) fn print(&mut self, shared: &Shared, now: Nanos) {
        let (packets, bytes) = (shared.packets.load(Ordering::Relaxed), shared.bytes.load(Ordering::Relaxed));
        let mut line = "\r".to_owned();
        // By the second that has passed: this is a glance, the report at the end is exact.
        push_live(&mut line, packets, packets.saturating_sub(self.packets), bytes.saturating_sub(self.bytes));
        write_stderr_if_ready(&line);
        (self.packets, self.bytes) = (packets, bytes);
        self.next = now + Nanos::SECOND;
    }
}
