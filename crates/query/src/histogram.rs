//! Quantiles of histograms: counters of what was at most so much, by the label `le`.

use std::collections::HashMap;

use formats::series_name::{METRIC, SeriesName};

use crate::error::QueryError;
use crate::number::parse;
use crate::value::{Column, merge_same};

const BOUND: &str = "le";

#[derive(Clone, Copy, Debug)]
struct Bucket {
    bound: f64,
    count: f64,
}

/// The quantiles of all histograms among the columns.
///
/// # Errors
/// If two histograms differ only in their metrics: their quantiles would have the same labels.
pub(crate) fn quantiles(parts: &[f64], columns: &[Column]) -> Result<Vec<Column>, QueryError> {
    let mut places: HashMap<SeriesName, usize> = HashMap::new();
    let mut histograms: Vec<(SeriesName, Vec<(f64, &Column)>)> = Vec::new();
    for column in columns {
        // Other series are left out.
        let Some(bound) = parse(column.name.get(BOUND)) else { continue };
        let mut name = column.name.clone();
        name.retain(|label| label != BOUND);
        let place = *places.entry(name).or_insert_with_key(|name| {
            histograms.push((name.clone(), Vec::new()));
            histograms.len() - 1
        });
        histograms[place].1.push((bound, column));
    }
    let quantiles = |columns: &[(f64, &Column)]| {
        let at_step = |(step, part): (usize, &f64)| {
            let bucket = |(bound, column): &(f64, &Column)| {
                Some(Bucket { bound: *bound, count: column.values[step]? })
            };
            let buckets: Vec<Bucket> = columns.iter().filter_map(bucket).collect();
            (!buckets.is_empty()).then(|| quantile(*part, buckets))
        };
        parts.iter().enumerate().map(at_step).collect()
    };
    let of_histogram = |(mut name, columns): (SeriesName, Vec<(f64, &Column)>)| {
        name.retain(|label| label != METRIC);
        Column { values: quantiles(&columns), name }
    };
    merge_same(histograms.into_iter().map(of_histogram).collect())
}

/// Between two bounds values are taken to lie evenly.
fn quantile(part: f64, mut buckets: Vec<Bucket>) -> f64 {
    if part.is_nan() {
        return f64::NAN;
    }
    if part < 0.0 {
        return f64::NEG_INFINITY;
    }
    if part > 1.0 {
        return f64::INFINITY;
    }
    buckets.sort_by(|one, other| one.bound.total_cmp(&other.bound));
    if buckets.last().is_none_or(|last| last.bound != f64::INFINITY) {
        return f64::NAN;
    }
    // Bounds that are the same number in other words.
    buckets.dedup_by(|next, before| {
        let is_same = next.bound == before.bound;
        if is_same {
            before.count += next.count;
        }
        is_same
    });
    // Counters that were not read at the same instant.
    let mut most = f64::NEG_INFINITY;
    for bucket in &mut buckets {
        most = if bucket.count > most || most.is_nan() { bucket.count } else { most };
        bucket.count = most;
    }
    let [.., before_last, last] = buckets[..] else { return f64::NAN };
    if last.count == 0.0 {
        return f64::NAN;
    }
    let rank = part * last.count;
    let place = buckets[..buckets.len() - 1].partition_point(|bucket| bucket.count < rank);
    if place == buckets.len() - 1 {
        return before_last.bound;
    }
    let Bucket { bound, count } = buckets[place];
    if place == 0 {
        return if bound <= 0.0 { bound } else { bound * (rank / count) };
    }
    let before = buckets[place - 1];
    before.bound + (bound - before.bound) * ((rank - before.count) / (count - before.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, count: f64) -> Column {
        Column { name: SeriesName::parse(name).unwrap(), values: vec![Some(count)] }
    }

    #[test]
    fn histograms_of_two_metrics_are_refused_as_prometheus_refuses_them() {
        let of = |metric: &str, job: &str| {
            [("1", 5.0), ("+Inf", 10.0)]
                .map(|(bound, count)| column(&format!("{metric}{{job=\"{job}\",le=\"{bound}\"}}"), count))
        };
        let apart = [of("a_bucket", "web"), of("b_bucket", "db")].concat();
        let found = quantiles(&[0.5], &apart).unwrap();
        assert_eq!(found.iter().map(|column| column.values[0]).collect::<Vec<_>>(), [Some(1.0), Some(1.0)]);
        let alike = [of("a_bucket", "web"), of("b_bucket", "web")].concat();
        let error = quantiles(&[0.5], &alike).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("same labelset"), "{error}");
    }
}
