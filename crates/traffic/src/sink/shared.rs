//! Counters that all threads share.

use std::sync::atomic::AtomicU64;

/// Counters of all threads.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) packets: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) finished: AtomicU64,
    pub(super) accepted: AtomicU64,
}
