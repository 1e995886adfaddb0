//! The progress of a long walk, shown on a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::failure::write_stderr;

/// Before the first word, and between two.
const PAUSE: Duration = Duration::from_millis(500);

/// Entries that have been looked at.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU64);

impl Progress {
    pub(super) fn add(&self, entries: u64) {
        self.0.fetch_add(entries, Ordering::Relaxed);
    }

    /// Does it, and says meanwhile how far it has come if standard error is a terminal.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if !std::io::stderr().is_terminal() {
            return work();
        }
        let (sender, receiver) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut has_spoken = false;
                while receiver.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                    write_stderr(&format!("\r{} entries\x1b[K", self.0.load(Ordering::Relaxed)));
                    has_spoken = true;
                }
                if has_spoken {
                    write_stderr("\r\x1b[K");
                }
            });
            let done = work();
            drop(sender);
            done
        })
    }
}
