//! `vm.loadavg`: `struct loadavg` of sys/resource.h, three fixed-point numbers and their scale.

use super::{u32_at, u64_at};
use crate::cursor::Malformed;

/// The averages over 1, 5 and 15 minutes, in thousandths.
///
/// # Errors
/// If the bytes are too few, or the scale is 0.
pub fn thousandths(bytes: &[u8]) -> Result<[u64; 3], Malformed> {
    let average = |index: usize| u32_at(bytes, index * 4, "a load average").map(u64::from);
    let scale = u64_at(bytes, 16, "fscale")?;
    if scale == 0 {
        return Err(Malformed { offset: 16, expected: "a scale above 0" });
    }
    Ok([average(0)?, average(1)?, average(2)?].map(|average| average * 1000 / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_by_its_scale() {
        let bytes = |scale: u64| {
            let mut bytes: Vec<u8> =
                [1085u32, 24_576, u32::MAX, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.extend(scale.to_le_bytes());
            bytes
        };
        assert_eq!(thousandths(&bytes(2048)), Ok([529, 12_000, u64::from(u32::MAX) * 1000 / 2048]));
        assert!(thousandths(&bytes(0)).is_err());
        assert!(thousandths(&bytes(2048)[..23]).is_err());
    }
}
