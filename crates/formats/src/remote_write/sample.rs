//! A sample, which both versions have alike.

use prost::Message;

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    /// Since 1970.
    #[prost(int64, tag = "2")]
    milliseconds: i64,
}

pub(super) fn samples_of(samples: &[(i64, f64)]) -> Vec<Sample> {
    samples
        .iter()
        .map(|(milliseconds, value)| Sample { value: *value, milliseconds: *milliseconds })
        .collect()
}
