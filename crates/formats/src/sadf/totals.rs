//! How much memory there was, which sar does not print: it follows from what was free and used.

use serde_json::{Map, Value};

/// By so much may a total differ from what the percentage says, in parts of it, beside the rounding of that.
const SLACK: f64 = 1e-4;
/// The least percentage from which a total is computed: the two decimals of smaller ones say it too roughly.
const MIN_PERCENT: f64 = 5.0;

/// The total of memory in KiB. What sar calls used is without caches since sysstat 12; the percentage says which it is. Where no sum agrees with that,
/// the total is what the percentage is of, to a thousandth.
pub(super) fn memory_kib(fields: &Map<String, Value>) -> Option<f64> {
    let field = |name: &str| fields.get(name).and_then(Value::as_f64);
    let (free, used, percent) = (field("memfree")?, field("memused")?, field("memused-percent")?);
    if used <= 0.0 || percent <= 0.0 {
        return None;
    }
    let caches = field("buffers").zip(field("cached")).map(|(buffers, cached)| buffers + cached);
    let with_caches = caches.map(|caches| free + used + caches + field("slab").unwrap_or(0.0));
    let estimated = used * 100.0 / percent;
    let tolerated = estimated * (0.005 / percent + SLACK);
    let sums = [Some(free + used), with_caches].into_iter().flatten();
    let exact = sums.filter(|sum| (sum - estimated).abs() <= tolerated);
    let nearest = exact.min_by(|one, other| (one - estimated).abs().total_cmp(&(other - estimated).abs()));
    nearest.or_else(|| (percent >= MIN_PERCENT).then(|| estimated.round()))
}

/// The total of swap in KiB.
pub(super) fn swap_kib(fields: &Map<String, Value>) -> Option<f64> {
    let field = |name: &str| fields.get(name).and_then(Value::as_f64);
    Some(field("swpfree")? + field("swpused")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(text: &str) -> Option<f64> {
        memory_kib(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap())
    }

    #[test]
    fn totals_are_the_sum_that_agrees() {
        // Used is everything that is not free.
        let old =
            "{\"memfree\":1000,\"memused\":7000,\"memused-percent\":87.5,\"buffers\":100,\"cached\":4000}";
        assert_eq!(total(old), Some(8000.0));
        // Used is without caches and slab.
        let new = "{\"memfree\":1000,\"memused\":2000,\"memused-percent\":25.0,\"buffers\":500,\"cached\":4000,\"slab\":500}";
        assert_eq!(total(new), Some(8000.0));
        // The same without slab: what the percentage is of.
        let without = new.replace(",\"slab\":500", "");
        assert_eq!(total(&without), Some(8000.0));
        assert_eq!(
            total("{\"memfree\":1000,\"memused\":20,\"memused-percent\":0.25,\"buffers\":1,\"cached\":1}"),
            None
        );
        assert_eq!(total("{\"memfree\":1000}"), None);
    }
}
