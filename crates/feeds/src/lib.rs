//! A feed reader for several people: it polls feeds, keeps their entries, and shows them to their subscribers.
//!
//! [`FeedWatch`] is the thread that fetches each feed once for all its subscribers. [`Library`] is the database: accounts, subscriptions, entries and what
//! each account has read. [`web`] answers browsers, and readers that know the Google Reader API; its caller serves HTTP.

#![forbid(unsafe_code)]

mod accounts;
mod addresses;
mod cache;
mod cache_headers;
mod counts;
mod database;
mod digest;
mod entries;
mod entry_filter;
mod error;
mod feed_rows;
mod fetch;
#[cfg(test)]
mod library_life;
mod locate;
mod options;
mod parser;
mod poller;
mod reach;
mod retention;
mod rhythm;
mod search;
#[cfg(test)]
mod simulated_day;
#[cfg(test)]
mod simulated_servers;
mod subscriptions;
mod watch;
pub mod web;

pub use accounts::Account;
pub use addresses::AllowedNetwork;
pub use counts::{FeedCounts, FetchTotals};
pub use database::Library;
pub use entries::{FeedEntry, MAX_LISTED, Mark};
pub use entry_filter::EntryFilter;
pub use error::FeedError;
pub use fetch::Fetcher;
pub use locate::locate;
pub use options::FeedOptions;
pub use parser::{DocumentParser, parse_document};
pub use subscriptions::{ImportedList, Subscription, UnreadCount};
pub use watch::FeedWatch;
