//! The states that threads of the agent share with those that show them.

use alerts::SharedAlerts;
use checks::SharedChecks;

/// The shared states. Clones share them, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedStates {
    /// Alerts.
    pub(crate) alerts: SharedAlerts,
    /// Checks.
    pub(crate) checks: SharedChecks,
    /// Counters of feeds.
    #[cfg(feature = "feeds")]
    pub(crate) feeds: feeds::FeedCounts,
}
