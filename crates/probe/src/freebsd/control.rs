//! Control of tasks: not supported, because no descriptor can hold a pid that may be reused.

use facts::sample::Absence;
use facts::task::TaskKey;

pub use crate::signal::TaskSignal;

/// Sends a signal to a process.
///
/// # Errors
/// Always.
pub fn send(_key: TaskKey, _signal: TaskSignal) -> Result<(), Absence> {
    Err(Absence::Unsupported)
}

/// Sends a signal to a child of this process that has not been reaped.
///
/// # Errors
/// Always.
pub fn send_to_child(_pid: u32, _signal: TaskSignal) -> Result<(), Absence> {
    Err(Absence::Unsupported)
}

/// Sends a signal to a thread's process.
///
/// # Errors
/// Always.
pub fn send_to_process_of(_key: TaskKey, _tgid: u32, _signal: TaskSignal) -> Result<(), Absence> {
    Err(Absence::Unsupported)
}

/// Changes the niceness of a process.
///
/// # Errors
/// Always.
pub fn renice(_key: TaskKey, _nice: i8) -> Result<(), Absence> {
    Err(Absence::Unsupported)
}
