//! The request of a view for parts of a machine.

use std::path::PathBuf;

use facts::source::Wanted;

use crate::background_job::Notifier;

/// The requests of the views of one run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which parts of a sample to fill.
    pub wanted: Wanted,
    /// Whose filesystems to ask for their space; empty for all that store files.
    pub filesystems: Vec<PathBuf>,
    /// Notified when a filesystem that was slow has answered; [`collect`](crate::Probe::collect) then takes the answer. A caller that
    /// gives one also waits for [`watch`](crate::Probe::watch).
    pub notifier: Option<Notifier>,
}
