//! Kept descriptors: a file is opened once and read again from its start with one `pread`.

use facts::cursor::Malformed;
use facts::sample::{Absence, Reading};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::{Errno, pread};

use crate::roots::MachineDirectory;

/// How a file comes out of the kernel, which decides when a reading is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Made in one piece: a read that leaves room in the buffer was the last.
    Whole,
    /// Made line by line into a page, no line longer than [`MAX_LINE_BYTES`]: a read that leaves the page room for
    /// one more was the last.
    Lines,
    /// Made record by record, of any size: only a read of nothing was the last.
    Records,
}

/// The kernel's seq_file hands out at most a page at a time, of whole lines.
const PAGE_BYTES: usize = 4096;
const MAX_LINE_BYTES: usize = 1024;
const FIRST_BUFFER_BYTES: usize = 16 * 1024;
/// No kernel file that whit reads comes near: what is larger is not what it claims to be.
const MAX_BUFFER_BYTES: usize = 64 * 1024 * 1024;

/// The one buffer that all files of a probe are read into, and the count of calls made.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    pub(crate) calls: u64,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; FIRST_BUFFER_BYTES], calls: 0 }
    }

    /// The whole of an open file.
    pub(crate) fn read(&mut self, file: impl AsFd, extent: Extent) -> Result<&[u8], Errno> {
        let mut length = 0;
        loop {
            let least_room = if extent == Extent::Whole { 1 } else { PAGE_BYTES };
            if self.bytes.len() - length < least_room {
                if self.bytes.len() >= MAX_BUFFER_BYTES {
                    return Err(Errno::FBIG);
                }
                self.bytes.resize(self.bytes.len() * 2, 0);
                // A file made in one piece is read again as a whole, or its halves would be of two instants.
                if extent == Extent::Whole {
                    length = 0;
                }
            }
            self.calls += 1;
            let read = match pread(&file, &mut self.bytes[length..], length as u64) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            length += read;
            let complete = match extent {
                Extent::Whole => length < self.bytes.len(),
                Extent::Lines => read < PAGE_BYTES - MAX_LINE_BYTES,
                Extent::Records => read == 0,
            };
            if complete || read == 0 {
                return Ok(&self.bytes[..length]);
            }
        }
    }

    /// The whole of a file that is read once and not kept.
    pub(crate) fn read_once(&mut self, directory: &MachineDirectory, path: &str) -> Result<&[u8], Errno> {
        self.read_once_as(directory, path, Extent::Records)
    }

    /// The whole of such a file that comes out of the kernel in a known way.
    pub(crate) fn read_once_as(
        &mut self,
        directory: &MachineDirectory,
        path: &str,
        extent: Extent,
    ) -> Result<&[u8], Errno> {
        self.calls += 2;
        let file = directory.open_at(path, OFlags::RDONLY)?;
        self.read(file, extent)
    }
}

/// Returns the absence that an error means for a file that may or may not exist on this kernel.
pub(crate) fn absence(error: Errno) -> Absence {
    match error {
        Errno::ACCESS | Errno::PERM => Absence::Denied,
        Errno::NODEV | Errno::SRCH | Errno::NXIO => Absence::Gone,
        Errno::FBIG => Absence::Malformed,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS => Absence::Exhausted,
        _ => Absence::Unsupported,
    }
}

/// Returns the absence that an error of netlink or /proc means for a task.
pub(crate) fn task_absence(error: Errno) -> Absence {
    match error {
        Errno::SRCH | Errno::NOENT => Absence::Gone,
        Errno::MSGSIZE => Absence::Malformed,
        error => absence(error),
    }
}

/// A file kept open, or why it could not be.
#[derive(Debug)]
pub(crate) struct KeptFile {
    file: Result<OwnedFd, Absence>,
    extent: Extent,
}

impl KeptFile {
    /// Opens `path` below `directory`.
    pub(crate) fn open(directory: &MachineDirectory, path: &str, extent: Extent) -> Self {
        Self { file: directory.open_at(path, OFlags::RDONLY).map_err(absence), extent }
    }

    /// Returns true if it could be opened.
    pub(crate) fn is_open(&self) -> bool {
        self.file.is_ok()
    }

    /// Reads it and hands the bytes to `parse`.
    pub(crate) fn parse<T>(
        &self,
        buffer: &mut Buffer,
        parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
    ) -> Result<T, Absence> {
        let file = self.file.as_ref().map_err(|absence| *absence)?;
        let bytes = buffer.read(file, self.extent).map_err(absence)?;
        parse(bytes).map_err(|_| Absence::Malformed)
    }

    /// Reads it into a part of a sample.
    pub(crate) fn fill<T>(
        &self,
        buffer: &mut Buffer,
        reading: &mut Reading<T>,
        parse: impl FnOnce(&mut T, &[u8]) -> Result<(), Malformed>,
    ) {
        reading.fill(|value| self.parse(buffer, |bytes| parse(value, bytes)));
    }
}
