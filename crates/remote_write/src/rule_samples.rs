//! The next answers of recording rules behind a place in a history.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use formats::series_name::METRIC;
use history::past::Past;
use query::{Answer, Limits, Query, STALE_BITS};
use store::StoreError;

use crate::recording_rule::RecordingRule;
use crate::samples::{NextSamples, Part};
use crate::selection::Selection;

/// About so many samples are made at once.
const MOST_SAMPLES: usize = 20_000;
/// The length of history that is evaluated at first, and the most.
const FIRST_NS: i64 = 60_000_000_000;
const LONGEST_NS: i64 = 3_600_000_000_000;

/// An evaluation is given up after this.
const LONGEST_EVALUATION: Duration = Duration::from_secs(5);
/// The most points that an evaluation may have in memory: 64 MB.
const MOST_POINTS: usize = 4_000_000;

/// Evaluates rules part by part.
#[derive(Debug)]
pub(crate) struct RuleReader {
    rules: Vec<RecordingRule>,
    /// The length of the next part.
    length_ns: i64,
}

impl RuleReader {
    pub(crate) fn new(rules: &[RecordingRule]) -> Self {
        Self { rules: rules.to_vec(), length_ns: FIRST_NS }
    }

    /// Evaluates what is due behind a place, up to `to_ns` if that is known, all in nanoseconds since 1970. `None`: nothing is.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(crate) fn next(
        &mut self,
        path: &Path,
        selection: &Selection,
        (behind_ns, to_ns): (i64, Option<i64>),
        now_ns: i64,
    ) -> Result<Option<Part>, StoreError> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        let past = Past::open(path)?;
        let Some((first_ns, newest_ns)) = past.extent_ns()? else { return Ok(None) };
        let from_ns = behind_ns.max(first_ns - 1);
        // A step is evaluated when a tick behind it is there: then nothing of it is missing.
        let newest_ns = newest_ns.min(now_ns);
        let mut end_ns = to_ns.unwrap_or_else(|| from_ns.saturating_add(self.length_ns)).min(newest_ns);
        let is_last = |end_ns: i64| to_ns.is_none() && end_ns >= newest_ns;
        let Some(first_step_ns) = self.first_step_ns(from_ns, end_ns) else {
            // Most of the time nothing is due yet. Otherwise this part of the history has nothing to evaluate.
            let is_over = end_ns <= from_ns || is_last(end_ns);
            return Ok((!is_over).then(|| Part::empty(end_ns, first_ns)));
        };
        let (series, faults) = loop {
            let (series, faults) = self.evaluate_all(&past, selection, from_ns, end_ns);
            // What is too much at once may be possible step by step.
            if faults.is_empty() || end_ns == first_step_ns {
                break (series, faults);
            }
            (end_ns, self.length_ns) = (first_step_ns, FIRST_NS);
        };
        let count: usize = series.iter().map(|series| series.samples.len()).sum();
        let is_small = faults.is_empty() && count < MOST_SAMPLES / 2;
        self.length_ns = if is_small { (self.length_ns * 2).min(LONGEST_NS) } else { self.length_ns };
        if count > MOST_SAMPLES {
            self.length_ns = (self.length_ns / 2).max(FIRST_NS);
        }
        let is_last = is_last(end_ns);
        Ok(Some(Part { series, to_ns: end_ns, is_last, first_ns, damaged: 0, faults }))
    }

    /// The earliest step of all rules behind an instant and up to another, in nanoseconds since 1970.
    fn first_step_ns(&self, behind_ns: i64, to_ns: i64) -> Option<i64> {
        let first = |rule: &RecordingRule| rule.steps_ms(behind_ns.div_euclid(1_000_000), to_ns / 1_000_000);
        self.rules.iter().filter_map(first).map(|(first_ms, _)| first_ms * 1_000_000).min()
    }

    /// Returns the series, and the rules without an answer.
    fn evaluate_all(
        &self,
        past: &Past,
        selection: &Selection,
        behind_ns: i64,
        to_ns: i64,
    ) -> (Vec<NextSamples>, Vec<String>) {
        let (mut series, mut faults) = (Vec::new(), Vec::new());
        for rule in &self.rules {
            let Some(steps_ms) = rule.steps_ms(behind_ns.div_euclid(1_000_000), to_ns / 1_000_000) else {
                continue;
            };
            match evaluate(rule, past, steps_ms) {
                Err(fault) => faults.push(format!("{}: {fault}", rule.name)),
                Ok(found) => series.extend(found.into_iter().filter_map(|NextSamples { name, samples }| {
                    let name = selection.sent(name).filter(|_| !samples.is_empty())?;
                    Some(NextSamples { name, samples })
                })),
            }
        }
        (series, faults)
    }
}

