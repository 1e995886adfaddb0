//! The process or thread that an action is for.

use facts::task::TaskKey;

/// The task that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) key: TaskKey,
    /// The process, where that is a thread.
    pub(super) tgid: u32,
    pub(super) comm: String,
    pub(super) nice: i8,
}
