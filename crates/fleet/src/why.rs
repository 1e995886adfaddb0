//! Why a machine was slow, by what the store has of it: its agent's examination over other series.
//!
//! The samples of the machine are asked for, and expressions are evaluated here, as its agent does: stores differ in what a rate is. Single tasks do
//! not go out. In place of their counters stand the recorded expressions by program.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use facts::container::ContainerNames;
use formats::series_name::{METRIC, SeriesName};
use history::past::WatchedSummary;
use history::why::{Findings, MachinePast, Window, examine_machine};
use query::{Answer, Condition, Limits, Point, Query, QueryError, Samples, Selection, Series, Source};
use remote_store::Asked;
use text::nearest::did_you_mean;

use crate::questions::SIGN_OF_LIFE;
use crate::{DAY_MS, Fleet, INSTANCE, TOO_SLOW};

/// A recorded expression is the rate in so long a time before its sample.
const RATE_MS: i64 = 60_000;
/// Between two samples of a counter that is made of rates.
const STEP_MS: i64 = 1_000;
const ON_CPU: &str = "comm:whit_task_on_cpu_seconds:rate1m";
const MEMORY: &str = "comm:whit_task_memory_seconds:rate1m";
/// The counters of tasks, and the recorded expressions in their place. Those without one are parts of the sum in the place of the first of them.
const RECORDED: [(&str, Option<&str>); 7] = [
    ("whit_task_on_cpu_seconds_total", Some(ON_CPU)),
    ("whit_task_run_queue_seconds_total", Some("comm:whit_task_run_queue_seconds:rate1m")),
    ("whit_task_block_io_seconds_total", Some("comm:whit_task_block_io_seconds:rate1m")),
    ("whit_task_swap_in_seconds_total", Some(MEMORY)),
    ("whit_task_reclaim_seconds_total", None),
    ("whit_task_thrashing_seconds_total", None),
    ("whit_task_compaction_seconds_total", None),
];
const NO_TASKS: &str = "what single tasks did; the store has the twenty largest programs by each figure, and their waits for memory of all kinds together";
const NO_PROGRAMS: &str = "who caused anything; the store has no recorded expressions of this machine in that time: they have not arrived yet, or [recording] in its agent's configuration leaves them out";
/// The label of [`SIGN_OF_LIFE`] that other series do not have.
const VERSION: &str = "version";
/// What an agent records at each tick.
const EACH_TICK: &str = "whit_agent_cpu_seconds_total";
/// The longest window.
const MAX_WINDOW_MS: i64 = 7 * DAY_MS;
/// Of a longer time not all samples are asked for, but so many steps.
const MAX_WHOLE_MS: i64 = 1_800_000;
const STEPS: i64 = 1_800;
/// A store that leaves more questions than this without an answer is asked nothing more.
const MAX_UNANSWERED: usize = 3;
/// The most that is shown of what it says then.
const MAX_ERROR_CHARS: usize = 200;
/// The steps in which the beginning of what the store has is looked for.
const LOOK_STEP_MS: i64 = 300_000;

