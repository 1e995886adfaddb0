//! A request is cancelled at its deadline, when its client disconnects, and when others wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::clients::RecallFlag;

/// The deadline of a request, and whether its client has disconnected, or others wait for it.
#[derive(Clone, Debug)]
pub(super) struct Cancellation {
    deadline: Instant,
    is_disconnected: Arc<AtomicBool>,
    recall_flag: RecallFlag,
}

impl Cancellation {
    /// Sets a deadline. The flag may end the request before it.
    pub(super) fn after(timeout: Duration, recall_flag: RecallFlag) -> Self {
        Self { deadline: Instant::now() + timeout, is_disconnected: Arc::default(), recall_flag }
    }

    /// Returns whether others wait for the request.
    pub(super) fn is_recalled(&self) -> bool {
        self.recall_flag.is_set()
    }

    /// Returns whether its client has disconnected.
    pub(super) fn is_disconnected(&self) -> bool {
        self.is_disconnected.load(Ordering::Relaxed)
    }

    /// Returns whether the request is to be given up.
    pub(super) fn is_cancelled(&self) -> bool {
        let is_unwanted = self.is_disconnected() || self.is_recalled();
        is_unwanted || Instant::now() >= self.deadline
    }

    /// Returns a guard that cancels the request when it is dropped, as the future of a disconnected client is.
    pub(super) fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(Arc::clone(&self.is_disconnected))
    }
}

/// Cancels a request when it is dropped.
#[derive(Debug)]
pub(super) struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disconnected_client_cancels_its_request() {
        let cancellation = Cancellation::after(Duration::from_secs(60), RecallFlag::default());
        let guard = cancellation.cancel_on_drop();
        assert!(!cancellation.is_cancelled());
        drop(guard);
        assert!(cancellation.is_cancelled());
        assert!(Cancellation::after(Duration::ZERO, RecallFlag::default()).is_cancelled());
    }
}
