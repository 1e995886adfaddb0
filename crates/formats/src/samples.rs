//! Samples of series, as histories are exchanged: by the name of the series, each at its own times.

use std::collections::BTreeMap;
use std::fmt;

/// Samples that were read. The times of a series are in the order in which they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleSet {
    series: BTreeMap<String, SeriesSamples>,
    count: u64,
}

/// The samples of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesSamples {
    /// It only goes up, until it is reset; otherwise it is a gauge.
    pub is_counter: bool,
    /// Nanoseconds since 1970, and the value.
    pub samples: Vec<(i64, f64)>,
}

/// Why a sample is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleRefused {
    /// There are [`SampleSet::MOST`] already.
    TooMany,
    /// Its time is before 1970.
    TooOld,
}

impl fmt::Display for SampleRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "more than {} samples: a shorter time at once", SampleSet::MOST),
            Self::TooOld => f.write_str("a time before 1970"),
        }
    }
}

impl std::error::Error for SampleRefused {}

impl SampleSet {
    /// The most samples: they are kept in memory.
    pub const MOST: u64 = 50_000_000;

    /// Adds a sample.
    ///
    /// # Errors
    /// If there are too many, or it is older than 1970.
    pub fn push(
        &mut self,
        series: &str,
        is_counter: bool,
        realtime_ns: i64,
        value: f64,
    ) -> Result<(), SampleRefused> {
        if self.count >= Self::MOST {
            return Err(SampleRefused::TooMany);
        }
        if realtime_ns < 0 {
            return Err(SampleRefused::TooOld);
        }
        self.count += 1;
        let entry = match self.series.get_mut(series) {
            Some(entry) => entry,
            None => self.series.entry(series.to_owned()).or_default(),
        };
        entry.is_counter |= is_counter;
        entry.samples.push((realtime_ns, value));
        Ok(())
    }

    /// Gives the last sample of a series another value.
    pub(crate) fn replace_last(&mut self, series: &str, value: f64) {
        if let Some(last) = self.series.get_mut(series).and_then(|series| series.samples.last_mut()) {
            last.1 = value;
        }
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All series by name.
    pub fn series(&self) -> &BTreeMap<String, SeriesSamples> {
        &self.series
    }
}
