//! The processes that descend from this one: FreeBSD's reapers are not used yet.

use facts::sample::Absence;
use facts::task::TaskKey;

use crate::signal::TaskSignal;

/// Adopts nobody.
///
/// # Errors
/// Always.
pub fn adopt_orphans() -> Result<(), Absence> {
    Err(Absence::Unsupported)
}

/// Finds nobody.
///
/// # Errors
/// Always.
pub fn list() -> Result<Vec<TaskKey>, Absence> {
    Err(Absence::Unsupported)
}

/// Signals nobody.
///
/// # Errors
/// Always.
pub fn send_all(_signal: TaskSignal) -> Result<usize, Absence> {
    Err(Absence::Unsupported)
}
