//! The next answers of recording rules behind a place in a history.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use formats::series_name::{METRIC, SeriesName};
use history::past::{BatchedSource, EXPORTERS, Past, PastAtRest};
use query::{Answer, Limits, Query, QueryError, STALE_BITS, Source};
use store::StoreError;

use crate::recording_rule::RecordingRule;
use crate::samples::{NextSamples, Part};
use crate::selection::Selection;

/// About so many samples are made at once.
const MAX_SAMPLES: usize = 20_000;
/// The length of history that is evaluated at first, and the most.
const FIRST_NS: i64 = 60_000_000_000;
const MAX_NS: i64 = 3_600_000_000_000;

/// The evaluation of all rules is given up after this, and then that of one rule after another.
const MAX_EVALUATION: Duration = Duration::from_secs(5);
const MAX_ALONE: Duration = Duration::from_secs(10);
/// All rules together, one after another: the samples of the machine go out in the same thread.
const MAX_OF_ALL: Duration = Duration::from_secs(30);
/// A rule that took too long is left out for this time.
const ASIDE: Duration = Duration::from_secs(600);
/// Where the newest tick is still to come, since the clock was set back, those before this time are written.
const WRITTEN_NS: i64 = 10_000_000_000;
/// A tick of exporters is there so long after its time at the latest: it waits for answers for two seconds.
const EXPORTERS_NS: i64 = 3_000_000_000;
/// The most points that an evaluation may have in memory: 64 MB.
const MAX_POINTS: usize = 4_000_000;

/// Evaluates rules part by part.
#[derive(Debug)]
pub(crate) struct RuleReader {
    rules: Vec<RecordingRule>,
    /// What is known of each rule.
    known: Vec<Known>,
    /// The length of the next part.
    length_ns: i64,
    /// The history between two parts.
    pub(crate) kept: Option<PastAtRest>,
}

impl RuleReader {
    /// Takes the rules whose series the selection lets out.
    pub(crate) fn new(rules: &[RecordingRule], selection: &Selection) -> Self {
        let rules: Vec<RecordingRule> =
            rules.iter().filter(|rule| selection.may_have(&rule.name)).cloned().collect();
        let known = rules.iter().map(|_| Known::default()).collect();
        Self { rules, known, length_ns: FIRST_NS, kept: None }
    }

