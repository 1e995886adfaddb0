//! Alerts: expressions that are evaluated again and again, and the notifications that are sent when they have answers.
//!
//! [`AlertWatch`] evaluates the rules in a thread of its own, [`Active`] decides what fires, and [`Ledger`] keeps that together with the
//! notifications that are still to be sent. [`tables`] reads the rules from a configuration.

#![forbid(unsafe_code)]

mod active;
mod ledger;
mod message;
mod notification;
mod rule;
mod shared;
mod silence;
pub mod tables;
mod trial;
mod watch;

pub use active::Active;
pub use ledger::Ledger;
pub use message::{Message, MessageFault, template_of};
pub use rule::{AlertOptions, AlertRule, SERIES};
pub use shared::{AlertSnapshot, RuleState, SharedAlerts};
pub use silence::Silence;
pub use trial::{Fired, try_rule};
pub use watch::{AlertWatch, ask};
