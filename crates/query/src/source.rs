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

/// The selection of a source's series.
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
    /// The steps of which only the newest sample each is wanted; `None`: all samples are.
    pub step_after: Option<StepAfter>,
    /// A range is wanted: a counter of something that came and went is 0 before it, and keeps its last value after it, so that the
    /// increases of all add up.
    pub is_range: bool,
    /// Only sums are wanted, so that series may be added up.
    pub sums: Option<Sums<'m>>,
    /// A source gives up, with a part of the series or an error, as soon as it is interrupted or has more samples than these allow.
    pub limits: &'m Limits<'m>,
}

/// Sums over series. A source may add series up itself: thousands of tasks that start and end are then as many series as they have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums<'m> {
    /// Series with equal values of these labels are added up.
    pub by: &'m LabelChoice,
    /// The number of wanted sums, those with the largest increases over the whole range. A source may omit the others. `None`: all sums.
    pub largest: Option<usize>,
    /// There is one window, the whole range: what a series grew by in it is wanted, and not when.
    pub is_of_one_window: bool,
}

/// Steps of a time: which of them comes after an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepAfter {
    pub(crate) first_ms: i64,
    pub(crate) step_ms: i64,
}

impl StepAfter {
    /// The number of the first step at or after an instant in milliseconds since 1970.
    pub fn of(self, at_ms: i64) -> i64 {
        // Rounded up.
        -(self.first_ms.saturating_sub(at_ms)).div_euclid(self.step_ms)
    }
}

/// A [`Selection`] without its limits that owns its data.
#[derive(Clone, Debug)]
pub struct OwnedSelection {
    /// The conditions that each series meets.
    pub matchers: Vec<Matcher>,
    /// The first instant.
    pub from_ms: i64,
    /// The last one.
    pub to_ms: i64,
    is_newest: bool,
    step_after: Option<StepAfter>,
    is_range: bool,
    sums: Option<OwnedSums>,
}

/// [`Sums`] that own their data.
#[derive(Clone, Debug)]
struct OwnedSums {
    by: LabelChoice,
    largest: Option<usize>,
    is_of_one_window: bool,
}

impl OwnedSums {
    fn of(Sums { by, largest, is_of_one_window }: Sums<'_>) -> Self {
        Self { by: by.clone(), largest, is_of_one_window }
    }

    fn borrowed(&self) -> Sums<'_> {
        Sums { by: &self.by, largest: self.largest, is_of_one_window: self.is_of_one_window }
    }
}

impl OwnedSelection {
    /// Returns the selection with limits.
    pub fn within<'m>(&'m self, limits: &'m Limits<'m>) -> Selection<'m> {
        Selection {
            matchers: &self.matchers,
            from_ms: self.from_ms,
            to_ms: self.to_ms,
            is_newest: self.is_newest,
            step_after: self.step_after,
            is_range: self.is_range,
            sums: self.sums.as_ref().map(OwnedSums::borrowed),
            limits,
        }
    }
}

impl Selection<'_> {
    /// Returns a copy that owns its data.
    pub fn owned(&self) -> OwnedSelection {
        let Self { matchers, from_ms, to_ms, is_newest, step_after, is_range, sums, limits: _ } = *self;
        OwnedSelection {
            matchers: matchers.to_vec(),
            from_ms,
            to_ms,
            is_newest,
            step_after,
            is_range,
            sums: sums.map(OwnedSums::of),
        }
    }

    /// Returns a text that is the same for selections of the same series, whatever their limits.
    pub fn key(&self) -> String {
        let Self { matchers, from_ms, to_ms, is_newest, step_after, is_range, sums, limits: _ } = self;
        format!("{matchers:?} {from_ms} {to_ms} {is_newest} {step_after:?} {is_range} {sums:?}")
    }

    /// Returns whether a series meets all conditions.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_belongs_to_the_step_after_it() {
        let step = StepAfter { first_ms: 100, step_ms: 10 };
        let of = [80, 90, 91, 100, 101, 110, 111].map(|at_ms| step.of(at_ms));
        assert_eq!(of, [-2, -1, 0, 0, 1, 1, 2]);
    }
}
