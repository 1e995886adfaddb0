//! Notifications: to whom they are sent, each of them once.
//!
//! A notification is a [`Delivery`] in a ledger, stored in one transaction with the state that it is about. `outbox` sends each once, by
//! the process `courier`.

pub mod courier;
mod delivery;
mod mail;
mod outbox;
mod progress;
mod receiver;

pub use delivery::{Delivery, Outcome};
pub(crate) use delivery::{DeliveryRecords, Letter, Told, Variables};
pub(crate) use outbox::Outbox;
pub use outbox::tell;
pub use receiver::{MailEncryption, MailOptions, Receiver, Way, WebhookForm};

/// What is filled in where it stands in the words of a command, for alerts and checks alike.
pub const FIELDS: [&str; 5] = ["{name}", "{state}", "{text}", "{value}", "{kind}"];
