//! Sends what was recorded to stores elsewhere, by Prometheus' remote write. The queue is the history: a receiver has a place in it, up to
//! which it has taken everything, and an outage costs nothing but catching up.
//!
//! A receiver has a thread of its own (`watch`, `sending`), so that one that hangs delays no other. It reads the next samples behind the receiver's
//! place (`samples`) under the names with which they go out (`selection`), sends them (`shipment`, `delivery`), and then moves the place
//! (`progress`), which survives the agent. Answers of recording rules go out in the same way (`rule_samples`): the history has what they read.

#![forbid(unsafe_code)]

mod delivery;
mod fate;
mod options;
mod pause;
mod progress;
mod recording_rule;
mod rule_samples;
mod rule_tables;
mod samples;
mod selection;
mod sending;
mod shipment;
mod source;
mod suspects;
pub mod tables;
mod unsettled;
mod watch;
mod whole_refusal;

pub use options::ReceiverOptions;
pub use progress::{Progress, RefusedSeries};
pub use recording_rule::RecordingRule;
pub use watch::RemoteWriteWatch;
