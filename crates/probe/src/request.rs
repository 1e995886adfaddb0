//! What a view wants to know of a machine.

use std::path::PathBuf;

use facts::source::Wanted;

use crate::background_job::Notifier;

/// What the views of one run ask for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which parts of a sample to fill.
    pub wanted: Wanted,
    /// Whose filesystems to ask for their space; empty for all that store files.
    pub filesystems: Vec<PathBuf>,
    /// Rung when a filesystem that was slow to answer has done so; [`crate::Probe::collect`] then has it. Whoever gives one also
    /// waits for [`crate::Probe::watch`].
    pub notifier: Option<Notifier>,
}
