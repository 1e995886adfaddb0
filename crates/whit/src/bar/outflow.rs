//! Lines on their way to a reader, who may have stopped reading.

use std::io;

use probe::outlet::Outlet;
use probe::wait::Watch;
use rustix::fd::AsFd;

use crate::failure::Failure;

/// Standard output. A line that was begun is finished before another one begins.
#[derive(Debug)]
pub(super) struct Outflow {
    outlet: Outlet,
    /// What the reader has not taken of the last line.
    rest: Vec<u8>,
    /// System calls made.
    pub(super) calls: u64,
}

impl Outflow {
    pub(super) fn stdout() -> Self {
        Self { outlet: Outlet::stdout(), rest: Vec::new(), calls: 0 }
    }

    /// Whether the reader has to read before there is room for more.
    pub(super) fn is_full(&self) -> bool {
        !self.rest.is_empty()
    }

    /// What tells that there is room again.
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch::Writable(self.outlet.as_fd())
    }

    /// Writes all of it, or what the reader takes and the rest later, by [`flush`](Self::flush). Only where it is not full.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.try_write(bytes)?;
        self.rest.extend_from_slice(&bytes[written..]);
        Ok(())
    }

    /// Writes more of the rest.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let rest = std::mem::take(&mut self.rest);
        self.write(&rest)
    }

    fn try_write(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        let mut written = 0;
        while written < bytes.len() {
            self.calls += 1;
            match self.outlet.try_write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(Failure::reader_gone()),
                Err(error) => return Err(Failure::new(format!("standard output: {error}"))),
            }
        }
        Ok(written)
    }
}
