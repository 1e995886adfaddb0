//! From a sample of the machine to values of series: the catalogue's names and labels.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use facts::catalog::{Kind, LabelValue, METRICS, Metric};
use facts::sample::Sample;
use store::{SeriesId, SeriesKind, Store};

/// The numbers and names of series, so that a tick makes no names.
#[derive(Debug, Default)]
pub(crate) struct MachineSeries {
    /// The place in `names` by a hash of the metric and its label values. Two of them have the same one with a probability of 2⁻⁶⁴.
    places: HashMap<u64, usize>,
    names: Vec<(String, SeriesId)>,
    /// The values of the last tick, by the place in `names`.
    values: Vec<(usize, f64)>,
}

impl MachineSeries {
    /// Takes the values of a sample.
    pub(crate) fn collect(&mut self, sample: &Sample, store: &mut Store) {
        let Self { places, names, values } = self;
        values.clear();
        for (number, metric) in METRICS.iter().enumerate() {
            metric.visit(sample, &mut |labels, value| {
                let place = *places.entry(key(number, labels)).or_insert_with(|| {
                    let name = name(metric, labels);
                    let id = store.series(&name, kind(metric.kind));
                    names.push((name, id));
                    names.len() - 1
                });
                values.push((place, value));
            });
        }
    }

    /// The last tick's values.
    pub(crate) fn values(&self) -> impl Iterator<Item = (SeriesId, f64)> {
        self.values.iter().map(|(place, value)| (self.names[*place].1, *value))
    }

    /// The same with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().map(|(place, value)| (self.names[*place].0.as_str(), *value))
    }
}

fn kind(kind: Kind) -> SeriesKind {
    match kind {
        Kind::Gauge => SeriesKind::Gauge,
        Kind::Counter => SeriesKind::Counter,
    }
}

fn key(place: usize, labels: &[LabelValue<'_>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    for label in labels {
        match label {
            LabelValue::Text(text) => text.as_bytes().hash(&mut hasher),
            LabelValue::Bytes(bytes) => bytes.hash(&mut hasher),
            LabelValue::Number(number) => number.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// As Prometheus writes a series: the labels in the order of their names.
fn name(metric: &Metric, values: &[LabelValue<'_>]) -> String {
    let mut labels: Vec<(&str, String)> =
        metric.labels.iter().copied().zip(values.iter().map(ToString::to_string)).collect();
    labels.sort_unstable();
    let mut name = metric.name.to_owned();
    for (place, (label, value)) in labels.iter().enumerate() {
        name.push(if place == 0 { '{' } else { ',' });
        // A String takes whatever is written to it.
        let _ = write!(name, "{label}=\"");
        for letter in value.chars() {
            match letter {
                '\\' => name.push_str("\\\\"),
                '"' => name.push_str("\\\""),
                '\n' => name.push_str("\\n"),
                letter => name.push(letter),
            }
        }
        name.push('"');
    }
    if !labels.is_empty() {
        name.push('}');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_sorted_and_escaped_labels() {
        let cpu = METRICS.iter().find(|metric| metric.name == "node_cpu_seconds_total").unwrap();
        let labels = [LabelValue::Number(3), LabelValue::Text("us\"er\n")];
        assert_eq!(name(cpu, &labels), "node_cpu_seconds_total{cpu=\"3\",mode=\"us\\\"er\\n\"}");
        assert_ne!(key(0, &labels), key(1, &labels));
    }
}
