//! /sys/class/hwmon and /sys/class/thermal: temperatures. Documentation/hwmon/sysfs-interface.rst.

use crate::cursor::{Cursor, Malformed};
use crate::name::Name;

/// One temperature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Temperature {
    /// The entry in /sys, which distinguishes two chips of a kind: `hwmon1`, `thermal_zone0`.
    pub device: Name,
    /// The chip (`coretemp`, `k10temp`) or `thermal_zone`.
    pub chip: Name,
    /// The name of what it measures: the label (`Package id 0`) or the zone's type (`x86_pkg_temp`), else the file's name.
    pub label: Name,
    /// Thousandths of a degree Celsius; `None` if the sensor gave no value this time.
    pub millidegrees: Option<i64>,
}

impl Temperature {
    /// Returns true if this is a CPU's own sensor, by the names that Linux drivers give.
    pub fn is_cpu(&self) -> bool {
        const CHIPS: [&[u8]; 7] = [
            b"coretemp",
            b"k10temp",
            b"k8temp",
            b"zenpower",
            b"cpu_thermal",
            b"fam15h_power",
            b"via_cputemp",
        ];
        let label = self.label.as_bytes();
        // A board's own chip may call an input CPU and leave it unconnected; a zone by that name is one.
        let is_zone = self.chip.as_bytes() == b"thermal_zone";
        let is_cpu_zone =
            [&b"x86_pkg_temp"[..], b"cpu", b"CPU", b"soc"].iter().any(|start| label.starts_with(start));
        CHIPS.contains(&self.chip.as_bytes()) || (is_zone && is_cpu_zone)
    }
}

impl Temperature {
    /// Returns true if it stands for a whole CPU package rather than one core or a spot on the die.
    pub fn is_package(&self) -> bool {
        let label = self.label.as_bytes();
        [&b"Package"[..], b"Tctl", b"Tdie", b"x86_pkg_temp"].iter().any(|start| label.starts_with(start))
    }
}

/// The values that a sensor may report, in thousandths of a degree: industrial parts are made for −40 to 125 °C. An input that is
/// not connected reports −60, −128 or 255 °C, and a driver that takes a fault for a value millions.
const POSSIBLE: std::ops::RangeInclusive<i64> = -45_000..=200_000;

/// The content of a `temp*_input` or `temp` file: thousandths of a degree Celsius.
///
/// # Errors
/// If it is not a number, or cannot be.
pub fn millidegrees(bytes: &[u8]) -> Result<i64, Malformed> {
    let mut cursor = Cursor::new(bytes);
    let degrees = cursor.signed().filter(|degrees| POSSIBLE.contains(degrees));
    degrees.ok_or_else(|| cursor.expected("thousandths of a degree that a part can have"))
}
