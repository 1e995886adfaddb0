//! Cgroups: FreeBSD has jails instead, which whit does not support.

use std::io;
use std::path::{Path, PathBuf};

use facts::cgroup::CgroupUsage;

/// Never there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// Its directory.
    pub directory: PathBuf,
    /// Its path within the hierarchy.
    pub path: String,
    /// 1 or 2.
    pub version: u8,
}

impl Cgroup {
    /// Says that there are none.
    ///
    /// # Errors
    /// Always.
    pub fn find(_path: &Path, _is_called: &dyn Fn(&str) -> bool) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "FreeBSD has no cgroups"))
    }

    /// Never called.
    ///
    /// # Errors
    /// Always.
    pub fn tasks(&self, _tids: &mut Vec<u32>) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called.
    pub fn usage(&self) -> CgroupUsage {
        CgroupUsage::default()
    }
}