impl Fleet {
    /// Examines a window of a machine, as far as the store has it. After the deadline nothing more is asked, and no more than so many samples.
    /// If the store does not answer a few questions, nothing is said of what needs these answers, and the findings name it.
    ///
    /// # Errors
    /// If the store does not answer, has no such machine, or has nothing of it in the window.
    pub fn why(
        &self,
        machine: &str,
        window: Window,
        deadline: Instant,
        most_points: usize,
    ) -> Result<Findings, String> {
        if window.to_ms - window.from_ms > MAX_WINDOW_MS {
            return Err("the store is asked about a week at most".to_owned());
        }
        let mut past = StoredMachine {
            fleet: self,
            machine: self.labels_of(machine, window)?,
            begins_ms: None,
            deadline,
            most_points,
            cached: RefCell::default(),
            points: Cell::new(0),
            containers: ContainerNames::default(),
        };
        let Some([first_ms, last_ms]) = extent_ms(&past.samples(EACH_TICK, window.from_ms, window.to_ms)?)
        else {
            return Err(format!("the store has nothing of \"{machine}\" in that time"));
        };
        past.begins_ms = past.begins_ms_before(window)?.map(|begins_ms| begins_ms.min(first_ms));
        // What has not arrived yet is not 0.
        let recorded = extent_ms(&past.samples(ON_CPU, window.from_ms, window.to_ms + RATE_MS)?);
        let recorded_ms = recorded.map_or(i64::MAX, |[_, recorded_ms]| recorded_ms);
        let to_ms = last_ms.min(recorded_ms.max(window.from_ms + RATE_MS));
        let from_ms = first_ms.min(to_ms - 1);
        let is_late = || Instant::now() >= deadline;
        let limits = Limits { most_points, is_interrupted: &is_late, ..Limits::default() };
        let examined = examine_machine(&past, Window { from_ms, to_ms }, &limits);
        let mut findings = examined.map_err(|error| error.to_string())?;
        let unanswered = past.unanswered();
        // Nothing would seem to be wrong.
        if let (true, Some(first)) = (findings.sentences.is_empty(), unanswered.first()) {
            return Err(format!("nothing is known of {first}"));
        }
        findings.missing.extend(unanswered);
        findings.missing.push(if recorded.is_some() { NO_TASKS } else { NO_PROGRAMS }.to_owned());
        Ok(findings)
    }

    /// Returns the labels that all series of a machine have.
    fn labels_of(&self, machine: &str, window: Window) -> Result<SeriesName, String> {
        let restricted = query::restricted(SIGN_OF_LIFE, (INSTANCE, machine), &self.matchers);
        let selector = restricted.map_err(|error| error.to_string())?;
        let expression = format!("last_over_time({selector}[{}ms])", window.to_ms - window.from_ms + DAY_MS);
        let Answer::Vector(series) = self.store.ask(&expression, Asked::At { at_ms: window.to_ms })? else {
            return Err(self.no_machine(machine, window)?);
        };
        let names = series.into_iter().map(|(name, _)| name).filter(|name| name.get(INSTANCE) == machine);
        let without_own = |mut name: SeriesName| {
            [METRIC, VERSION].into_iter().for_each(|label| drop(name.take(label)));
            name
        };
        let mut all: Vec<SeriesName> = names.map(without_own).collect();
        all.sort_unstable();
        all.dedup();
        match all.len() {
            0 => Err(self.no_machine(machine, window)?),
            1 => Ok(all.remove(0)),
            several => Err(format!(
                "the store has {several} machines called \"{machine}\"; [fleet] match = '{{…}}' chooses among them"
            )),
        }
    }

    fn no_machine(&self, machine: &str, window: Window) -> Result<String, String> {
        let selector = format!("{SIGN_OF_LIFE}{{{}}}", self.matchers);
        let names = self.store.label_values(INSTANCE, &selector, [window.from_ms - DAY_MS, window.to_ms])?;
        Ok(match names.iter().any(|name| name == machine) {
            true => format!("the store has nothing of \"{machine}\" in that time"),
            false => {
                let hint = did_you_mean(machine, names.iter().map(String::as_str));
                format!("no machine is called \"{machine}\"{hint}")
            }
        })
    }
}

/// Steps up to the end of a window that begin more than a day before it. A store may move them by a part of a step.
fn in_steps(window: Window) -> Asked {
    let steps = (window.to_ms - window.from_ms + DAY_MS) / LOOK_STEP_MS + 1;
    let from_ms = window.to_ms - steps * LOOK_STEP_MS;
    Asked::Between { from_ms, to_ms: window.to_ms, step_ms: LOOK_STEP_MS }
}

/// Series with their samples. A copy costs nothing.
type SampledSeries = Rc<[(SeriesName, Arc<Vec<Point>>)]>;
/// A metric, and two times in milliseconds since 1970.
type Range = (String, i64, i64);

/// What the store has of a machine.
struct StoredMachine<'f> {
    fleet: &'f Fleet,
    /// The labels that all of its series have.
    machine: SeriesName,
    /// Since when the store has something of it, or a day before what is asked about.
    begins_ms: Option<i64>,
    deadline: Instant,
    most_points: usize,
    /// The samples of metrics between two times, as they were read; of an instant if both are the same; an error if the store did not answer.
    cached: RefCell<BTreeMap<Range, Result<SampledSeries, String>>>,
    /// How many samples were read.
    points: Cell<usize>,
    /// None: the store has their names as labels.
    containers: ContainerNames,
}

