//! Any bytes as a taskstats struct: refused, or an account whose parts add up.

use facts::linux::taskstats::{decode, expected_length};

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    for accounting_on in [None, Some(false), Some(true)] {
        let Ok(stats) = decode(data, accounting_on) else { continue };
        assert!(data.len() >= expected_length(stats.version));
        let breakdown = stats.row.sum_since_start(true).breakdown();
        let sum = breakdown.parts().into_iter().fold(0u64, |sum, part| sum.saturating_add(part.0));
        assert_eq!(sum, breakdown.whole.0);
    }
}
