//! When a check is due: at its own place in each interval, which its name decides. It keeps this place when the agent is restarted and
//! when other checks come and go, and many checks are spread evenly.

/// The place of a name in intervals of a length, in milliseconds.
pub(super) fn offset_ms(name: &str, interval_ms: i64) -> i64 {
    let interval_ms = interval_ms.max(1);
    // The upper half of the product: even for any length.
    ((u128::from(hash(name)) * interval_ms.unsigned_abs() as u128) >> 64) as i64
}

/// The first instant after `now_ms` that is a name's, in milliseconds since 1970.
pub(super) fn next_ms(name: &str, interval_ms: i64, now_ms: i64) -> i64 {
    next_at_ms(offset_ms(name, interval_ms), interval_ms, now_ms)
}

/// Returns the first instant after `now_ms` for an offset that is known.
pub(super) fn next_at_ms(offset_ms: i64, interval_ms: i64, now_ms: i64) -> i64 {
    let interval_ms = interval_ms.max(1);
    let passed = now_ms.saturating_sub(offset_ms).div_euclid(interval_ms);
    (passed + 1).saturating_mul(interval_ms).saturating_add(offset_ms)
}

/// FNV-1a, mixed: the same in every version of whit.
pub(super) fn hash(name: &str) -> u64 {
    let fnv = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The finalizer of MurmurHash3: names that differ in their last letter differ in all bits.
    let mixed = (fnv ^ fnv >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_place() {
        let first = next_ms("web1/http", 300_000, 1_700_000_000_000);
        assert!((1_700_000_000_001..=1_700_000_300_000).contains(&first));
        assert_eq!(next_ms("web1/http", 300_000, first - 1), first);
        assert_eq!(next_ms("web1/http", 300_000, first), first + 300_000);
        assert_eq!(next_ms("web1/http", 300_000, -5) % 300_000, first % 300_000);
        // Written down: another version must not move it.
        assert_eq!(offset_ms("web1/http", 300_000), 271_198);
    }

    #[test]
    fn names_are_spread_evenly() {
        let mut seconds = [0_u32; 300];
        for host in 0..1166 {
            for service in 0..12 {
                let at = offset_ms(&format!("host{host}/service{service}"), 300_000) / 1000;
                seconds[usize::try_from(at).unwrap()] += 1;
            }
        }
        // 46.6 a second; chance alone is 46.6 ± 6.8.
        assert!(seconds.iter().all(|count| (15..90).contains(count)), "{seconds:?}");
    }
}