impl StoredMachine<'_> {
    /// Returns the selector of a metric of the machine.
    fn selector(&self, metric: &str) -> String {
        let mut name = self.machine.clone();
        name.set(METRIC, metric);
        name.to_string()
    }

    fn ask(&self, expression: &str, asked: Asked) -> Result<Answer, String> {
        match Instant::now() >= self.deadline {
            true => Err(TOO_SLOW.to_owned()),
            false => self.fleet.store.ask(expression, asked),
        }
    }

    /// Returns the time of the machine's first sample, at the earliest a day before a window.
    fn begins_ms_before(&self, window: Window) -> Result<Option<i64>, String> {
        let found = self.ask(&self.selector(EACH_TICK), in_steps(window))?;
        let Answer::Matrix(series) = found else { return Ok(None) };
        Ok(series.iter().filter_map(|(_, points)| points.first()).map(|first| first.at_ms).min())
    }

    /// Returns the samples of a metric between two times in milliseconds since 1970, both included, without the labels of the machine; at one
    /// instant the newest. The store is asked once for each, also if it does not answer.
    fn samples(&self, metric: &str, from_ms: i64, to_ms: i64) -> Result<SampledSeries, String> {
        let key = (metric.to_owned(), from_ms, to_ms);
        if let Some(cached) = self.cached.borrow().get(&key) {
            return cached.clone();
        }
        let read = self.read(metric, from_ms, to_ms);
        self.cached.borrow_mut().insert(key, read.clone());
        read
    }

    fn read(&self, metric: &str, from_ms: i64, to_ms: i64) -> Result<SampledSeries, String> {
        let (selector, length_ms) = (self.selector(metric), to_ms - from_ms);
        let answer = match length_ms {
            0 => self.ask(&selector, Asked::At { at_ms: to_ms })?,
            // A range leaves out its first instant.
            1..=MAX_WHOLE_MS => {
                self.ask(&format!("{selector}[{}ms]", length_ms + 1), Asked::At { at_ms: to_ms })?
            }
            _ => {
                let step_ms = (length_ms / STEPS).max(STEP_MS);
                self.ask(&selector, Asked::Between { from_ms, to_ms, step_ms })?
            }
        };
        let mut series = match answer {
            Answer::Matrix(series) => series,
            Answer::Vector(series) => {
                let at_end = |point: Point| vec![Point { at_ms: to_ms, ..point }];
                series.into_iter().map(|(name, point)| (name, at_end(point))).collect()
            }
            _ => Vec::new(),
        };
        for (name, points) in &mut series {
            self.machine.labels().for_each(|(label, _)| drop(name.take(label)));
            points.retain(|point| (from_ms..=to_ms).contains(&point.at_ms));
            self.points.set(self.points.get() + points.len());
        }
        if self.points.get() > self.most_points {
            return Err("the store has too many samples of that time: ask about less".to_owned());
        }
        let shared = |(name, points)| (name, Arc::new(points));
        Ok(series.into_iter().map(shared).collect())
    }

    /// Returns the metrics that the store did not answer for, and what it said.
    fn unanswered(&self) -> Vec<String> {
        let cached = self.cached.borrow();
        let errors = cached.iter().filter_map(|((metric, ..), read)| Some((metric, read.as_ref().err()?)));
        let by_metric: BTreeMap<&String, &String> = errors.collect();
        let named = |(metric, error): (&String, &String)| {
            let error: String = error.chars().take(MAX_ERROR_CHARS).collect();
            format!("what rests on {metric}, for which the store has no answer: {error}")
        };
        by_metric.into_iter().map(named).collect()
    }

    /// Returns a counter of tasks, made of the rates of programs. `is_part`: it is a part of a sum that stands elsewhere, and does not rise.
    fn counter(
        &self,
        metric: &str,
        recorded: &str,
        is_part: bool,
        [from_ms, to_ms]: [i64; 2],
    ) -> Result<SampledSeries, String> {
        let series = self.samples(recorded, from_ms, to_ms + RATE_MS)?;
        let counter = |(name, rates): &(SeriesName, Arc<Vec<Point>>)| {
            let mut name = name.clone();
            name.set(METRIC, metric);
            let mut points = counted(rates, from_ms, to_ms);
            if is_part {
                points.iter_mut().for_each(|point| point.value = 0.0);
            }
            (name, Arc::new(points))
        };
        Ok(series.iter().map(counter).collect())
    }
}

