//! Questions about a window, and what was answered.

use formats::series_name::SeriesName;
use query::{Answer, Limits, Query, QueryError};

use super::sentence::{Evidence, Window};
use crate::past::{BatchedSource, ParentOfMost};
use crate::task_series;

/// Less of an hour is no hour to compare with.
const LEAST_HOUR_MS: i64 = 1_800_000;
const DAY_MS: i64 = 86_400_000;

/// Asks about a window.
pub(super) struct Examiner<'p> {
    past: &'p BatchedSource<'p>,
    limits: &'p Limits<'p>,
    pub(super) window: Window,
    /// The first tick that there is.
    begins_ms: i64,
}

/// A part of a machine's work, by who does it.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) name: SeriesName,
    pub(super) value: f64,
    pub(super) evidence: Evidence,
}

impl<'p> Examiner<'p> {
    pub(super) fn new(past: &'p BatchedSource<'p>, window: Window, limits: &'p Limits<'p>) -> Self {
        let extent = past.past().extent_ns().ok().flatten();
        Self {
            past,
            limits,
            window,
            begins_ms: extent.map_or(window.from_ms, |(first, _)| first / 1_000_000),
        }
    }

    /// The window as a range of the language. `W` in an expression stands for it.
    fn fill_in(&self, expression: &str) -> String {
        let length_ms = (self.window.to_ms - self.window.from_ms).max(1);
        let range = match length_ms % 1000 {
            0 => format!("[{}s]", length_ms / 1000),
            _ => format!("[{length_ms}ms]"),
        };
        expression.replace("[W]", &range)
    }

    fn ask(&self, expression: &str) -> Result<Vec<(SeriesName, f64)>, QueryError> {
        let answer = Query::parse(expression)?.at(self.past, self.window.to_ms, self.limits)?;
        Ok(match answer {
            Answer::Scalar(point) => vec![(SeriesName::default(), point.value)],
            Answer::Vector(series) => series.into_iter().map(|(name, point)| (name, point.value)).collect(),
            _ => Vec::new(),
        })
    }

    /// The value of an expression; `None` if it has none.
    pub(super) fn number(&self, expression: &str) -> Result<Option<Evidence>, QueryError> {
        let expression = self.fill_in(expression);
        let value = self.ask(&expression)?.first().map(|(_, value)| *value);
        Ok(value.filter(|value| value.is_finite()).map(|value| Evidence { expression, value }))
    }

    /// The first value of an expression that has several, in its own order.
    pub(super) fn first(&self, expression: &str) -> Result<Option<Share>, QueryError> {
        let expression = self.fill_in(expression);
        let found = self.ask(&expression)?.into_iter().find(|(_, value)| value.is_finite());
        Ok(found.map(|(name, value)| Share { name, value, evidence: Evidence { expression, value } }))
    }

    /// Returns the process that started most of those that ended in the window.
    pub(super) fn parent_of_most(&self) -> Result<Option<ParentOfMost>, QueryError> {
        self.past.parent_of_most([self.window.from_ms, self.window.to_ms], self.limits)
    }

    /// What an expression was in the hour before the window, and a day before, in words; empty if neither is known.
    pub(super) fn compared(&self, expression: &str, unit: &str) -> Result<String, QueryError> {
        let length_s = ((self.window.to_ms - self.window.from_ms) / 1000).max(1);
        let hour = expression.replace("[W]", &format!("[1h] offset {length_s}s"));
        let day = expression.replace("[W]", &format!("[{length_s}s] offset 1d"));
        let recorded_ms = self.window.from_ms - self.begins_ms;
        let mut words = Vec::new();
        for (when, needed_ms, expression) in
            [("in the hour before", LEAST_HOUR_MS, hour), ("a day ago", DAY_MS, day)]
        {
            if recorded_ms < needed_ms {
                continue;
            }
            if let Some((_, value)) = self.ask(&expression)?.first().filter(|(_, value)| value.is_finite()) {
                words.push(format!("{when} {value:.2}{unit}"));
            }
        }
        Ok(if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) })
    }

    /// Who does most of something: the program, and its process if that does nearly all of it.
    pub(super) fn who(&self, rate: &str) -> Result<Option<Share>, QueryError> {
        let program = self.first(&format!("topk(1, sum by (comm) ({rate}))"))?;
        // In most cases it is this one. Asked now, both are read in one replay.
        let busiest = self.first(&format!("topk(1, sum by (comm, pid) ({rate}))"))?;
        let Some(program) = program.filter(|program| program.value > 0.0) else { return Ok(None) };
        let comm = program.name.get("comm");
        let expression = format!("topk(1, sum by (comm, pid) ({}))", of_program(rate, comm));
        let is_one = |process: &Share| process.value > 0.8 * program.value;
        // No process of the program did more than the busiest of all.
        let process = match busiest.filter(is_one) {
            Some(mut process) if process.name.get("comm") == comm => {
                process.evidence.expression = self.fill_in(&expression);
                Some(process)
            }
            Some(_) => self.first(&expression)?.filter(is_one),
            None => None,
        };
        Ok(Some(process.unwrap_or(program)))
    }

    /// Returns the sum over all tasks and its expression: the recorded total, or the sum over the visible tasks if the requester may not see
    /// that one.
    pub(super) fn total(&self, states: &str, sum: &str) -> Result<Option<(Evidence, String)>, QueryError> {
        let recorded = format!("sum(rate({}{{state=~\"{states}\"}}[W]))", task_series::METRIC);
        for expression in [recorded, sum.to_owned()] {
            if let Some(evidence) = self.number(&expression)? {
                return Ok(Some((evidence, expression)));
            }
        }
        Ok(None)
    }
}

/// Adds a matcher of one name to each selector of a rate.
fn of_program(rate: &str, comm: &str) -> String {
    let quoted = serde_json::to_string(comm).unwrap_or_default();
    let more = format!(",comm={quoted}}}[W]");
    rate.replace("}[W]", &more).replace("_total[W]", &format!("_total{{comm={quoted}}}[W]"))
}

impl Share {
    /// Its program, and its number if it is one process.
    pub(super) fn label(&self) -> String {
        let comm = match self.name.get("comm") {
            "" => "a task without a name",
            comm => comm,
        };
        match self.name.get("pid") {
            "" => comm.to_owned(),
            pid => format!("{comm} ({pid})"),
        }
    }

    pub(super) fn culprit(&self) -> Option<String> {
        Some(self.name.get("comm").to_owned()).filter(|comm| !comm.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_selector_gets_the_name() {
        let rate = "rate(a_total[W]) + rate(b_total{comm!~\"x.*\"}[W])";
        let found = of_program(rate, "a \"b\\");
        let expected =
            "rate(a_total{comm=\"a \\\"b\\\\\"}[W]) + rate(b_total{comm!~\"x.*\",comm=\"a \\\"b\\\\\"}[W])";
        assert_eq!(found, expected);
        assert!(Query::parse(&found.replace("[W]", "[4s]")).is_ok());
    }
}
