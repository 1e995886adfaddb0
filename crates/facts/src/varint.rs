//! Numbers in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number.
pub fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front; `None` if it has no end, or no room in 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(first & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Small numbers of either sign as small numbers.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Back from [`zigzag`].
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// An optional number as a number: 0 if it is absent.
pub fn optional(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.wrapping_add(1))
}

/// Back from [`optional`].
pub fn present(number: u64) -> Option<u64> {
    number.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64, more: Vec<u8>) {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            bytes.extend(&more);
            let mut rest = bytes.as_slice();
            prop_assert_eq!((take(&mut rest), rest), (Some(number), more.as_slice()));
            prop_assert_eq!(unzigzag(zigzag(signed)), signed);
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>) {
            let _ = take(&mut bytes.as_slice());
        }
    }
}
