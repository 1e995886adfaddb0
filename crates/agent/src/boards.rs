//! Where the threads of the agent leave what others show.

use crate::alert::Board;
use crate::check::SharedRoster;

/// What others show. Clones are about the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boards {
    /// Alerts that there are.
    pub(crate) alerts: Board,
    /// Checks and their states.
    pub(crate) roster: SharedRoster,
    /// Fetches of feeds, and how much is unread.
    #[cfg(feature = "feeds")]
    pub(crate) feeds: feeds::FeedCounts,
}
