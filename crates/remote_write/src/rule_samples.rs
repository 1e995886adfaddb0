//! The next answers of recording rules behind a place in a history.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use formats::series_name::{METRIC, SeriesName};
use history::past::{BatchedSource, Past};
use query::{Answer, Limits, Query, STALE_BITS, Source};
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
    /// The last step of each rule.
    last: Vec<Option<LastStep>>,
    /// The length of the next part.
    length_ns: i64,
}

impl RuleReader {
    pub(crate) fn new(rules: &[RecordingRule]) -> Self {
        Self { rules: rules.to_vec(), last: vec![None; rules.len()], length_ns: FIRST_NS }
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
        // Most of the time nothing is due, and the history is not opened for it.
        if self.first_step_ns(behind_ns, now_ns).is_none() {
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
            // The step is still to come in the history, or this part of it has none.
            let is_over = end_ns <= from_ns || is_last(end_ns);
            return Ok((!is_over).then(|| Part::empty(end_ns, first_ns)));
        };
        let range_ms = |end_ns: i64| [from_ns.div_euclid(1_000_000), end_ns / 1_000_000];
        let (mut series, mut faults) = self.evaluate_all(&past, selection, range_ms(end_ns), false);
        if !faults.is_empty() {
            // What is too much at once may be possible step by step, and rule by rule.
            (end_ns, self.length_ns) = (first_step_ns, FIRST_NS);
            (series, faults) = self.evaluate_all(&past, selection, range_ms(end_ns), true);
        }
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

    /// Returns the series, and the rules without an answer. All rules are evaluated over one replay of the tasks, unless `is_alone`: then one that
    /// takes too long leaves the others theirs.
    fn evaluate_all(
        &mut self,
        past: &Past,
        selection: &Selection,
        [behind_ms, to_ms]: [i64; 2],
        is_alone: bool,
    ) -> (Vec<NextSamples>, Vec<String>) {
        let due = self.rules.iter().zip(&self.last).filter_map(|(rule, last)| {
            Some(Due { rule, steps_ms: rule.steps_ms(behind_ms, to_ms)?, last: last.as_ref() })
        });
        let due: Vec<Due<'_>> = due.collect();
        let answers: Vec<Result<Answered, String>> = if is_alone {
            due.iter().map(|due| within_limits(|limits| due.evaluate(past, limits))).collect()
        } else {
            within_limits(|limits| {
                let all = |source: &BatchedSource<'_>| {
                    Ok(due.iter().map(|due| due.evaluate(source, limits)).collect::<Vec<_>>())
                };
                BatchedSource::evaluate(past, limits, all)
            })
            .unwrap_or_else(|error| due.iter().map(|_| Err(error.to_string())).collect())
        };
        let names: Vec<String> = due.iter().map(|due| due.rule.name.clone()).collect();
        let (mut series, mut faults) = (Vec::new(), Vec::new());
        for (name, answer) in names.into_iter().zip(answers) {
            match answer {
                Err(fault) => faults.push(format!("{name}: {fault}")),
                Ok(Answered { series: found, last }) => {
                    let place = self.rules.iter().position(|rule| rule.name == name);
                    place.into_iter().for_each(|place| self.last[place] = Some(last.clone()));
                    series.extend(found.into_iter().filter_map(|NextSamples { name, samples }| {
                        let name = selection.sent(name).filter(|_| !samples.is_empty())?;
                        Some(NextSamples { name, samples })
                    }));
                }
            }
        }
        (series, faults)
    }
}

/// The last step of a rule, and the series that it had there.
#[derive(Clone, Debug)]
struct LastStep {
    at_ms: i64,
    names: HashSet<SeriesName>,
}

/// A rule that is due at some steps.
struct Due<'r> {
    rule: &'r RecordingRule,
    /// The first and the last one.
    steps_ms: (i64, i64),
    last: Option<&'r LastStep>,
}

/// The answer of a rule.
struct Answered {
    series: Vec<NextSamples>,
    last: LastStep,
}

