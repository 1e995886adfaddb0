//! A tick in the journal: what is different from the tick before it in its block.
//!
//! `checksum (4 bytes) | time | boot clock | changes`; a change is a series, how it changed, and by how much. The first tick of a
//! block is a change from nothing, so that a block's ticks need no other.

use std::collections::BTreeMap;

use crate::StoreError;
use crate::column::whole_number;
use crate::series::SeriesId;
use crate::varint;

/// How a value changed, in the lowest bits of the number of its series.
const BY_WHOLE: u64 = 0;
const TO: u64 = 1;
const GONE: u64 = 2;

/// The values that a tick left, by series.
pub(crate) type Values = BTreeMap<SeriesId, f64>;

/// When a tick was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickTime {
    /// Nanoseconds since 1970, by the clock as it was set then.
    pub(crate) realtime_ns: i64,
    /// Nanoseconds since the machine started, suspends included.
    pub(crate) boottime_ns: i64,
}

/// The entry of a tick with these values, after one that left others.
pub(crate) fn encode(time: TickTime, before: &Values, now: &Values) -> Vec<u8> {
    let mut body = Vec::with_capacity(16 + now.len() * 4);
    body.extend(time.realtime_ns.to_le_bytes());
    body.extend(time.boottime_ns.to_le_bytes());
    let mut last = 0;
    let mut push = |body: &mut Vec<u8>, id: SeriesId, how: u64| {
        // Series come in their order, so that the steps between them are small.
        varint::push(body, u64::from(id.0 - last) << 2 | how);
        last = id.0;
    };
    let mut old = before.iter().peekable();
    for (id, value) in now {
        while let Some((gone, _)) = old.next_if(|(old, _)| *old < id) {
            push(&mut body, *gone, GONE);
        }
        let old = old.next_if(|(old, _)| *old == id).map(|(_, value)| *value);
        if old.is_some_and(|old| old.to_bits() == value.to_bits()) {
            continue;
        }
        let difference = whole_number(*value)
            .zip(whole_number(old.unwrap_or(0.0)))
            .and_then(|(value, old)| value.checked_sub(old));
        match difference {
            Some(difference) => {
                push(&mut body, *id, BY_WHOLE);
                varint::push(&mut body, varint::zigzag(difference));
            }
            None => {
                push(&mut body, *id, TO);
                body.extend(value.to_bits().to_le_bytes());
            }
        }
    }
    for (gone, _) in old {
        push(&mut body, *gone, GONE);
    }
    let mut bytes = crc32fast::hash(&body).to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// Makes the values of the tick before those of the entry's, and returns its time.
///
/// # Errors
/// If the entry is not what was written; the values may then be anything.
pub(crate) fn apply(bytes: &[u8], values: &mut Values) -> Result<TickTime, StoreError> {
    apply_checked(bytes, values).ok_or(StoreError::Damaged("a tick"))
}

fn apply_checked(bytes: &[u8], values: &mut Values) -> Option<TickTime> {
    let (checksum, body) = bytes.split_first_chunk()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (realtime_ns, rest) = body.split_first_chunk()?;
    let (boottime_ns, mut rest) = rest.split_first_chunk()?;
    let mut last = 0_u32;
    while !rest.is_empty() {
        let head = varint::take(&mut rest)?;
        last = last.checked_add(u32::try_from(head >> 2).ok()?)?;
        let id = SeriesId(last);
        match head & 3 {
            BY_WHOLE => {
                let old = whole_number(values.get(&id).copied().unwrap_or(0.0))?;
                let value = old.checked_add(varint::unzigzag(varint::take(&mut rest)?))?;
                values.insert(id, value as f64);
            }
            TO => {
                let (bits, behind) = rest.split_first_chunk()?;
                rest = behind;
                values.insert(id, f64::from_bits(u64::from_le_bytes(*bits)));
            }
            GONE => drop(values.remove(&id)),
            _ => return None,
        }
    }
    Some(TickTime {
        realtime_ns: i64::from_le_bytes(*realtime_ns),
        boottime_ns: i64::from_le_bytes(*boottime_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(pairs: &[(u32, f64)]) -> Values {
        pairs.iter().map(|(id, value)| (SeriesId(*id), *value)).collect()
    }

    fn bits(values: &Values) -> Vec<(SeriesId, u64)> {
        values.iter().map(|(id, value)| (*id, value.to_bits())).collect()
    }

    #[test]
    fn a_quiet_tick_is_small() {
        let before = values(&(0..500).map(|id| (id, f64::from(id) * 1e6)).collect::<Vec<_>>());
        let mut now = before.clone();
        now.insert(SeriesId(7), 7_000_042.0);
        let time = TickTime { realtime_ns: 5, boottime_ns: 6 };
        let bytes = encode(time, &before, &now);
        assert!(bytes.len() <= 22, "{}", bytes.len());
        let mut read = before;
        assert_eq!(apply(&bytes, &mut read).unwrap(), time);
        assert_eq!(bits(&read), bits(&now));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(apply(&flipped, &mut read.clone()).is_err(), "{bit}");
        }
    }

    proptest! {
        #[test]
        fn any_tick_after_any_other_comes_back(
            before: BTreeMap<u16, f64>, now: BTreeMap<u16, f64>, realtime_ns: i64, boottime_ns: i64
        ) {
            let of = |map: BTreeMap<u16, f64>| -> Values { map.into_iter().map(|(id, value)| (SeriesId(id.into()), value)).collect() };
            let (before, now, time) = (of(before), of(now), TickTime { realtime_ns, boottime_ns });
            let bytes = encode(time, &before, &now);
            let mut read = before;
            prop_assert_eq!(apply(&bytes, &mut read).unwrap(), time);
            prop_assert_eq!(bits(&read), bits(&now));
        }

        #[test]
        fn nothing_panics(body: Vec<u8>) {
            let mut bytes = crc32fast::hash(&body).to_le_bytes().to_vec();
            bytes.extend(body);
            let _ = apply(&bytes, &mut Values::new());
        }
    }
}
