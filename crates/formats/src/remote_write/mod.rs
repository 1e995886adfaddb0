//! Prometheus' remote write: samples as a compressed protocol buffer.
//!
//! <https://prometheus.io/docs/specs/prw/remote_write_spec/> and <https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/>

mod sample;
mod version_1;
mod version_2;

use prost::Message;

use crate::series_name::SeriesName;

/// The header by which a receiver of version 2 says how many samples it has written.
pub const SAMPLES_WRITTEN: &str = "x-prometheus-remote-write-samples-written";

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.0, which every receiver takes: each series has its labels in full.
    One,
    /// 2.0: a string that is there twice is sent once, and series have the type and the help of their metric.
    Two,
}

impl Version {
    /// Returns its number.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "1.0",
            Self::Two => "2.0",
        }
    }

    /// Returns the version with a number.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::One, Self::Two].into_iter().find(|version| version.name() == name)
    }

    /// Returns the headers that a request has beside its body.
    pub fn headers(self) -> [(&'static str, &'static str); 3] {
        let (content_type, version) = match self {
            Self::One => ("application/x-protobuf", "0.1.0"),
            Self::Two => ("application/x-protobuf;proto=io.prometheus.write.v2.Request", "2.0.0"),
        };
        [
            ("Content-Type", content_type),
            ("Content-Encoding", "snappy"),
            ("X-Prometheus-Remote-Write-Version", version),
        ]
    }
}

/// Returns the body of a request: series, each with its samples in the order of time, in milliseconds since 1970. `metadata` returns the type of a metric,
/// `counter` or `gauge`, and its help, as far as they are known. `None` if the body is larger than snappy can be.
pub fn encode<'s>(
    version: Version,
    series: impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])>,
    metadata: impl Fn(&str) -> Option<(&'static str, &'static str)>,
) -> Option<Vec<u8>> {
    let bytes = match version {
        Version::One => version_1::request(series).encode_to_vec(),
        Version::Two => version_2::request(series, metadata).encode_to_vec(),
    };
    snap::raw::Encoder::new().compress_vec(&bytes).ok()
}
