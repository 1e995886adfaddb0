//! Alerts: expressions that are asked again and again, and what is told when they have answers.
//!
//! `watch` evaluates the rules in a thread of its own, `active` decides what fires, and `ledger` keeps that together with what is still to
//! be told.

mod active;
mod board;
mod ledger;
mod message;
mod rule;
mod silence;
mod telling;
mod trial;
mod watch;

pub use active::Active;
pub(crate) use board::{Board, RuleState, Standing};
pub use ledger::Ledger;
pub use message::{Message, MessageFault};
pub(crate) use rule::SERIES;
pub use rule::{AlertOptions, AlertRule};
pub use silence::Silence;
pub use trial::{Fired, try_rule};
pub(crate) use watch::AlertWatch;
pub use watch::ask;