impl Due<'_> {
    /// Evaluates the expression. A series that ended at a step has a stale marker there.
    ///
    /// # Errors
    /// Why there is no answer, or not one that can go out.
    fn evaluate(&self, source: &dyn Source, limits: &Limits<'_>) -> Result<Answered, String> {
        let Self { rule, steps_ms: (first_ms, last_ms), last } = *self;
        let query = Query::parse(&rule.expression).map_err(|error| error.to_string())?;
        let interval_ms = rule.interval_ms();
        // The step before says what ends at the first one. Where it is not remembered, as after a restart, it is evaluated again.
        let before_ms = first_ms - interval_ms;
        let last = last.filter(|last| last.at_ms == before_ms);
        let from_ms = if last.is_some() { first_ms } else { before_ms };
        let answer = query.between(source, [from_ms, last_ms], interval_ms, limits);
        let Answer::Matrix(mut found) = answer.map_err(|error| error.to_string())? else {
            return Err("its answer is no series".to_owned());
        };
        if found.len() > rule.most_series {
            let (count, most) = (found.len(), rule.most_series);
            return Err(format!(
                "it has {count} series, and limit = {most}: topk() or sum by () makes them fewer"
            ));
        }
        let names: HashSet<&SeriesName> = found.iter().map(|(name, _)| name).collect();
        let ended: Vec<SeriesName> = last
            .into_iter()
            .flat_map(|last| &last.names)
            .filter(|name| !names.contains(name))
            .cloned()
            .collect();
        found.extend(ended.into_iter().map(|name| (name, Vec::new())));
        let (mut sent, mut series, mut there) = (HashSet::new(), Vec::new(), HashSet::new());
        for (mut name, points) in found {
            let mut was_there = last.is_some_and(|last| last.names.contains(&name));
            was_there |= points.first().is_some_and(|point| point.at_ms == before_ms);
            if points.last().is_some_and(|point| point.at_ms == last_ms) {
                there.insert(name.clone());
            }
            name.set(METRIC, &rule.name);
            rule.labels.iter().for_each(|(label, value)| name.set(label, value));
            if !sent.insert(name.clone()) {
                return Err(format!("two of its series are {name}: its labels must distinguish them"));
            }
            let points: BTreeMap<i64, f64> = points.iter().map(|point| (point.at_ms, point.value)).collect();
            let samples = with_ends(&points, was_there, (first_ms, last_ms), interval_ms);
            series.push(NextSamples { name, samples });
        }
        Ok(Answered { series, last: LastStep { at_ms: last_ms, names: there } })
    }
}

/// Evaluates within the usual time and memory.
fn within_limits<T>(evaluate: impl FnOnce(&Limits<'_>) -> T) -> T {
    let deadline = Instant::now() + LONGEST_EVALUATION;
    let is_interrupted = || Instant::now() >= deadline;
    evaluate(&Limits { most_points: MOST_POINTS, is_interrupted: &is_interrupted, ..Limits::default() })
}

/// The samples at all steps, with a stale marker at the first step at which a series is not there any more.
fn with_ends(
    points: &BTreeMap<i64, f64>,
    mut was_there: bool,
    (first_ms, last_ms): (i64, i64),
    interval_ms: i64,
) -> Vec<(i64, f64)> {
    let mut samples = Vec::new();
    let steps = usize::try_from(interval_ms).unwrap_or(usize::MAX);
    for at_ms in (first_ms..=last_ms).step_by(steps) {
        let value = points.get(&at_ms).copied();
        let end = was_there.then_some(f64::from_bits(STALE_BITS));
        samples.extend(value.or(end).map(|value| (at_ms, value)));
        was_there = value.is_some();
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_ends_has_a_marker() {
        let shown = |points: &[(i64, f64)], was_there: bool| -> Vec<(i64, String)> {
            let samples = with_ends(&points.iter().copied().collect(), was_there, (10, 50), 10);
            samples.iter().map(|(at, value)| (*at, value.to_string())).collect()
        };
        let sample = |at: i64, value: &str| (at, value.to_owned());
        // It was there one step before, and is not at the first.
        assert_eq!(shown(&[(0, 1.0)], true), [sample(10, "NaN")]);
        assert_eq!(shown(&[], true), [sample(10, "NaN")]);
        // There until the end.
        assert_eq!(shown(&[(40, 4.0), (50, 5.0)], false), [sample(40, "4"), sample(50, "5")]);
        // It ends and begins again.
        assert_eq!(
            shown(&[(10, 1.0), (40, 4.0)], true),
            [sample(10, "1"), sample(20, "NaN"), sample(40, "4"), sample(50, "NaN")]
        );
        assert_eq!(shown(&[], false), []);
    }
}
