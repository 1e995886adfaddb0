//! The kinds of values that options take, within the bounds that make sense here: the grammar is [`text::quantity`]'s.

use std::ops::RangeInclusive;
use std::time::Duration;

use facts::unit::{Bytes, Nanos};
use text::quantity;

const SECONDS_A_YEAR: u64 = 31_536_000;

fn within(text: &str, range: RangeInclusive<Nanos>, bounds: &str) -> Result<Duration, String> {
    let nanos = quantity::duration(text)?;
    if range.contains(&nanos) { Ok(Duration::from_nanos(nanos.0)) } else { Err(format!("from {bounds}")) }
}

/// How long something takes.
pub fn duration(text: &str) -> Result<Duration, String> {
    within(text, Nanos(1_000_000)..=Nanos(SECONDS_A_YEAR * Nanos::SECOND.0), "1ms to 1y")
}

/// How often something is repeated.
pub fn interval(text: &str) -> Result<Duration, String> {
    within(text, Nanos(10_000_000)..=Nanos(SECONDS_A_YEAR * Nanos::SECOND.0), "10ms to 1y")
}

/// How long to wait; 0: not at all.
pub fn wait(text: &str) -> Result<Duration, String> {
    within(text, Nanos(0)..=Nanos(SECONDS_A_YEAR * Nanos::SECOND.0), "0 to 1y")
}

/// How old something is.
pub fn age(text: &str) -> Result<Nanos, String> {
    quantity::age(text)
}

/// Bytes.
pub fn size(text: &str) -> Result<Bytes, String> {
    quantity::size(text)
}

/// How many, at least one.
pub fn count(text: &str) -> Result<u64, String> {
    quantity::count(text).and_then(|count| if count > 0 { Ok(count) } else { Err("at least 1".to_owned()) })
}

/// How many, or none.
pub fn amount(text: &str) -> Result<u64, String> {
    quantity::count(text)
}

/// Threads that share a work.
pub fn workers(text: &str) -> Result<u64, String> {
    count(text).and_then(|workers| if workers <= 256 { Ok(workers) } else { Err("from 1 to 256".to_owned()) })
}

/// How many in a second.
pub fn rate(text: &str) -> Result<f64, String> {
    const POSSIBLE: RangeInclusive<f64> = 0.001..=1e9;
    let rate = quantity::number(text)?;
    if POSSIBLE.contains(&rate) { Ok(rate) } else { Err("from 0.001 to 1G a second".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_bounds() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert!(duration("0").is_err() && duration("2y").is_err() && interval("1ms").is_err());
        assert_eq!((wait("0"), interval("0.5")), (Ok(Duration::ZERO), Ok(Duration::from_millis(500))));
        assert!(count("0").is_err() && count("1M") == Ok(1_000_000));
        assert!(rate("0").is_err() && rate("10k") == Ok(10_000.0));
    }
}
