//! Livestatus: what dashboards ask Nagios and its relatives. Its GET requests, and the answers.
//! <https://docs.checkmk.com/latest/en/livestatus_references.html>

mod answer;
mod condition;
mod request;

pub use answer::{Column, answer, answer_without_rows, refuse};
pub use condition::Value;
pub use request::{Fault, Request};
