//! The message of version 1.0.

use prost::Message;

use super::sample::{Sample, samples_of};
use crate::series_name::SeriesName;

#[derive(Clone, PartialEq, Message)]
pub(super) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

pub(super) fn request<'s>(series: impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])>) -> WriteRequest {
    let label = |(name, value): (&str, &str)| Label { name: name.to_owned(), value: value.to_owned() };
    let timeseries = series.map(|(name, samples)| TimeSeries {
        labels: name.labels().map(label).collect(),
        samples: samples_of(samples),
    });
    WriteRequest { timeseries: timeseries.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_what_the_specification_says() {
        let name = SeriesName::parse("up{job=\"a\"}").unwrap();
        let bytes = request(std::iter::once((&name, &[(1_500, 2.0)][..]))).encode_to_vec();
        let expected = [
            // A series of 43 bytes, with two labels and a sample.
            &[0x0a, 43][..],
            &[0x0a, 14, 0x0a, 8],
            b"__name__",
            &[0x12, 2],
            b"up",
            &[0x0a, 8, 0x0a, 3],
            b"job",
            &[0x12, 1],
            b"a",
            &[0x12, 12, 0x09],
            &2.0_f64.to_le_bytes(),
            &[0x10, 0xdc, 0x0b],
        ]
        .concat();
        assert_eq!(bytes[2..], expected[2..]);
        assert_eq!(WriteRequest::decode(bytes.as_slice()).unwrap().timeseries.len(), 1);
    }
}