    /// Returns whether it has no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
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
    ) -> Result<Option<Part>, String> {
        // Most of the time nothing is due, and the history is not opened for it.
        if self.first_step_ns(behind_ns, now_ns).is_none() {
            return Ok(None);
        }
        let text = |error: StoreError| error.to_string();
        let past = PastAtRest::go_on_or_open(self.kept.take(), path).map_err(text)?;
        let part = self.evaluate_next(&past, path, selection, (behind_ns, to_ns), now_ns);
        self.kept = past.rest().ok();
        part
    }

    fn evaluate_next(
        &mut self,
        past: &Past,
        path: &Path,
        selection: &Selection,
        (behind_ns, to_ns): (i64, Option<i64>),
        now_ns: i64,
    ) -> Result<Option<Part>, String> {
        let text = |error: StoreError| error.to_string();
        let Some((first_ns, newest_ns)) = past.extent_ns().map_err(text)? else { return Ok(None) };
        let from_ns = behind_ns.max(first_ns - 1);
        // A step is evaluated when a tick behind it is there: then nothing of it is missing.
        let newest_ns = if newest_ns > now_ns { now_ns - WRITTEN_NS } else { newest_ns };
        let has_exporters = path.with_file_name(EXPORTERS).exists();
        let newest_ns = if has_exporters { newest_ns.min(now_ns - EXPORTERS_NS) } else { newest_ns };
        let Some(first_step_ns) = self.first_step_ns(from_ns, to_ns.unwrap_or(newest_ns).min(newest_ns))
        else {
            return Ok(None);
        };
        // At least up to the next step: where nothing was recorded for long it is far.
        let usual_ns = from_ns.saturating_add(self.length_ns).max(first_step_ns);
        let mut end_ns = to_ns.unwrap_or(usual_ns).min(newest_ns);
        let is_last = |end_ns: i64| to_ns.is_none() && end_ns >= newest_ns;
        let range_ms = |end_ns: i64| [from_ns.div_euclid(1_000_000), end_ns / 1_000_000];
        let (mut series, mut faults) = self.evaluate_all(past, selection, range_ms(end_ns), false)?;
        if !faults.is_empty() {
            // What is too much at once may be possible step by step, and rule by rule.
            (end_ns, self.length_ns) = (first_step_ns, FIRST_NS);
            (series, faults) = self.evaluate_all(past, selection, range_ms(end_ns), true)?;
        }
        let mut names = HashSet::new();
        series.retain(|NextSamples { name, .. }| {
            let is_new = names.insert(name.clone());
            if !is_new {
                faults
                    .push(format!("{name}: two series get this name by [[relabel]], and the first goes out"));
            }
            is_new
        });
        let count: usize = series.iter().map(|series| series.samples.len()).sum();
        let is_small = faults.is_empty() && count < MAX_SAMPLES / 2;
        self.length_ns = if is_small { (self.length_ns * 2).min(MAX_NS) } else { self.length_ns };
        if count > MAX_SAMPLES {
            self.length_ns = (self.length_ns / 2).max(FIRST_NS);
        }
        let is_last = is_last(end_ns);
        Ok(Some(Part { series, to_ns: end_ns, is_last, first_ns, damaged: 0, faults }))
    }

    /// Returns the earliest step of all rules behind an instant and up to another, in nanoseconds since 1970.
    fn first_step_ns(&self, behind_ns: i64, to_ns: i64) -> Option<i64> {
        let first = |rule: &RecordingRule| rule.steps_ms(behind_ns.div_euclid(1_000_000), to_ns / 1_000_000);
        self.rules.iter().filter_map(first).map(|(first_ms, _)| first_ms * 1_000_000).min()
    }

    /// Returns the series, and the rules without an answer. All rules are evaluated over one replay of the tasks, unless `is_alone`: then one that
    /// takes too long leaves the others theirs.
    ///
    /// # Errors
    /// If the history cannot be read: then nothing is given up.
    fn evaluate_all(
        &mut self,
        past: &Past,
        selection: &Selection,
        [behind_ms, to_ms]: [i64; 2],
        is_alone: bool,
    ) -> Result<(Vec<NextSamples>, Vec<String>), String> {
        let due = self.rules.iter().zip(&self.known).enumerate().filter_map(|(place, (rule, known))| {
            let steps_ms = rule.steps_ms(behind_ms, to_ms)?;
            known.is_wanted().then_some(Due { place, rule, steps_ms, last: known.last.as_ref() })
        });
        let due: Vec<Due<'_>> = due.collect();
        let answers: Vec<Result<Answered, NoAnswer>> = if is_alone {
            let deadline = Instant::now() + MAX_OF_ALL;
            let evaluate = |due: &Due<'_>| {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(NoAnswer::Refused("the rules before it took all of the time".to_owned()));
                }
                within_limits(MAX_ALONE.min(left), |limits| due.evaluate(past, limits))
            };
            due.iter().map(evaluate).collect()
        } else {
            within_limits(MAX_EVALUATION, |limits| {
                let all = |source: &BatchedSource<'_>| {
                    Ok(due.iter().map(|due| due.evaluate(source, limits)).collect::<Vec<_>>())
                };
                BatchedSource::evaluate(past, limits, all)
            })
            .unwrap_or_else(|error| due.iter().map(|_| Err(NoAnswer::of(&error))).collect())
        };
        let places: Vec<usize> = due.iter().map(|due| due.place).collect();
        let (mut series, mut faults) = (Vec::new(), Vec::new());
        for (place, answer) in places.into_iter().zip(answers) {
            let (rule, known) = (&self.rules[place], &mut self.known[place]);
            match answer {
                Err(NoAnswer::Unreadable(error)) => return Err(error),
                Err(NoAnswer::Interrupted) => {
                    known.aside_since = is_alone.then(Instant::now);
                    faults.push(format!("{}: it takes too long, and is left out for ten minutes", rule.name));
                }
                Err(NoAnswer::Refused(fault)) => faults.push(format!("{}: {fault}", rule.name)),
                Ok(Answered { series: found, last }) => {
                    known.last = Some(last);
                    series.extend(found.into_iter().filter_map(|NextSamples { name, samples }| {
                        let name = selection.sent(name).filter(|_| !samples.is_empty())?;
                        Some(NextSamples { name, samples })
                    }));
                }
            }
        }
        Ok((series, faults))
    }
}

