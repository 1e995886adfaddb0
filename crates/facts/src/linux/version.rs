//! /proc/sys/kernel/osrelease: the kernel's release, "6.18.4-1-amd64".

use crate::cursor::{Cursor, Malformed};

/// A kernel release, ordered by its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// The first number.
    pub major: u16,
    /// The second.
    pub minor: u16,
    /// The third, 0 where there is none.
    pub patch: u16,
}

impl KernelVersion {
    /// A release by its first two numbers.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor, patch: 0 }
    }

    /// Fills from the bytes of /proc/sys/kernel/osrelease.
    ///
    /// # Errors
    /// If it does not start with two numbers.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        let next = |cursor: &mut Cursor<'_>| cursor.number().and_then(|number| u16::try_from(number).ok());
        self.major = next(&mut cursor).ok_or_else(|| cursor.expected("a kernel release"))?;
        cursor.skip(b".");
        self.minor = next(&mut cursor).ok_or_else(|| cursor.expected("a second number"))?;
        self.patch = if cursor.skip(b".") { next(&mut cursor).unwrap_or(0) } else { 0 };
        Ok(())
    }
}

impl std::fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_add_to_the_numbers() {
        let mut version = KernelVersion::default();
        version.parse(b"2.6.32-754.el6.x86_64\n").unwrap();
        assert_eq!(version, KernelVersion { major: 2, minor: 6, patch: 32 });
        assert!(version < KernelVersion::new(3, 14));
        version.parse(b"6.18\n").unwrap();
        assert_eq!(version, KernelVersion::new(6, 18));
    }
}
