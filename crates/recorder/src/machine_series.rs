//! From a sample of the machine to values of series: the catalogue's names and labels.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use facts::catalog::{LabelValue, METRICS, Metric};
use facts::sample::Sample;
use formats::series_name::SeriesName;
use history::metrics::series_kind;
use store::{SeriesId, Store};

use crate::cpu_counters::CpuCounters;
use crate::registry::Registry;

/// The most series of one agent: devices that come with other names all the time must not fill its memory.
const MAX_SERIES: usize = 50_000;

/// The numbers and names of series, so that a tick makes no names.
#[derive(Debug, Default)]
pub(crate) struct MachineSeries {
    /// The place in `names` by a hash of the metric and its label values. Two of them have the same one with a probability of 2⁻⁶⁴.
    places: HashMap<u64, usize>,
    /// `None` if it is not recorded.
    names: Vec<Option<(String, SeriesId)>>,
    cpu: CpuCounters,
    /// The values of the last tick, by the place in `names`.
    values: Vec<(usize, f64)>,
}

impl MachineSeries {
    /// Takes the values of samples, each of other sources.
    pub(crate) fn collect(&mut self, samples: [&Sample; 2], registry: &mut Registry, store: &mut Store) {
        let Self { places, names, cpu, values } = self;
        values.clear();
        let mut add = |key: u64, metric: &Metric, labels: &[LabelValue<'_>], value: f64| {
            let place = match places.entry(key) {
                Entry::Occupied(place) => *place.get(),
                Entry::Vacant(_) if names.len() >= MAX_SERIES => return registry.refuse(MAX_SERIES),
                Entry::Vacant(place) => {
                    names.push(registry.register(&name(metric, labels), series_kind(metric.kind), store));
                    *place.insert(names.len() - 1)
                }
            };
            if names[place].is_some() {
                values.push((place, value));
            }
        };
        for sample in samples {
            cpu.begin(sample);
            for (number, metric) in METRICS.iter().enumerate() {
                let is_of_cpus = CpuCounters::are_of(metric);
                metric.visit(sample, &mut |labels, value| {
                    let key = key(number, labels);
                    let value = if is_of_cpus { cpu.recorded(labels, key, value) } else { value };
                    add(key, metric, labels, value);
                });
            }
        }
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        *self = Self { cpu: std::mem::take(&mut self.cpu), ..Self::default() };
    }

    /// The last tick's values, with the names under which they are recorded.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        self.values.iter().filter_map(|(place, value)| {
            let (name, id) = self.names[*place].as_ref()?;
            Some((name.as_str(), *id, *value))
        })
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

fn name(metric: &Metric, values: &[LabelValue<'_>]) -> String {
    let mut name = SeriesName::new(metric.name);
    for (label, value) in metric.labels.iter().zip(values) {
        name.set(label, &value.to_string());
    }
    name.to_string()
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
