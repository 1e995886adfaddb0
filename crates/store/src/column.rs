//! The values of one series in one block, compressed: docs/FORMAT.md.
//!
//! `form (1 byte) | ticks that have a value | values`. Most series of a machine are integers, and many are constant.

use facts::varint;

use crate::numbers;

/// The form of the values.
const CONSTANT: u8 = 1;
const INTEGERS: u8 = 2;
const FLOATS: u8 = 3;
/// Added to the form if some ticks have no value: a bitmap of the block's ticks stands before the values.
const WITH_GAPS: u8 = 0x80;

/// Above this, floating point does not represent every integer.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Compresses values; `None` stands where a tick has none. Returns `None` if no tick has any.
pub(crate) fn encode(values: &[Option<f64>]) -> Option<Vec<u8>> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let first = *present.first()?;
    let is_constant = present.iter().all(|value| value.to_bits() == first.to_bits());
    let integers: Option<Vec<i64>> = present.iter().map(|value| integer(*value)).collect();
    let (form, data) = match integers {
        _ if is_constant => (CONSTANT, first.to_bits().to_le_bytes().to_vec()),
        Some(integers) => (INTEGERS, numbers::encode(&integers)?),
        None => (FLOATS, numbers::encode(&present)?),
    };
    let mut bytes = vec![form];
    if present.len() < values.len() {
        bytes[0] |= WITH_GAPS;
        let mut bits = vec![0_u8; values.len().div_ceil(8)];
        for (place, _) in values.iter().enumerate().filter(|(_, value)| value.is_some()) {
            bits[place / 8] |= 1 << (place % 8);
        }
        bytes.extend(bits);
    }
    bytes.extend(data);
    Some(bytes)
}

/// The values again, one for each of the block's ticks; `None` if the bytes are other ones.
pub(crate) fn decode(bytes: &[u8], ticks: usize) -> Option<Vec<Option<f64>>> {
    let (form, rest) = bytes.split_first()?;
    if form & WITH_GAPS == 0 {
        return Some(decode_values(*form, rest, ticks)?.into_iter().map(Some).collect());
    }
    let (bits, rest) = rest.split_at_checked(ticks.div_ceil(8))?;
    let has_value = |tick: usize| bits[tick / 8] >> (tick % 8) & 1 == 1;
    let count = (0..ticks).filter(|tick| has_value(*tick)).count();
    let mut values = decode_values(form & !WITH_GAPS, rest, count)?.into_iter();
    Some((0..ticks).map(|tick| if has_value(tick) { values.next() } else { None }).collect())
}

fn decode_values(form: u8, bytes: &[u8], count: usize) -> Option<Vec<f64>> {
    Some(match form {
        CONSTANT => vec![f64::from_bits(u64::from_le_bytes(*bytes.first_chunk()?)); count],
        INTEGERS => numbers::decode::<i64>(bytes, count)?.into_iter().map(|integer| integer as f64).collect(),
        FLOATS => numbers::decode(bytes, count)?,
        _ => return None,
    })
}

/// The integer that a value is.
pub(crate) fn integer(value: f64) -> Option<i64> {
    let is_integer =
        value.abs() < MAX_INTEGER && value.trunc() == value && !(value == 0.0 && value.is_sign_negative());
    is_integer.then_some(value as i64)
}

/// Several columns in one blob, each behind its length.
pub(crate) fn join(columns: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    columns.iter().for_each(|column| push(&mut bytes, column));
    bytes
}

/// Appends one of them.
pub(crate) fn push(bytes: &mut Vec<u8>, column: &[u8]) {
    varint::push(bytes, column.len() as u64);
    bytes.extend(column);
}

/// The next of joined columns.
pub(crate) fn split<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(varint::take(bytes)?).ok()?;
    let (column, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(values: &[Option<f64>]) -> Vec<Option<u64>> {
        values.iter().map(|value| value.map(f64::to_bits)).collect()
    }

    #[test]
    fn values_are_the_same_to_the_bit() {
        let counter: Vec<Option<f64>> = (0..600).map(|tick| Some(f64::from(tick * tick))).collect();
        let ratio: Vec<Option<f64>> = (0..600).map(|tick| Some(f64::from(tick).sin())).collect();
        let constant = vec![Some(7.0); 600];
        let odd = vec![Some(f64::NAN), None, Some(-0.0), Some(f64::INFINITY), None, Some(1e300)];
        for values in [&counter, &ratio, &constant, &odd] {
            let bytes = encode(values).unwrap();
            assert_eq!(bits(&decode(&bytes, values.len()).unwrap()), bits(values));
        }
        assert!(encode(&constant).unwrap().len() < 12);
        assert!(encode(&counter).unwrap().len() < 200);
        assert!(encode(&[None, None]).is_none());
    }

    proptest! {
        #[test]
        fn any_values_are_decoded(values: Vec<Option<f64>>) {
            if let Some(bytes) = encode(&values) {
                prop_assert_eq!(bits(&decode(&bytes, values.len()).unwrap()), bits(&values));
            }
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>, ticks in 0..5000_usize) {
            let _ = decode(&bytes, ticks);
            let _ = split(&mut bytes.as_slice());
        }
    }
}
