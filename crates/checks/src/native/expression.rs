//! Expressions over what is recorded.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};
use facts::unit::Nanos;
use formats::series_name::SeriesName;
use jiff::Timestamp;
use query::number::write_in_full;
use query::{Answer, Limits, Query};

use super::outcome::Outcome;
use super::probe::{Limits as RunLimits, Probe};
use crate::state::State;
use history::past::Past;
use text::units::Span;

/// Series that the text names.
const MAX_NAMED: usize = 5;

/// Points at which an expression is evaluated that must hold for a while.
const MAX_STEPS: i64 = 60;

const STATES: [(&str, State); 3] =
    [("warning", State::Warning), ("critical", State::Critical), ("unknown", State::Unknown)];

/// The meaning of a series of the answer.
#[derive(Debug)]
struct Expression {
    state: State,
    /// A series counts if it was in the answer for so long without a gap.
    hold: Duration,
}

pub(super) fn read(table: &Options<'_, '_>, subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    Query::parse(subject).map_err(|error| table.fault_of("expression", error.to_string()))?;
    Ok(Arc::new(Expression {
        state: table.choice("state", &STATES)?.unwrap_or(State::Critical),
        hold: table.duration("for")?.unwrap_or_default(),
    }))
}

impl Probe for Expression {
    fn run(&self, expression: &str, limits: &RunLimits<'_>) -> Outcome {
        ask(self, expression, limits.timeout, limits.history)
    }

    fn condition(&self) -> String {
        if self.hold.is_zero() { String::new() } else { format!(" for {}", Span(Nanos::from(self.hold))) }
    }

    fn has_variables(&self) -> bool {
        false
    }
}

fn ask(wanted: &Expression, expression: &str, timeout: Duration, history: &Path) -> Outcome {
    let Expression { state, hold } = wanted;
    let unknown = |error: &dyn std::fmt::Display| Outcome::new(State::Unknown, error.to_string());
    let query = match Query::parse(expression) {
        Ok(query) => query,
        Err(error) => return unknown(&error),
    };
    let past = match Past::open(history) {
        Ok(past) => past,
        Err(error) => return unknown(&error),
    };
    let deadline = Instant::now() + timeout;
    let is_interrupted = || Instant::now() >= deadline;
    let limits = Limits { is_interrupted: &is_interrupted, ..Limits::default() };
    let now_ms = Timestamp::now().as_millisecond();
    let mut series = match query.at(&past, now_ms, &limits) {
        Ok(Answer::Vector(series)) => series,
        Ok(_) => return Outcome::new(State::Unknown, "its answer is no series with a value each"),
        Err(error) => return unknown(&error),
    };
    if !hold.is_zero() && !series.is_empty() {
        let hold_ms = hold.as_millis() as i64;
        let step_ms = (hold_ms / MAX_STEPS).max(1000).min(hold_ms);
        let held = match query.between(&past, [now_ms - hold_ms, now_ms], step_ms, &limits) {
            Ok(Answer::Matrix(held)) => held,
            Ok(_) => Vec::new(),
            Err(error) => return unknown(&error),
        };
        let steps = (hold_ms / step_ms + 1) as usize;
        let has_held =
            |name: &SeriesName| held.iter().any(|(known, points)| known == name && points.len() == steps);
        series.retain(|(name, _)| has_held(name));
    }
    if series.is_empty() {
        return Outcome::new(State::Ok, format!("{expression} holds for nothing"));
    }
    let named = series.iter().take(MAX_NAMED).map(|(name, point)| {
        let name = name.to_string();
        let name = if name.is_empty() || name == "{}" { String::new() } else { format!("{name} ") };
        format!("{name}is {}", write_in_full(point.value))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match series.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Outcome::new(*state, format!("{named}{more}"))
}