/// What is known of a rule.
#[derive(Debug, Default)]
struct Known {
    last: Option<LastStep>,
    /// When it took too long.
    aside_since: Option<Instant>,
}

impl Known {
    fn is_wanted(&self) -> bool {
        self.aside_since.is_none_or(|since| since.elapsed() >= ASIDE)
    }
}

/// Why a rule has no answer.
enum NoAnswer {
    /// The history cannot be read.
    Unreadable(String),
    /// It takes too long.
    Interrupted,
    /// What is wrong with it.
    Refused(String),
}

impl NoAnswer {
    fn of(error: &QueryError) -> Self {
        match error {
            QueryError::Unreadable(_) => Self::Unreadable(error.to_string()),
            QueryError::Interrupted => Self::Interrupted,
            error => Self::Refused(error.to_string()),
        }
    }
}

/// The last step of a rule, and the series that went out of it.
#[derive(Debug)]
struct LastStep {
    at_ms: i64,
    names: HashSet<SeriesName>,
}

/// A rule that is due at some steps.
struct Due<'r> {
    place: usize,
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
    fn evaluate(&self, source: &dyn Source, limits: &Limits<'_>) -> Result<Answered, NoAnswer> {
        let Self { rule, steps_ms: (first_ms, last_ms), last, .. } = *self;
        let refused = |message: String| NoAnswer::Refused(message);
        let query = Query::parse(&rule.expression).map_err(|error| refused(error.to_string()))?;
        let interval_ms = rule.interval_ms();
        // The step before says what ends at the first one. Where it is not remembered, as after a restart, it is evaluated again.
        let before_ms = first_ms - interval_ms;
        let last = last.filter(|last| last.at_ms == before_ms);
        let from_ms = if last.is_some() { first_ms } else { before_ms };
        let answer = query.between(source, [from_ms, last_ms], interval_ms, limits);
        let Answer::Matrix(found) = answer.map_err(|error| NoAnswer::of(&error))? else {
            return Err(refused("its answer is no series".to_owned()));
        };
        let mut all: HashMap<SeriesName, BTreeMap<i64, f64>> = HashMap::new();
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for (mut name, points) in found {
            name.set(METRIC, &rule.name);
            rule.labels.iter().for_each(|(label, value)| name.set(label, value));
            let samples = all.entry(name.clone()).or_default();
            for point in points {
                *counts.entry(point.at_ms).or_default() += 1;
                if samples.insert(point.at_ms, point.value).is_some() {
                    let message = format!("two of its series are {name}: its labels must distinguish them");
                    return Err(refused(message));
                }
            }
        }
        let count = counts.range(first_ms..).map(|(_, count)| *count).max().unwrap_or(0);
        if count > rule.most_series {
            let most = rule.most_series;
            return Err(refused(format!(
                "it has {count} series, and limit = {most}: topk() or sum by () makes them fewer"
            )));
        }
        for name in last.into_iter().flat_map(|last| &last.names) {
            // There, and ended at the first step unless it goes on.
            all.entry(name.clone()).or_default().insert(before_ms, 0.0);
        }
        let is_there = |samples: &BTreeMap<i64, f64>| samples.contains_key(&last_ms);
        let names =
            all.iter().filter(|(_, samples)| is_there(samples)).map(|(name, _)| name.clone()).collect();
        let mut series: Vec<NextSamples> = all
            .into_iter()
            .map(|(name, samples)| NextSamples {
                name,
                samples: with_ends(&samples, (first_ms, last_ms), interval_ms),
            })
            .collect();
        series.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Answered { series, last: LastStep { at_ms: last_ms, names } })
    }
}

