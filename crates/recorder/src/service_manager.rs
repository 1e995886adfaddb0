//! Messages to the service manager: sd_notify(3). Nothing is sent if there is none.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// The service manager.
#[derive(Debug)]
pub(crate) struct ServiceManager {
    /// How often it wants to hear from the agent; `None` if it does not.
    watchdog: Option<Duration>,
    heard: Instant,
    is_ready: bool,
}

impl ServiceManager {
    pub(crate) fn new() -> Self {
        // Twice as often as it would give the agent up: sd_watchdog_enabled(3).
        Self {
            watchdog: sd_notify::watchdog_enabled().map(|limit| limit / 2),
            heard: Instant::now(),
            is_ready: false,
        }
    }

    /// Sends READY=1 once: the first tick is recorded, and the server is ready.
    pub(crate) fn ready_once(&mut self) {
        if !std::mem::replace(&mut self.is_ready, true) {
            self.ready();
        }
    }

    /// The new configuration is in use.
    pub(crate) fn ready(&self) {
        send(&[NotifyState::Ready]);
    }

    /// The configuration is read again.
    pub(crate) fn reloading(&self) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => send(&[NotifyState::Reloading, now]),
            Err(_) => send(&[NotifyState::Reloading]),
        }
    }

    /// The agent ends.
    pub(crate) fn stopping(&self) {
        send(&[NotifyState::Stopping]);
    }

    /// A line of `systemctl status`.
    pub(crate) fn status(&self, line: &str) {
        send(&[NotifyState::Status(line)]);
    }

    /// A tick was recorded.
    pub(crate) fn tick(&mut self) {
        if self.watchdog.is_some_and(|interval| self.heard.elapsed() >= interval) {
            self.heard = Instant::now();
            send(&[NotifyState::Watchdog]);
        }
    }
}

fn send(states: &[NotifyState<'_>]) {
    // Recording goes on if the manager cannot be reached.
    let _ = sd_notify::notify(states);
}