/// Evaluates the expression from one step to another. A series that ended at a step has a stale marker there.
///
/// # Errors
/// Why there is no answer, or not one that can go out.
fn evaluate(
    rule: &RecordingRule,
    past: &Past,
    (first_ms, last_ms): (i64, i64),
) -> Result<Vec<NextSamples>, String> {
    let query = Query::parse(&rule.expression).map_err(|error| error.to_string())?;
    let deadline = Instant::now() + LONGEST_EVALUATION;
    let is_interrupted = || Instant::now() >= deadline;
    let limits = Limits { most_points: MOST_POINTS, is_interrupted: &is_interrupted, ..Limits::default() };
    let interval_ms = rule.interval_ms();
    // The step before says what ends at the first one: the same after a restart, which remembers nothing.
    let range_ms = [first_ms - interval_ms, last_ms];
    let answer = query.between(past, range_ms, interval_ms, &limits).map_err(|error| error.to_string())?;
    let Answer::Matrix(found) = answer else { return Err("its answer is no series".to_owned()) };
    if found.len() > rule.most_series {
        let (count, most) = (found.len(), rule.most_series);
        return Err(format!(
            "it has {count} series, and limit = {most}: topk() or sum by () makes them fewer"
        ));
    }
    let mut names = HashSet::new();
    let mut series = Vec::with_capacity(found.len());
    for (mut name, points) in found {
        name.set(METRIC, &rule.name);
        rule.labels.iter().for_each(|(label, value)| name.set(label, value));
        if !names.insert(name.clone()) {
            return Err(format!("two of its series are {name}: its labels must distinguish them"));
        }
        let points = points.iter().map(|point| (point.at_ms, point.value));
        let samples = with_ends(points, (first_ms, last_ms), interval_ms);
        series.push(NextSamples { name, samples });
    }
    Ok(series)
}

/// Leaves out the step before the first one, and adds a stale marker where a series has ended.
fn with_ends(
    points: impl Iterator<Item = (i64, f64)>,
    (first_ms, last_ms): (i64, i64),
    interval_ms: i64,
) -> Vec<(i64, f64)> {
    let mut samples: Vec<(i64, f64)> = Vec::new();
    let mut end_ms = None;
    let stale = f64::from_bits(STALE_BITS);
    for (at_ms, value) in points {
        samples.extend(end_ms.filter(|end_ms| *end_ms < at_ms).map(|end_ms| (end_ms, stale)));
        if at_ms >= first_ms {
            samples.push((at_ms, value));
        }
        end_ms = Some(at_ms + interval_ms);
    }
    samples.extend(end_ms.filter(|end_ms| *end_ms <= last_ms).map(|end_ms| (end_ms, stale)));
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_ends_has_a_marker() {
        let shown = |points: &[(i64, f64)]| -> Vec<(i64, String)> {
            let samples = with_ends(points.iter().copied(), (10, 50), 10);
            samples.iter().map(|(at, value)| (*at, value.to_string())).collect()
        };
        let sample = |at: i64, value: &str| (at, value.to_owned());
        // It was there one step before, and is not at the first.
        assert_eq!(shown(&[(0, 1.0)]), [sample(10, "NaN")]);
        // There until the end.
        assert_eq!(shown(&[(40, 4.0), (50, 5.0)]), [sample(40, "4"), sample(50, "5")]);
        // It ends and begins again.
        assert_eq!(
            shown(&[(10, 1.0), (40, 4.0)]),
            [sample(10, "1"), sample(20, "NaN"), sample(40, "4"), sample(50, "NaN")]
        );
        assert_eq!(shown(&[]), []);
    }
}
