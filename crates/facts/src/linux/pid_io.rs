//! /proc/PID/io: what a process read and wrote. Since 2.6.20; proc_pid_io(5). Readable by the owner.

use super::keyed::keyed;
use crate::cursor::Malformed;

keyed! {
    /// /proc/PID/io, all in bytes but the two counts of calls.
    PidIo,
    /// A line of /proc/PID/io.
    PidIoField {
        /// Through read-like calls, from a cache too.
        ReadChar = "rchar",
        WriteChar = "wchar",
        ReadCalls = "syscr",
        WriteCalls = "syscw",
        /// From block devices.
        ReadBytes = "read_bytes",
        WriteBytes = "write_bytes",
        /// The part of `write_bytes` that was dropped from the page cache before it was written.
        CancelledWriteBytes = "cancelled_write_bytes",
    }
}

impl PidIo {
    /// Fills from the bytes of an io file.
    ///
    /// # Errors
    /// If a known line holds no number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.fill(bytes, None)
    }
}
