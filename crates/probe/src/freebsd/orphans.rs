//! Processes that commands left behind: FreeBSD's reapers are not used yet.

pub use crate::spawn::Known;

/// Does nothing.
#[derive(Debug)]
pub struct Orphans;

impl Orphans {
    /// There are none.
    pub fn adopt() -> Self {
        Self
    }

    /// There are none.
    pub fn adopt_and_end_all() -> Self {
        Self
    }

    /// None are known.
    pub fn sweep(&mut self, _known: &[Known<'_>]) -> usize {
        0
    }
}
