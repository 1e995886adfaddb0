//! Prometheus' remote write, version 1: samples as a compressed protocol buffer.
//!
//! <https://prometheus.io/docs/specs/prw/remote_write_spec/>

use prost::Message;

use crate::series_name::SeriesName;

/// The headers that a request has beside its body.
pub const HEADERS: [(&str, &str); 3] = [
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
];

#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
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

#[derive(Clone, Copy, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    /// Since 1970.
    #[prost(int64, tag = "2")]
    milliseconds: i64,
}

/// The body of a request: series, each with its samples in the order of time, in milliseconds since 1970. `None` if it is larger than
/// snappy can be.
pub fn encode<'s>(series: impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])>) -> Option<Vec<u8>> {
    let timeseries = series.map(|(name, samples)| TimeSeries {
        labels: name
            .labels()
            .map(|(name, value)| Label { name: name.to_owned(), value: value.to_owned() })
            .collect(),
        samples: samples
            .iter()
            .map(|(milliseconds, value)| Sample { value: *value, milliseconds: *milliseconds })
            .collect(),
    });
    let request = WriteRequest { timeseries: timeseries.collect() };
    snap::raw::Encoder::new().compress_vec(&request.encode_to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_what_the_specification_says() {
        let name = SeriesName::parse("up{job=\"a\"}").unwrap();
        let body = encode(std::iter::once((&name, &[(1_500, 2.0)][..]))).unwrap();
        let bytes = snap::raw::Decoder::new().decompress_vec(&body).unwrap();
        let expected = [
            // A series of 41 bytes, with two labels and a sample.
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
