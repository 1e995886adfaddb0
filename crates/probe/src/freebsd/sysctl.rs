//! Nodes of sysctl(3), into one piece of memory that is kept.

use std::ffi::CString;

use facts::cursor::Malformed;
use facts::freebsd;
use facts::sample::Absence;

use crate::sys::{sysctl_by_name, sysctl_by_path, sysctl_path};

/// Reads nodes.
#[derive(Debug, Default)]
pub(crate) struct Sysctl {
    memory: Vec<u8>,
    pub(crate) calls: u64,
}

impl Sysctl {
    /// A node by its name.
    pub(crate) fn read(&mut self, name: &str) -> Result<&[u8], Absence> {
        self.calls += 1;
        let name = CString::new(name).map_err(|_| Absence::Malformed)?;
        sysctl_by_name(&name, &mut self.memory).map_err(|error| absence(&error))
    }

    /// A node by its path of integers.
    pub(crate) fn read_path(&mut self, path: &[i32]) -> Result<&[u8], Absence> {
        self.calls += 1;
        sysctl_by_path(path, &mut self.memory).map_err(|error| absence(&error))
    }

    /// What stands at an index below a node, as `vm.swap_info` has a device at each.
    pub(crate) fn read_indexed(&mut self, name: &str, index: i32) -> Result<&[u8], Absence> {
        self.calls += 1;
        let name = CString::new(name).map_err(|_| Absence::Malformed)?;
        let mut path = sysctl_path(&name).map_err(|error| absence(&error))?;
        path.push(index);
        self.read_path(&path)
    }

    /// A node that is a number.
    pub(crate) fn number(&mut self, name: &str) -> Result<u64, Absence> {
        self.parse(name, freebsd::number)
    }

    /// A node, and what its bytes mean.
    pub(crate) fn parse<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
    ) -> Result<T, Absence> {
        parse(self.read(name)?).map_err(|_| Absence::Malformed)
    }

    /// A node that is text.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, Absence> {
        let bytes = self.read(name)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).trim().to_owned())
    }
}

fn absence(error: &std::io::Error) -> Absence {
    match error.raw_os_error() {
        // A name that is not there, an interface or process that went.
        Some(libc::ENOENT | libc::ESRCH | libc::ENXIO) => Absence::Gone,
        Some(libc::EPERM | libc::EACCES) => Absence::Denied,
        Some(libc::ENOMEM) => Absence::Exhausted,
        _ => Absence::Unsupported,
    }
}
