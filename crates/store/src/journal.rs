//! A tick in the journal: what is different from the tick before it in its block.
//!
//! `realtime | boot clock | monotonic clock | changes`; a change is a series, how it changed, and by how much. The first tick of a block
//! is different from nothing, so that a block's ticks need no other. Entries are differences because most series stand still.

use facts::sample::Clock;
use facts::unit::Nanos;
use facts::varint;

use crate::column::integer;
use crate::series::SeriesId;

/// How a value changed, in the lowest bits of the number of its series.
const BY_INTEGER: u64 = 0;
const TO: u64 = 1;
const GONE: u64 = 2;

/// The values of a tick, in the order of their series.
pub(crate) type Values = Vec<(SeriesId, f64)>;

/// The entry of a tick with these values, after one that left others.
pub(crate) fn encode(clock: Clock, before: &Values, now: &Values) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24 + now.len() * 4);
    push_clock(&mut bytes, clock);
    let mut last = 0;
    let mut push = |bytes: &mut Vec<u8>, id: SeriesId, how: u64| {
        varint::push(bytes, u64::from(id.0 - last) << 2 | how);
        last = id.0;
    };
    let mut old = before.iter().peekable();
    for (id, value) in now {
        while let Some((gone, _)) = old.next_if(|(old, _)| old < id) {
            push(&mut bytes, *gone, GONE);
        }
        let old = old.next_if(|(old, _)| old == id).map(|(_, value)| *value);
        if old.is_some_and(|old| old.to_bits() == value.to_bits()) {
            continue;
        }
        let difference =
            integer(*value).zip(integer(old.unwrap_or(0.0))).and_then(|(value, old)| value.checked_sub(old));
        match difference {
            Some(difference) => {
                push(&mut bytes, *id, BY_INTEGER);
                varint::push(&mut bytes, varint::zigzag(difference));
            }
            None => {
                push(&mut bytes, *id, TO);
                bytes.extend(value.to_bits().to_le_bytes());
            }
        }
    }
    for (gone, _) in old {
        push(&mut bytes, *gone, GONE);
    }
    // It stays in memory until its block is full.
    bytes.shrink_to_fit();
    bytes
}

/// How a series changed.
enum Change {
    By(i64),
    To(f64),
    Gone,
}

impl Change {
    /// The value after it; `None` within if the series is gone, `None` without if that cannot be.
    fn apply(self, before: Option<f64>) -> Option<Option<f64>> {
        Some(match self {
            Self::By(difference) => Some(integer(before.unwrap_or(0.0))?.checked_add(difference)? as f64),
            Self::To(value) => Some(value),
            Self::Gone => None,
        })
    }
}

/// Takes the next change; `last` is the series of the one before it.
fn take_change(bytes: &mut &[u8], last: &mut u32) -> Option<(SeriesId, Change)> {
    let head = varint::take(bytes)?;
    *last = last.checked_add(u32::try_from(head >> 2).ok()?)?;
    let change = match head & 3 {
        BY_INTEGER => Change::By(varint::unzigzag(varint::take(bytes)?)),
        TO => {
            let (bits, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Change::To(f64::from_bits(u64::from_le_bytes(*bits)))
        }
        GONE => Change::Gone,
        _ => return None,
    };
    Some((SeriesId(*last), change))
}

/// The time of an entry's tick. The values of the tick before it become its own. `None` if the bytes are no entry; the values are then
/// those of no tick.
pub(crate) fn apply(mut bytes: &[u8], values: &mut Values) -> Option<Clock> {
    let clock = take_clock(&mut bytes)?;
    let (mut place, mut last) = (0, 0);
    while !bytes.is_empty() {
        let (id, change) = take_change(&mut bytes, &mut last)?;
        while values.get(place).is_some_and(|(known, _)| *known < id) {
            place += 1;
        }
        let known = values.get_mut(place).filter(|(known, _)| *known == id);
        match (change.apply(known.as_ref().map(|(_, value)| *value))?, known) {
            (Some(value), Some(known)) => known.1 = value,
            (Some(value), None) => values.insert(place, (id, value)),
            (None, Some(_)) => drop(values.remove(place)),
            (None, None) => {}
        }
    }
    Some(clock)
}

/// The time of an entry's tick.
pub(crate) fn decode_clock(mut bytes: &[u8]) -> Option<Clock> {
    take_clock(&mut bytes)
}

/// Reads the time of an entry's tick and the value of one series, which replaces the value of the tick before it.
pub(crate) fn decode_one(mut bytes: &[u8], wanted: SeriesId, value: &mut Option<f64>) -> Option<Clock> {
    let clock = take_clock(&mut bytes)?;
    let mut last = 0;
    while !bytes.is_empty() {
        let (id, change) = take_change(&mut bytes, &mut last)?;
        if id >= wanted {
            if id == wanted {
                *value = change.apply(*value)?;
            }
            break;
        }
    }
    Some(clock)
}

fn push_clock(bytes: &mut Vec<u8>, clock: Clock) {
    for time in [clock.realtime, clock.boottime, clock.monotonic] {
        bytes.extend(time.0.to_le_bytes());
    }
}

fn take_clock(bytes: &mut &[u8]) -> Option<Clock> {
    let mut take = || {
        let (time, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(Nanos(u64::from_le_bytes(*time)))
    };
    Some(Clock { realtime: take()?, boottime: take()?, monotonic: take()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn bits(values: &Values) -> Vec<(SeriesId, u64)> {
        values.iter().map(|(id, value)| (*id, value.to_bits())).collect()
    }

    #[test]
    fn a_quiet_tick_is_small() {
        let before: Values = (0..500).map(|id| (SeriesId(id), f64::from(id) * 1e6)).collect();
        let mut now = before.clone();
        now[7].1 = 7_000_042.0;
        let clock = Clock { realtime: Nanos(5), boottime: Nanos(6), monotonic: Nanos(4) };
        let bytes = encode(clock, &before, &now);
        assert!(bytes.len() <= 26, "{}", bytes.len());
        let mut read = before.clone();
        let read_clock = apply(&bytes, &mut read).unwrap();
        assert_eq!((read_clock, bits(&read)), (clock, bits(&now)));
    }

    proptest! {
        #[test]
        fn any_tick_after_any_other_is_decoded(
            before: BTreeMap<u16, f64>, now: BTreeMap<u16, f64>, times: [u64; 3]
        ) {
            let of = |map: BTreeMap<u16, f64>| -> Values { map.into_iter().map(|(id, value)| (SeriesId(id.into()), value)).collect() };
            let clock = Clock { realtime: Nanos(times[0]), boottime: Nanos(times[1]), monotonic: Nanos(times[2]) };
            let (before, now) = (of(before), of(now));
            let entry = encode(clock, &before, &now);
            let mut read = before.clone();
            let read_clock = apply(&entry, &mut read).unwrap();
            prop_assert_eq!((read_clock, bits(&read)), (clock, bits(&now)));
            for (id, _) in before.iter().chain(&now) {
                let of = |values: &Values| values.iter().find(|(other, _)| other == id).map(|(_, value)| *value);
                let mut value = of(&before);
                decode_one(&entry, *id, &mut value).unwrap();
                prop_assert_eq!(value.map(f64::to_bits), of(&now).map(f64::to_bits));
            }
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>, before: BTreeMap<u8, f64>) {
            let mut values: Values = before.into_iter().map(|(id, value)| (SeriesId(id.into()), value)).collect();
            let _ = apply(&bytes, &mut values);
            let _ = decode_one(&bytes, SeriesId(7), &mut Some(1.0));
        }
    }
}
