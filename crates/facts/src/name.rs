//! A short name kept in place, so that a tick which meets a known disk or interface allocates nothing.

use std::fmt;

/// The most bytes a [`Name`] holds: enough for an interface (15), a disk (31) and a sensor's label.
pub const NAME_BYTES: usize = 39;

/// A kernel's name for a device, at most [`NAME_BYTES`] bytes; what is longer is cut.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct Name {
    bytes: [u8; NAME_BYTES],
    length: u8,
}

impl Name {
    /// From the kernel's bytes.
    pub fn new(name: &[u8]) -> Self {
        let kept = &name[..name.len().min(NAME_BYTES)];
        let mut bytes = [0; NAME_BYTES];
        bytes[..kept.len()].copy_from_slice(kept);
        Self { bytes, length: kept.len() as u8 }
    }

    /// As the kernel gave it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// As text, up to the first byte that is not UTF-8.
    pub fn as_str(&self) -> &str {
        let bytes = self.as_bytes();
        std::str::from_utf8(bytes)
            .unwrap_or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default())
    }
}

impl PartialEq for Name {
    /// By a loop: names are short, and memcmp's code would be a dozen cache lines of a tick.
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && self.as_bytes().iter().zip(other.as_bytes()).all(|(a, b)| a == b)
    }
}

impl Default for Name {
    fn default() -> Self {
        Self::new(b"")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
