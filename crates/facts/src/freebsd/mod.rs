//! FreeBSD: the bytes that sysctl(3) hands out, one node or struct, one module.
//!
//! All of it is of amd64: little-endian, 64-bit longs. Lengths come from the kernel and are checked before a byte is
//! looked at; a buffer that is too short is malformed, one that is longer is of a newer kernel.

pub mod acpi_battery;
pub mod boottime;
pub mod cp_time;
pub mod ifmibdata;
pub mod kinfo_proc;
pub mod loadavg;
pub mod swap;
pub mod temperature;
pub mod vm_stats;
pub mod vmtotal;

use crate::cursor::Malformed;

/// Bytes at an offset.
fn at<const N: usize>(bytes: &[u8], offset: usize, expected: &'static str) -> Result<[u8; N], Malformed> {
    let found = bytes.get(offset..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(Malformed { offset: bytes.len(), expected })
}

fn u64_at(bytes: &[u8], offset: usize, expected: &'static str) -> Result<u64, Malformed> {
    at(bytes, offset, expected).map(u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize, expected: &'static str) -> Result<u32, Malformed> {
    at(bytes, offset, expected).map(u32::from_le_bytes)
}

/// A node that is a number of 4 or 8 bytes, as wide as the kernel likes: an `int` or a `long`, `u_int` or `u_long`.
///
/// # Errors
/// If it is of another length.
pub fn number(bytes: &[u8]) -> Result<u64, Malformed> {
    match bytes.len() {
        4 => u32_at(bytes, 0, "a number").map(u64::from),
        8 => u64_at(bytes, 0, "a number"),
        offset => Err(Malformed { offset, expected: "a number of 4 or 8 bytes" }),
    }
}

/// A node that is an `int`, which may be below zero.
///
/// # Errors
/// If it is shorter.
pub fn integer(bytes: &[u8]) -> Result<i32, Malformed> {
    u32_at(bytes, 0, "an int").map(u32::cast_signed)
}

/// Returns the bytes before the first zero.
fn c_string(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_wide_as_the_kernel_likes() {
        assert_eq!(number(&[0xff; 4]), Ok(u64::from(u32::MAX)));
        assert_eq!(number(&u64::MAX.to_le_bytes()), Ok(u64::MAX));
        assert_eq!(integer(&(-1i32).to_le_bytes()), Ok(-1));
        for length in [0, 1, 3, 5, 7, 9] {
            assert!(number(&vec![1; length]).is_err(), "{length}");
        }
        assert!(integer(&[0; 3]).is_err());
    }
}
