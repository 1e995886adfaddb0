//! Alerts: expressions that are asked again and again, and what is told when they have answers.
//!
//! `watch` evaluates the rules in a thread of its own, `active` decides what fires, `ledger` keeps that together with what is still to be
//! told, `outbox` sees to it that this is told once, and `courier` is the process that tells it.

mod active;
mod board;
pub mod courier;
mod ledger;
mod message;
mod outbox;
mod rule;
mod silence;
mod trial;
mod watch;

pub use active::Active;
pub(crate) use board::{Board, RuleState, Standing};
pub use ledger::{Delivery, Ledger, Outcome};
pub use message::{Message, MessageFault};
pub use outbox::tell;
pub(crate) use rule::SERIES;
pub use rule::{AlertOptions, AlertRule, Receiver, Way};
pub use silence::Silence;
pub use trial::{Fired, try_rule};
pub(crate) use watch::AlertWatch;
pub use watch::ask;
