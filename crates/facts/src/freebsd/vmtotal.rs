//! `vm.vmtotal`: `struct vmtotal` of sys/vmmeter.h, whose last members count threads by state.

use super::at;
use crate::cursor::Malformed;

/// Where the counts begin: behind nine `uint64_t`, as since FreeBSD 12.
pub const COUNTS: usize = 72;

/// Threads in the run queue, and all that the kernel counts: those that run or wait for a CPU, wait for a disk or for a page, sleep, or
/// are swapped out. Threads of the kernel are not among them.
///
/// # Errors
/// If the bytes are too few.
pub fn threads(bytes: &[u8]) -> Result<(u64, u64), Malformed> {
    let count = |index: usize| {
        // Signed in the header, where more than 32,767 would be below zero.
        Ok(u64::from(u16::from_le_bytes(at(bytes, COUNTS + index * 2, "a count of threads")?)))
    };
    let runnable = count(0)?;
    // The third, those that wait for a page, are among the second.
    Ok((runnable, runnable + count(1)? + count(3)? + count(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_counts_behind_nine_sizes() {
        let mut bytes = vec![0xff; COUNTS];
        bytes.extend([2i16, 1, 1, 40, 3, 0, 0, 0].iter().flat_map(|count| count.to_le_bytes()));
        assert_eq!(threads(&bytes), Ok((2, 46)));
        assert!(threads(&bytes[..COUNTS + 9]).is_err());
    }
}
