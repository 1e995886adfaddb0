//! Expressions over what is recorded.

use std::path::Path;
use std::time::{Duration, Instant};

use formats::series_name::SeriesName;
use jiff::Timestamp;
use query::number::write_in_full;
use query::{Answer, Limits, Query};

use super::outcome::Outcome;
use super::subject::ExpressionCheck;
use crate::state::State;
use history::past::Past;

/// Series that the text names.
const MOST_NAMED: usize = 5;

/// Points at which an expression is evaluated that must hold for a while.
const MOST_STEPS: i64 = 60;

pub(super) fn ask(wanted: &ExpressionCheck, timeout: Duration, history: &Path) -> Outcome {
    let ExpressionCheck { expression, state, hold } = wanted;
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
        let step_ms = (hold_ms / MOST_STEPS).max(1000).min(hold_ms);
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
    let named = series.iter().take(MOST_NAMED).map(|(name, point)| {
        let name = name.to_string();
        let name = if name.is_empty() || name == "{}" { String::new() } else { format!("{name} ") };
        format!("{name}is {}", write_in_full(point.value))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match series.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Outcome::new(*state, format!("{named}{more}"))
}