/// Returns when the first and the last sample were.
fn extent_ms(series: &[(SeriesName, Arc<Vec<Point>>)]) -> Option<[i64; 2]> {
    let times_ms = || series.iter().flat_map(|(_, points)| points.iter()).map(|point| point.at_ms);
    times_ms().min().zip(times_ms().max()).map(|(first, last)| [first, last])
}

/// Returns a counter made of rates. Each rate is that of the minute before its sample.
fn counted(rates: &[Point], from_ms: i64, to_ms: i64) -> Vec<Point> {
    let step_ms = ((to_ms - from_ms) / STEPS).max(STEP_MS);
    let mut rates = rates.iter().peekable();
    let mut value = 0.0;
    let mut counter = vec![Point { at_ms: from_ms, value }];
    let mut at_ms = from_ms;
    while at_ms < to_ms {
        let before_ms = at_ms;
        at_ms = (at_ms + step_ms).min(to_ms);
        while rates.next_if(|rate| rate.at_ms < at_ms).is_some() {}
        let rate = rates.peek().filter(|rate| rate.at_ms - RATE_MS < at_ms && rate.value.is_finite());
        value += rate.map_or(0.0, |rate| rate.value) * (at_ms - before_ms) as f64 / 1000.0;
        counter.push(Point { at_ms, value });
    }
    counter
}

impl Source for StoredMachine<'_> {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let named = selection.matchers.iter().find_map(|matcher| match &matcher.condition {
            Condition::Equal(name) if matcher.label == METRIC => Some(name.as_str()),
            _ => None,
        });
        let metric = named.ok_or("a store is asked for one metric at a time")?;
        let range = [selection.from_ms, selection.to_ms];
        let series = match RECORDED.iter().find(|(counter, _)| *counter == metric) {
            Some((_, recorded)) => {
                self.counter(metric, recorded.unwrap_or(MEMORY), recorded.is_none(), range)?
            }
            // Of a series that has ended an instant knows, and not a range.
            None if selection.is_newest => self.samples(metric, selection.to_ms, selection.to_ms)?,
            None => self.samples(metric, selection.from_ms, selection.to_ms)?,
        };
        let selected = series.iter().filter(|(name, _)| selection.is_met_by(name)).cloned();
        Ok(selected.map(|(name, points)| Series { name, samples: Samples::Points(points) }).collect())
    }
}

impl MachinePast for StoredMachine<'_> {
    fn answer(&self, expression: &str, at_ms: i64, limits: &Limits<'_>) -> Result<Answer, QueryError> {
        Query::parse(expression)?.at(self, at_ms, limits)
    }

    fn watched(&self, _: [i64; 2], _: &Limits<'_>) -> Result<WatchedSummary, QueryError> {
        Ok(WatchedSummary::default())
    }

    fn is_partial(&self, error: &QueryError) -> bool {
        let cached = self.cached.borrow();
        let unanswered: Vec<&String> = cached.values().filter_map(|read| read.as_ref().err()).collect();
        let is_over = Instant::now() >= self.deadline || self.points.get() > self.most_points;
        let QueryError::Unreadable(error) = error else { return false };
        !is_over && unanswered.len() <= MAX_UNANSWERED && unanswered.contains(&error)
    }

    fn begins_ms(&self) -> Option<i64> {
        self.begins_ms
    }

    fn sees_all(&self) -> bool {
        true
    }

    fn knows_cgroups(&self) -> bool {
        false
    }

    fn container_names(&self) -> &ContainerNames {
        &self.containers
    }
}

#[cfg(test)]
mod tests;
