//! `vm.swap_info`: `struct xswdev` of vm/vm_param.h, one for each swap device, by its number from 0 until ENOENT.

use super::u32_at;
use super::vm_stats::SwapPages;
use crate::cursor::Malformed;

/// The version whose device number is 64 bits wide, as it is since FreeBSD 12.
const VERSION_64: u32 = 2;

/// One device.
///
/// # Errors
/// If the bytes are too few or of a version that is not known.
pub fn parse(bytes: &[u8]) -> Result<SwapPages, Malformed> {
    let blocks = match u32_at(bytes, 0, "a version")? {
        VERSION_64 => 20,
        1 => 12,
        _ => return Err(Malformed { offset: 0, expected: "version 1 or 2 of struct xswdev" }),
    };
    let total = u64::from(u32_at(bytes, blocks, "xsw_nblks")?);
    Ok(SwapPages { total, used: u64::from(u32_at(bytes, blocks + 4, "xsw_used")?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_widths_of_the_device_number() {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let expected = Ok(SwapPages { total: 1000, used: 10 });
        assert_eq!(parse(&words(&[2, 0, 9, 9, 1, 1000, 10, 0])), expected);
        assert_eq!(parse(&words(&[1, 9, 1, 1000, 10])), expected);
        assert!(parse(&words(&[3, 0, 0, 0, 0, 0, 0, 0])).is_err());
        assert!(parse(&words(&[2, 0, 9, 9, 1, 1000])).is_err());
        assert!(parse(&[]).is_err());
    }
}
