//! Why a machine was slow, by what the store has of it: its agent's examination over other series.
//!
//! The samples of the machine are asked for, and expressions are evaluated here, as its agent does: stores differ in what a rate is. Single tasks do
//! not go out. In place of their counters stand the recorded expressions by program.

use std::cell::RefCell;
use std::collections::HashMap;
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

/// The label of a job, as remote write adds it.
const JOB: &str = "job";
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
const NO_TASKS: &str = "what single tasks did: the store has the twenty largest programs by each figure, and their waits for memory of all kinds together";
const NO_PROGRAMS: &str = "who caused anything: the agent of this machine sends no recorded expressions ([recording] in its configuration)";

impl Fleet {
    /// Examines a window of a machine. After the deadline nothing more is asked.
    ///
    /// # Errors
    /// If there is no such machine, or the store does not answer.
    pub fn why(&self, machine: &str, window: Window, deadline: Instant) -> Result<Findings, String> {
        let selector = format!("{SIGN_OF_LIFE}{{{}}}", self.matchers);
        let names = self.store.label_values(INSTANCE, &selector, [window.from_ms - DAY_MS, window.to_ms])?;
        if !names.iter().any(|name| name == machine) {
            let hint = did_you_mean(machine, names.iter().map(String::as_str));
            return Err(format!("no machine is called \"{machine}\"{hint}"));
        }
        let past = StoredMachine {
            fleet: self,
            machine,
            deadline,
            cached: RefCell::default(),
            containers: ContainerNames::default(),
        };
        let mut findings =
            examine_machine(&past, window, &Limits::default()).map_err(|error| error.to_string())?;
        let has_programs = past.has(ON_CPU, window)?;
        findings.missing.push(if has_programs { NO_TASKS } else { NO_PROGRAMS }.to_owned());
        Ok(findings)
    }
}

/// Series with their samples.
type SampledSeries = Vec<(SeriesName, Vec<Point>)>;

/// What the store has of a machine.
struct StoredMachine<'f> {
    fleet: &'f Fleet,
    machine: &'f str,
    deadline: Instant,
    /// The samples of metrics between two times, as they were read.
    cached: RefCell<HashMap<(String, i64, i64), SampledSeries>>,
    /// None: the store has their names as labels.
    containers: ContainerNames,
}

impl StoredMachine<'_> {
    /// Returns the samples of a metric between two times in milliseconds since 1970, both included, without the labels of the machine.
    fn samples(&self, metric: &str, from_ms: i64, to_ms: i64) -> Result<SampledSeries, String> {
        let key = (metric.to_owned(), from_ms, to_ms);
        if let Some(cached) = self.cached.borrow().get(&key) {
            return Ok(cached.clone());
        }
        if Instant::now() >= self.deadline {
            return Err(TOO_SLOW.to_owned());
        }
        let restricted = query::restricted(metric, (INSTANCE, self.machine), &self.fleet.matchers);
        let selector = restricted.map_err(|error| error.to_string())?;
        // A range leaves out its first instant.
        let expression = format!("{selector}[{}ms]", to_ms - from_ms + 1);
        let mut series = match self.fleet.store.ask(&expression, Asked::At { at_ms: to_ms })? {
            Answer::Matrix(series) => series,
            _ => Vec::new(),
        };
        for (name, points) in &mut series {
            [INSTANCE, JOB].into_iter().for_each(|label| drop(name.take(label)));
            points.retain(|point| (from_ms..=to_ms).contains(&point.at_ms));
        }
        self.cached.borrow_mut().insert(key, series.clone());
        Ok(series)
    }

    fn has(&self, metric: &str, window: Window) -> Result<bool, String> {
        Ok(!self.samples(metric, window.from_ms, window.to_ms + RATE_MS)?.is_empty())
    }

    /// Returns a counter of tasks, made of the rates of programs. `is_part`: it is a part of a sum that stands elsewhere, and does not rise.
    fn counter(
        &self,
        metric: &str,
        recorded: &str,
        is_part: bool,
        [from_ms, to_ms]: [i64; 2],
    ) -> Result<SampledSeries, String> {
        let mut series = self.samples(recorded, from_ms, to_ms + RATE_MS)?;
        for (name, points) in &mut series {
            name.set(METRIC, metric);
            *points = counted(points, from_ms, to_ms);
            if is_part {
                points.iter_mut().for_each(|point| point.value = 0.0);
            }
        }
        Ok(series)
    }
}

/// Returns a counter that rises as some rates say, each of which is that of the minute before it.
fn counted(rates: &[Point], from_ms: i64, to_ms: i64) -> Vec<Point> {
    let mut rates = rates.iter().peekable();
    let mut value = 0.0;
    let mut counter = vec![Point { at_ms: from_ms, value }];
    let mut at_ms = from_ms;
    while at_ms < to_ms {
        at_ms = (at_ms + STEP_MS).min(to_ms);
        while rates.next_if(|rate| rate.at_ms < at_ms).is_some() {}
        let rate = rates.peek().filter(|rate| rate.at_ms - RATE_MS < at_ms && rate.value.is_finite());
        value += rate.map_or(0.0, |rate| rate.value) * STEP_MS as f64 / 1000.0;
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
            None => self.samples(metric, selection.from_ms, selection.to_ms)?,
        };
        let selected = series.into_iter().filter(|(name, _)| selection.is_met_by(name));
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

    fn begins_ms(&self) -> Option<i64> {
        // A store keeps more than an agent. What it does not have has no answer.
        Some(0)
    }

    fn sees_all(&self) -> bool {
        true
    }

    fn container_names(&self) -> &ContainerNames {
        &self.containers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_rises_as_rates_say() {
        let rate = |at_ms, value| Point { at_ms, value };
        let rates = [rate(60_000, 0.5), rate(120_000, 1.0), rate(300_000, 2.0)];
        let counter = counted(&rates, 30_000, 270_000);
        let at = |at_ms: i64| counter.iter().find(|point| point.at_ms == at_ms).unwrap().value;
        assert_eq!((at(30_000), at(60_000), at(120_000)), (0.0, 15.0, 75.0));
        // Nothing is known of the two minutes in between.
        assert_eq!((at(240_000), at(270_000), counter.len()), (75.0, 135.0, 241));
    }
}
