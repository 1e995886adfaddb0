//! A source that is more than one file.

use facts::sample::Sample;

use super::files::Buffer;

/// The changes that are possible since the last tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changes {
    /// Links or addresses of the network may have changed.
    pub(crate) network: bool,
    /// Directories were searched again before this tick.
    pub(crate) is_rescanned: bool,
}

/// A source that is more than one file: devices that come and go, answers of sockets.
pub(crate) trait Part: std::fmt::Debug {
    /// Searches for what came or went.
    fn rescan(&mut self, _buffer: &mut Buffer) {}

    /// Fills its part of a sample.
    fn read(&mut self, buffer: &mut Buffer, changes: Changes, sample: &mut Sample);
}
