//! From a sample of the machine to values of series: the catalogue's names and labels.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use facts::catalog::{Kind, LabelValue, METRICS, Metric};
use facts::sample::Sample;
use store::{SeriesId, SeriesKind, Store, StoreError};

/// The numbers of series, so that a tick makes no names.
#[derive(Debug, Default)]
pub(crate) struct MachineSeries {
    /// By the place of the metric and its label values. Two of them in one place are a matter of 2⁻⁶⁴.
    ids: HashMap<u64, SeriesId>,
    /// Their names, by their numbers.
    names: HashMap<SeriesId, String>,
    values: Vec<(SeriesId, f64)>,
}

impl MachineSeries {
    /// What a sample has.
    ///
    /// # Errors
    /// If a new series cannot be written.
    pub(crate) fn collect(
        &mut self,
        sample: &Sample,
        store: &mut Store,
    ) -> Result<&[(SeriesId, f64)], StoreError> {
        let Self { ids, names, values } = self;
        values.clear();
        let mut failure = None;
        for (place, metric) in METRICS.iter().enumerate() {
            metric.visit(sample, &mut |labels, value| {
                let key = key(place, labels);
                let id = match ids.get(&key) {
                    Some(id) => *id,
                    None => {
                        let name = name(metric, labels);
                        match store.series(&name, kind(metric.kind)) {
                            Ok(id) => {
                                names.insert(id, name);
                                ids.insert(key, id);
                                id
                            }
                            Err(error) => {
                                failure.get_or_insert(error);
                                return;
                            }
                        }
                    }
                };
                values.push((id, value));
            });
        }
        failure.map_or(Ok(&self.values), Err)
    }
}

impl MachineSeries {
    /// The last tick's values, with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, f64)> {
        let name = |id| self.names.get(id).map(String::as_str);
        self.values.iter().filter_map(move |(id, value)| Some((name(id)?, *value)))
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
