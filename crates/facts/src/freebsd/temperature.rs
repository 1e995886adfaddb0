//! `dev.cpu.N.temperature`, `hw.acpi.thermal.tzN.temperature`: tenths of a kelvin, format "IK" of sysctl(9).

use super::integer;
use crate::cursor::Malformed;

/// Thousandths of a degree Celsius.
///
/// # Errors
/// If it is not an int.
pub fn millidegrees(bytes: &[u8]) -> Result<i64, Malformed> {
    // 0 °C is 273.15 K.
    integer(bytes).map(|decikelvin| i64::from(decikelvin) * 100 - 273_150)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decikelvin_are_celsius() {
        assert_eq!(millidegrees(&3241i32.to_le_bytes()), Ok(50_950));
        assert_eq!(millidegrees(&0i32.to_le_bytes()), Ok(-273_150));
        assert!(millidegrees(&[1, 2]).is_err());
        assert!(millidegrees(&i32::MAX.to_le_bytes()).is_ok());
    }
}
