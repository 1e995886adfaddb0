//! The processes that descend from this one: FreeBSD's reapers are not used yet.

use facts::sample::Absence;

use crate::signal::TaskSignal;
pub use crate::task_source::Descendant;

/// Does nothing.
///
/// # Errors
/// Always.
pub fn adopt_orphans() -> Result<(), Absence> {
    Err(Absence::Unsupported)
}

/// None are known.
#[derive(Debug, Default)]
pub struct Descendants;

impl Descendants {
    /// Records nothing.
    pub fn from_now() -> Self {
        Self
    }

    /// Not that it is known.
    pub fn was_there(&self, _pid: u32) -> bool {
        false
    }

    /// Finds none.
    ///
    /// # Errors
    /// Always.
    pub fn list(&self) -> Result<Vec<Descendant>, Absence> {
        Err(Absence::Unsupported)
    }

    /// Signals none.
    ///
    /// # Errors
    /// Always.
    pub fn send_all(&self, _signal: TaskSignal, _except: &[u32]) -> Result<usize, Absence> {
        Err(Absence::Unsupported)
    }
}
