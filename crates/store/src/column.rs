//! The values of one series in one block, compressed: docs/FORMAT.md.
//!
//! `checksum (4 bytes) | form (1) | which ticks | values`. Most series of a machine are whole numbers, many of them constant.

use pco::standalone::{simple_compress, simple_decompress};

use crate::StoreError;
use crate::varint;

/// The form of the values, in the byte behind the checksum.
const CONSTANT: u8 = 1;
const WHOLE: u8 = 2;
const FLOATS: u8 = 3;
/// Added to the form if some ticks have no value: a bitmap of the block's ticks stands before the values.
const WITH_GAPS: u8 = 0x80;

/// Beyond this not every whole number is a number of floating point.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;
const LEVEL: usize = 8;
/// Ticks of a block, at most.
pub(crate) const MOST_TICKS: usize = 4096;

/// Compresses values; `None` stands where a tick has none. `None` comes back if no tick has any.
pub(crate) fn encode(values: &[Option<f64>]) -> Option<Vec<u8>> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let first = *present.first()?;
    let mut body = Vec::new();
    let gaps = if present.len() < values.len() { WITH_GAPS } else { 0 };
    let is_constant = present.iter().all(|value| value.to_bits() == first.to_bits());
    let whole: Option<Vec<i64>> = present.iter().map(|value| whole_number(*value)).collect();
    body.push(
        gaps | if is_constant {
            CONSTANT
        } else if whole.is_some() {
            WHOLE
        } else {
            FLOATS
        },
    );
    if gaps != 0 {
        let mut bits = vec![0_u8; values.len().div_ceil(8)];
        for (place, _) in values.iter().enumerate().filter(|(_, value)| value.is_some()) {
            bits[place / 8] |= 1 << (place % 8);
        }
        body.extend(bits);
    }
    let config = pco::ChunkConfig::default().with_compression_level(LEVEL);
    match whole {
        _ if is_constant => body.extend(first.to_bits().to_le_bytes()),
        Some(whole) => body.extend(simple_compress(&whole, &config).ok()?),
        None => body.extend(simple_compress(&present, &config).ok()?),
    }
    let mut bytes = crc32fast::hash(&body).to_le_bytes().to_vec();
    bytes.extend(body);
    Some(bytes)
}

/// The values again, one for each of the block's ticks.
///
/// # Errors
/// If the bytes are not those that were written.
pub(crate) fn decode(bytes: &[u8], ticks: usize) -> Result<Vec<Option<f64>>, StoreError> {
    decode_checked(bytes, ticks).ok_or(StoreError::Damaged("a column"))
}

fn decode_checked(bytes: &[u8], ticks: usize) -> Option<Vec<Option<f64>>> {
    let (checksum, body) = bytes.split_first_chunk()?;
    if ticks > MOST_TICKS || crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (form, mut rest) = body.split_first()?;
    let mut has_value = vec![true; ticks];
    if form & WITH_GAPS != 0 {
        let (bits, values) = rest.split_at_checked(ticks.div_ceil(8))?;
        has_value = (0..ticks).map(|place| bits[place / 8] >> (place % 8) & 1 == 1).collect();
        rest = values;
    }
    let count = has_value.iter().filter(|has_value| **has_value).count();
    let values: Vec<f64> = match form & !WITH_GAPS {
        CONSTANT => vec![f64::from_bits(u64::from_le_bytes(*rest.first_chunk()?)); count],
        WHOLE => simple_decompress::<i64>(rest).ok()?.into_iter().map(|whole| whole as f64).collect(),
        FLOATS => simple_decompress::<f64>(rest).ok()?,
        _ => return None,
    };
    if values.len() != count {
        return None;
    }
    let mut values = values.into_iter();
    Some(has_value.into_iter().map(|has_value| if has_value { values.next() } else { None }).collect())
}

/// The whole number that a value is.
pub(crate) fn whole_number(value: f64) -> Option<i64> {
    let is_whole =
        value.abs() < MOST_WHOLE && value.trunc() == value && !(value == 0.0 && value.is_sign_negative());
    is_whole.then_some(value as i64)
}

/// Ticks' times, one after the other, in nanoseconds.
pub(crate) fn encode_times(times: &[i64]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    varint::push(&mut body, times.len() as u64);
    let config = pco::ChunkConfig::default().with_compression_level(LEVEL);
    body.extend(simple_compress(times, &config).ok()?);
    let mut bytes = crc32fast::hash(&body).to_le_bytes().to_vec();
    bytes.extend(body);
    Some(bytes)
}

/// The times again.
///
/// # Errors
/// If the bytes are not those that were written.
pub(crate) fn decode_times(bytes: &[u8]) -> Result<Vec<i64>, StoreError> {
    let decode = || {
        let (checksum, mut body) = bytes.split_first_chunk()?;
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let count = varint::take(&mut body)?;
        let times = simple_decompress::<i64>(body).ok()?;
        (times.len() as u64 == count && times.len() <= MOST_TICKS).then_some(times)
    };
    decode().ok_or(StoreError::Damaged("a block's times"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_come_back_to_the_bit() {
        let counter: Vec<Option<f64>> = (0..600).map(|tick| Some(f64::from(tick * tick))).collect();
        let ratio: Vec<Option<f64>> = (0..600).map(|tick| Some(f64::from(tick).sin())).collect();
        let constant = vec![Some(7.0); 600];
        let odd = vec![Some(f64::NAN), None, Some(-0.0), Some(f64::INFINITY), None, Some(1e300)];
        for values in [&counter, &ratio, &constant, &odd] {
            let bytes = encode(values).unwrap();
            let back = decode(&bytes, values.len()).unwrap();
            let bits = |values: &[Option<f64>]| -> Vec<_> {
                values.iter().map(|value| value.map(f64::to_bits)).collect()
            };
            assert_eq!(bits(&back), bits(values));
        }
        assert!(encode(&constant).unwrap().len() < 16);
        assert!(encode(&counter).unwrap().len() < 200);
        assert!(encode(&[None, None]).is_none());
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let values: Vec<Option<f64>> = (0..100).map(|tick| Some(f64::from(tick % 17))).collect();
        let bytes = encode(&values).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&flipped, 100).is_err(), "{bit}");
        }
    }

    proptest! {
        #[test]
        fn any_values_come_back(values: Vec<Option<f64>>) {
            if let Some(bytes) = encode(&values) {
                let back = decode(&bytes, values.len()).unwrap();
                let bits = |values: &[Option<f64>]| -> Vec<_> { values.iter().map(|value| value.map(f64::to_bits)).collect() };
                prop_assert_eq!(bits(&back), bits(&values));
            }
        }

        #[test]
        fn times_come_back(times: Vec<i64>) {
            let bytes = encode_times(&times).unwrap();
            prop_assert_eq!(decode_times(&bytes).unwrap(), times);
        }
    }
}
