//! Requests to the agent's checks: other processes write them into the ledger, and the agent carries them out.

use serde::{Deserialize, Serialize};

use super::downtime::Downtime;
use super::state::State;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckRequest {
    /// A passive result.
    Submit {
        /// The name of the check.
        name: String,
        /// The state.
        state: State,
        /// As a plugin prints it.
        output: String,
        /// When that was, in milliseconds since 1970.
        at_ms: i64,
    },
    /// A problem is acknowledged.
    Acknowledge {
        /// The name of the check.
        name: String,
        /// The author of the acknowledgement.
        author: String,
        /// The comment.
        comment: String,
        /// Until the check is OK.
        is_sticky: bool,
        /// No notification is sent of it.
        #[serde(default)]
        is_silent: bool,
    },
    /// An acknowledgement is withdrawn.
    Unacknowledge {
        /// The name of the check.
        name: String,
    },
    /// A downtime.
    Downtime(Downtime),
    /// The end of a downtime.
    EndDowntime {
        /// Its number.
        number: i64,
    },
    /// A check runs at once.
    CheckNow {
        /// Which.
        name: String,
    },
}
