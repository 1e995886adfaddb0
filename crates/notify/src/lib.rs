//! Notifications: receivers, and what is sent to them, each of it once.
//!
//! A notification is a [`Delivery`] in a ledger, stored in one transaction with the state that it is about. [`Outbox`] sends each once, by
//! a process of its own, which [`job`] is.

#![forbid(unsafe_code)]

mod delivery;
pub mod job;
pub mod json_records;
mod mail;
mod outbox;
mod progress;
mod receiver;
mod state_changes;
pub mod tables;

pub use delivery::{Delivery, DeliveryRecords, Letter, Outcome, Subject, Variables};
pub use outbox::{MAX_PAUSE_MS, Outbox, send_now};
pub use receiver::{MailEncryption, MailOptions, Receiver, Way, WebhookForm};
pub use state_changes::{ChangeRecords, StateChange};

/// The fields that a command of a receiver may have in its words, for alerts and checks alike.
pub const FIELDS: [&str; 5] = ["{name}", "{state}", "{text}", "{value}", "{kind}"];
