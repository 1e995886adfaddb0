//! `vm.vmtotal`: `struct vmtotal` of sys/vmmeter.h, whose last members count threads by state.

use super::at;
use crate::cursor::Malformed;

/// Where the counts begin: behind nine `uint64_t`, as since FreeBSD 12.
pub const COUNTS: usize = 72;

/// Threads in the run queue, and all: those that run or wait for a CPU, for a disk, for a page, or sleep.
///
/// # Errors
/// Where the bytes are too few.
pub fn threads(bytes: &[u8]) -> Result<(u64, u64), Malformed> {
    let count = |index: usize| {
        let count = i16::from_le_bytes(at(bytes, COUNTS + index * 2, "a count of threads")?);
        Ok(u64::try_from(count).unwrap_or(0))
    };
    let runnable = count(0)?;
    Ok((runnable, runnable + count(1)? + count(2)? + count(3)? + count(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_counts_behind_nine_sizes() {
        let mut bytes = vec![0xff; COUNTS];
        bytes.extend([2i16, 1, 0, 40, 3, 0, 0, 0].iter().flat_map(|count| count.to_le_bytes()));
        assert_eq!(threads(&bytes), Ok((2, 46)));
        assert!(threads(&bytes[..COUNTS + 9]).is_err());
    }
}
