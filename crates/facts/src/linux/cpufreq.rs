//! How fast the CPUs run: /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq, else /proc/cpuinfo.
//! Kernel: Documentation/admin-guide/pm/cpufreq.rst; proc_cpuinfo(5).

use crate::cursor::{Cursor, Malformed, lines};

/// The content of scaling_cur_freq: kilohertz. `<unknown>` is none.
///
/// # Errors
/// If it is neither.
pub fn scaling_kilohertz(bytes: &[u8]) -> Result<Option<u64>, Malformed> {
    let mut cursor = Cursor::new(bytes);
    match cursor.number() {
        Some(kilohertz) => Ok(Some(kilohertz)),
        None if cursor.skip(b"<unknown>") => Ok(None),
        None => Err(cursor.expected("kilohertz")),
    }
}

/// Fills with the kilohertz of each CPU that /proc/cpuinfo shows; x86 alone prints them.
pub fn cpuinfo_kilohertz(bytes: &[u8], kilohertz: &mut Vec<u64>) {
    kilohertz.clear();
    for mut line in lines(bytes) {
        if line.skip(b"cpu MHz") && line.until(b':').is_some() {
            // Printed as "cpu MHz\t\t: 2394.374": megahertz in thousandths are kilohertz.
            kilohertz.extend(line.thousandths());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_kilohertz() {
        assert_eq!(scaling_kilohertz(b"2400000\n"), Ok(Some(2_400_000)));
        assert_eq!(scaling_kilohertz(b"<unknown>\n"), Ok(None));
        assert!(scaling_kilohertz(b"fast").is_err());
        let mut all = Vec::new();
        cpuinfo_kilohertz(b"processor\t: 0\ncpu MHz\t\t: 2394.374\n\ncpu MHz\t\t: 800.000\n", &mut all);
        assert_eq!(all, [2_394_374, 800_000]);
    }
}
