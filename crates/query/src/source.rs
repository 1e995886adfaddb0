//! Where samples come from.

use formats::series_name::SeriesName;

use crate::expression::{LabelChoice, Matcher};
use crate::limits::Limits;
use crate::samples::Samples;

/// A series with the samples that were asked for.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its labels, the metric's name among them.
    pub name: SeriesName,
    /// Its samples.
    pub samples: Samples,
}

/// What is wanted of a source.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'m> {
    /// Conditions, all of which the series meet.
    pub matchers: &'m [Matcher],
    /// The first instant, in milliseconds since 1970.
    pub from_ms: i64,
    /// The last one.
    pub to_ms: i64,
    /// Only the newest sample in that time is wanted, or the mark that its series has ended.
    pub is_newest: bool,
    /// A range is wanted: a counter of something that came and went is 0 before it, and keeps its last value after it, so that the
    /// increases of all add up.
    pub is_range: bool,
    /// Only sums by these labels are wanted, so that series may be added up.
    pub sums: Option<&'m LabelChoice>,
    /// A source gives up, with a part of the series or an error, as soon as it is interrupted or has more samples than these allow.
    pub limits: &'m Limits<'m>,
}

impl Selection<'_> {
    /// Whether a series meets all conditions.
    pub fn is_met_by(&self, series: &SeriesName) -> bool {
        self.matchers.iter().all(|matcher| matcher.is_met_by(series))
    }
}

/// Anything that has series.
pub trait Source {
    /// The series that meet the conditions and have a sample in the time, in any order, each name once.
    ///
    /// # Errors
    /// Why they cannot be read.
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String>;
}
