//! The history as an answer to questions: series and tasks of the past, their sums, marks, `why`, answers and drawings.
//!
//! It reads what `store` has, and asks with `query`. It knows neither the agent that records nor HTTP.

#![forbid(unsafe_code)]

pub mod answer;
pub mod drawing;
pub mod marks;
pub mod metrics;
pub mod past;
pub mod task_sums;
pub mod why;

/// The name of the history in the data directory.
pub const HISTORY: &str = "history.sqlite";
