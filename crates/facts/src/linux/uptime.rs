//! /proc/uptime: seconds since boot, suspended time included. proc_uptime(5).

use crate::cursor::{Cursor, Malformed};
use crate::unit::Nanos;

/// /proc/uptime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uptime {
    /// Since boot; the kernel prints hundredths of a second.
    pub uptime: Nanos,
}

impl Uptime {
    /// Fills from the bytes of /proc/uptime.
    ///
    /// # Errors
    /// If it does not start with a number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        let thousandths = cursor.thousandths().ok_or_else(|| cursor.expected("seconds since boot"))?;
        self.uptime = Nanos(thousandths.saturating_mul(1_000_000));
        Ok(())
    }
}
