//! /proc/PID/statm: a process's memory in pages. proc_pid_statm(5).
//!
//! Its resident size is summed over all CPUs (since Linux 6.16 and in older stable kernels), where /proc/PID/stat has the part
//! that the CPUs have handed in.

use crate::cursor::{Cursor, Malformed};

/// The figures that whit shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PidStatm {
    /// Pages of address space.
    pub virtual_pages: u64,
    /// Pages in memory.
    pub resident_pages: u64,
}

impl PidStatm {
    /// Fills from the bytes of a statm file.
    ///
    /// # Errors
    /// If one of the two figures is missing.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        let mut number = || cursor.number().ok_or_else(|| cursor.expected("pages"));
        *self = Self { virtual_pages: number()?, resident_pages: number()? };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_figures_are_read() {
        let mut statm = PidStatm::default();
        statm.parse(b"1046 1027 771 7 0 313 0\n").unwrap();
        assert_eq!(statm, PidStatm { virtual_pages: 1046, resident_pages: 1027 });
        assert!(statm.parse(b"1046\n").is_err() && statm.parse(b"").is_err());
    }
}
