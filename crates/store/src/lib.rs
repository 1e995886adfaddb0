//! History: what a machine's series were, tick by tick, in one SQLite file (docs/FORMAT.md).
//!
//! Ticks come one by one and are safe from the process' own end as soon as [`Store::append`] returns: each is a row of the journal.
//! When a block of them is full, each series' values become a compressed column, a few series a tick, and the journal of the
//! block goes. Whoever reads sees both as one.
//!
//! This crate knows no /proc: what series mean is their names.

#![forbid(unsafe_code)]

mod block;
mod column;
mod database;
mod error;
mod history;
mod journal;
mod series;
mod store;
mod varint;

pub use error::StoreError;
pub use history::{Extent, History, Sample};
pub use series::{SeriesId, SeriesKind};
pub use store::{Store, Tick};
