//! The costs of fetching feeds, counted since the agent started.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::subscriptions::UnreadCount;

/// Counters that the poller increments and others read.
#[derive(Clone, Debug, Default)]
pub struct FeedCounts(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    changed: AtomicU64,
    unchanged: AtomicU64,
    failed: AtomicU64,
    requests: AtomicU64,
    bytes: AtomicU64,
    entries: AtomicU64,
    unread: Mutex<Option<Vec<UnreadCount>>>,
}

/// Their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchTotals {
    /// Polls that brought another document.
    pub changed: u64,
    /// Polls whose document was the one of the last time.
    pub unchanged: u64,
    /// Polls that failed.
    pub failed: u64,
    /// Requests, those of redirects included.
    pub requests: u64,
    /// Bytes of documents, decompressed.
    pub bytes: u64,
    /// New entries.
    pub entries: u64,
}

impl FeedCounts {
    /// The totals.
    pub fn totals(&self) -> FetchTotals {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        FetchTotals {
            changed: get(&self.0.changed),
            unchanged: get(&self.0.unchanged),
            failed: get(&self.0.failed),
            requests: get(&self.0.requests),
            bytes: get(&self.0.bytes),
            entries: get(&self.0.entries),
        }
    }

    pub(crate) fn add(&self, more: FetchTotals) {
        let add = |counter: &AtomicU64, more: u64| counter.fetch_add(more, Ordering::Relaxed);
        add(&self.0.changed, more.changed);
        add(&self.0.unchanged, more.unchanged);
        add(&self.0.failed, more.failed);
        add(&self.0.requests, more.requests);
        add(&self.0.bytes, more.bytes);
        add(&self.0.entries, more.entries);
    }

    /// How many entries each account has not read; `None` until that was counted.
    pub fn unread(&self) -> Option<Vec<UnreadCount>> {
        self.0.unread.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of unread entries of all accounts; `None` until they were counted.
    pub fn unread_total(&self) -> Option<u64> {
        let counts = self.0.unread.lock().unwrap_or_else(PoisonError::into_inner);
        Some(counts.as_ref()?.iter().map(|count| count.unread).sum())
    }

    pub(crate) fn set_unread(&self, counts: Vec<UnreadCount>) {
        *self.0.unread.lock().unwrap_or_else(PoisonError::into_inner) = Some(counts);
    }
}