/// Evaluates for so long, and in the usual memory.
fn within_limits<T>(longest: Duration, evaluate: impl FnOnce(&Limits<'_>) -> T) -> T {
    let deadline = Instant::now() + longest;
    let is_interrupted = || Instant::now() >= deadline;
    evaluate(&Limits { most_points: MAX_POINTS, is_interrupted: &is_interrupted, ..Limits::default() })
}

/// Returns the samples at all steps, with a stale marker at the first step at which a series is not there any more. `points` may have one at
/// the step before.
fn with_ends(
    points: &BTreeMap<i64, f64>,
    (first_ms, last_ms): (i64, i64),
    interval_ms: i64,
) -> Vec<(i64, f64)> {
    let mut samples = Vec::new();
    let mut was_there = points.contains_key(&(first_ms - interval_ms));
    let length = usize::try_from(interval_ms).unwrap_or(usize::MAX);
    for at_ms in (first_ms..=last_ms).step_by(length) {
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
        let shown = |points: &[(i64, f64)]| -> Vec<(i64, String)> {
            let samples = with_ends(&points.iter().copied().collect(), (10, 50), 10);
            samples.iter().map(|(at, value)| (*at, value.to_string())).collect()
        };
        let sample = |at: i64, value: &str| (at, value.to_owned());
        // It was there one step before, and is not at the first.
        assert_eq!(shown(&[(0, 1.0)]), [sample(10, "NaN")]);
        // There until the end.
        assert_eq!(shown(&[(40, 4.0), (50, 5.0)]), [sample(40, "4"), sample(50, "5")]);
        // It ends and begins again.
        assert_eq!(
            shown(&[(0, 0.0), (10, 1.0), (40, 4.0)]),
            [sample(10, "1"), sample(20, "NaN"), sample(40, "4"), sample(50, "NaN")]
        );
        assert_eq!(shown(&[]), []);
    }

    /// A source whose series have these labels at these times.
    struct Fixed(Vec<(&'static str, Vec<i64>)>);

    impl Source for Fixed {
        fn select(&self, _: &query::Selection<'_>) -> Result<Vec<query::Series>, String> {
            let point = |at_ms: &i64| query::Point { at_ms: *at_ms, value: 1.0 };
            let one = |(labels, times): &(&str, Vec<i64>)| query::Series {
                name: SeriesName::parse(labels).unwrap(),
                samples: times.iter().map(point).collect(),
            };
            Ok(self.0.iter().map(one).collect())
        }
    }

    #[test]
    fn a_limit_is_that_of_a_step() {
        let rule = RecordingRule {
            name: "a:b".to_owned(),
            expression: "x".to_owned(),
            interval: Duration::from_secs(600),
            labels: vec![("y".to_owned(), "z".to_owned())],
            most_series: 1,
        };
        let due = |last: Option<&LastStep>| {
            let due = Due { place: 0, rule: &rule, steps_ms: (1_200_000, 1_800_000), last };
            let source =
                Fixed(vec![("x{c=\"1\"}", vec![600_000, 1_200_000]), ("x{c=\"2\"}", vec![1_800_000])]);
            let answered = due.evaluate(&source, &Limits::default());
            let answered = answered.ok().map(|answered| {
                answered
                    .series
                    .into_iter()
                    .map(|one| {
                        let samples =
                            one.samples.iter().map(|(at_ms, value)| (at_ms / 600_000, value.is_nan()));
                        (one.name.to_string(), samples.collect::<Vec<_>>())
                    })
                    .collect::<Vec<_>>()
            });
            answered.unwrap()
        };
        // One after another are never two.
        let expected = [
            ("a:b{c=\"1\",y=\"z\"}".to_owned(), vec![(2, false), (3, true)]),
            ("a:b{c=\"2\",y=\"z\"}".to_owned(), vec![(3, false)]),
        ];
        assert_eq!(due(None), expected);
        // What is remembered says the same as what is evaluated again.
        let names = [SeriesName::parse("a:b{c=\"1\",y=\"z\"}").unwrap()].into();
        assert_eq!(due(Some(&LastStep { at_ms: 600_000, names })), expected);
    }
}
