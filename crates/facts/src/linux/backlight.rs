//! /sys/class/backlight/*/{brightness,max_brightness}. Documentation/ABI/stable/sysfs-class-backlight.

use crate::cursor::{Cursor, Malformed};
use crate::name::Name;
use crate::unit::Ratio;

/// One backlight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlight {
    /// `intel_backlight`.
    pub name: Name,
    /// Set brightness, in steps of the device's own.
    pub brightness: u64,
    /// The brightest it goes.
    pub maximum: u64,
}

impl Backlight {
    /// Brightness as a share of the brightest; `None` if the device says no maximum.
    pub fn share(&self) -> Option<Ratio> {
        Ratio::of(self.brightness.min(self.maximum), self.maximum)
    }
}

/// The content of either file.
///
/// # Errors
/// If it is not a number.
pub fn steps(bytes: &[u8]) -> Result<u64, Malformed> {
    let mut cursor = Cursor::new(bytes);
    cursor.number().ok_or_else(|| cursor.expected("steps of brightness"))
}
