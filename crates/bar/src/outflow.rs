//! Lines on their way to a reader, which may have stopped reading.

use probe::outlet::Outlet;
use probe::wait::Watch;
use rustix::fd::AsFd;

use command::failure::Failure;
use command::output;

/// Standard output. A line that was begun is finished before another one begins.
#[derive(Debug)]
pub(super) struct Outflow {
    outlet: Outlet,
    /// The part of the last line that the reader has not taken.
    rest: Vec<u8>,
}

impl Outflow {
    pub(super) fn stdout() -> Self {
        Self { outlet: Outlet::stdout(), rest: Vec::new() }
    }

    /// Returns true if the reader has to read before there is room for more.
    pub(super) fn is_full(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Reports that there is room again.
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch::Writable(self.outlet.as_fd())
    }

    /// Writes all of it, or what the reader takes and the rest later, by [`flush`](Self::flush). Only where it is not full.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.outlet.write(bytes).map_err(output::failure)?;
        self.rest.extend_from_slice(&bytes[written..]);
        Ok(())
    }

    /// Writes more of the rest.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let rest = std::mem::take(&mut self.rest);
        self.write(&rest)
    }

    /// System calls made.
    pub(super) fn calls(&self) -> u64 {
        self.outlet.calls()
    }
}
