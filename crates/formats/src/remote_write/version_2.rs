//! The message of version 2.0, `io.prometheus.write.v2.Request`. Its fields have other numbers than those of version 1.0, so that who takes it for one
//! of those finds nothing in it.

use std::collections::HashMap;

use prost::Message;

use super::sample::{Sample, samples_of};
use crate::series_name::SeriesName;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Request {
    /// The strings that series refer to by their places. The first is empty.
    #[prost(string, repeated, tag = "4")]
    symbols: Vec<String>,
    #[prost(message, repeated, tag = "5")]
    timeseries: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    /// Names and values in turn.
    #[prost(uint32, repeated, tag = "1")]
    labels: Vec<u32>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, optional, tag = "5")]
    metadata: Option<Metadata>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Metadata {
    #[prost(uint32, tag = "1")]
    kind: u32,
    #[prost(uint32, tag = "3")]
    help: u32,
}

/// The strings of a request, each once.
struct Symbols<'s> {
    strings: Vec<String>,
    places: HashMap<&'s str, u32>,
}

impl<'s> Symbols<'s> {
    fn place(&mut self, string: &'s str) -> u32 {
        *self.places.entry(string).or_insert_with(|| {
            self.strings.push(string.to_owned());
            (self.strings.len() - 1) as u32
        })
    }
}

pub(super) fn request<'s>(
    series: impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])>,
    metadata: impl Fn(&str) -> Option<(&'static str, &'static str)>,
) -> Request {
    let mut symbols = Symbols { strings: vec![String::new()], places: HashMap::from([("", 0)]) };
    let timeseries = series.map(|(name, samples)| {
        let labels = name.labels().flat_map(|(name, value)| [name, value]);
        let labels = labels.map(|string| symbols.place(string)).collect();
        let metadata = metadata(name.metric()).map(|(kind, help)| Metadata {
            kind: match kind {
                "counter" => 1,
                "gauge" => 2,
                _ => 0,
            },
            help: symbols.place(help),
        });
        TimeSeries { labels, samples: samples_of(samples), metadata }
    });
    let timeseries = timeseries.collect();
    Request { symbols: symbols.strings, timeseries }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_what_the_specification_says() {
        let names = ["up{job=\"a\"}", "a_total{job=\"up\"}"].map(|name| SeriesName::parse(name).unwrap());
        let samples = [(1_500, 2.0)];
        let series = names.iter().map(|name| (name, &samples[..]));
        let metadata = |metric: &str| (metric == "a_total").then_some(("counter", "How many."));
        let bytes = request(series, metadata).encode_to_vec();
        let sample = [&[0x12, 12, 0x09][..], &2.0_f64.to_le_bytes(), &[0x10, 0xdc, 0x0b]].concat();
        let symbols = ["", "__name__", "up", "job", "a", "a_total", "How many."];
        let mut expected = Vec::new();
        for symbol in symbols {
            expected.extend([0x22, symbol.len() as u8]);
            expected.extend(symbol.as_bytes());
        }
        expected.extend([0x2a, 20, 0x0a, 4, 1, 2, 3, 4]);
        expected.extend(&sample);
        expected.extend([0x2a, 26, 0x0a, 4, 1, 5, 3, 2]);
        expected.extend(&sample);
        expected.extend([0x2a, 4, 0x08, 1, 0x18, 6]);
        assert_eq!(bytes, expected);
    }
}
