//! `kern.boottime`: a `struct timeval`, when the machine started.

use super::u64_at;
use crate::cursor::Malformed;
use crate::unit::Nanos;

/// Since 1970.
///
/// # Errors
/// If the bytes are too few, or the time lies before 1970.
pub fn parse(bytes: &[u8]) -> Result<Nanos, Malformed> {
    let part = |offset| {
        let value = u64_at(bytes, offset, "a struct timeval")?.cast_signed();
        u64::try_from(value).map_err(|_| Malformed { offset, expected: "a time after 1970" })
    };
    let seconds = Nanos(part(0)?.saturating_mul(Nanos::SECOND.0));
    Ok(seconds + Nanos::from_micros(part(8)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_microseconds() {
        let bytes = |seconds: i64, micros: i64| [seconds.to_le_bytes(), micros.to_le_bytes()].concat();
        assert_eq!(parse(&bytes(1_562_100_000, 500_000)), Ok(Nanos(1_562_100_000_500_000_000)));
        assert!(parse(&bytes(-1, 0)).is_err());
        assert!(parse(&bytes(i64::MAX, i64::MAX)).is_ok());
        assert!(parse(&bytes(1, 1)[..15]).is_err());
    }
}
