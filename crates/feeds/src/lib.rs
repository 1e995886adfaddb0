//! A feed reader for several people: it polls feeds, keeps their entries, and shows them to their subscribers.
//!
//! [`FeedWatch`] is the thread that fetches each feed once for all its subscribers. [`Library`] is the database: accounts, subscriptions, entries and what
//! each account has read. [`web`] answers browsers, and readers that know the Google Reader API; its caller serves HTTP.

#![forbid(unsafe_code)]

mod accounts;
mod addresses;
mod cache;
mod clean_html;
mod counts;
mod database;
mod dates;
mod discovery;
mod document;
mod encoding;
mod entries;
mod entry_filter;
mod entry_text;
mod error;
mod feed_rows;
mod fetch;
mod locate;
mod normal_form;
mod normal_json;
mod opml;
mod options;
mod outline;
mod parser;
mod poller;
mod reading;
mod repair;
mod rhythm;
mod search;
#[cfg(test)]
mod simulated_day;
#[cfg(test)]
mod simulated_servers;
mod subscriptions;
mod watch;
pub mod web;
mod web_address;

pub use accounts::Account;
pub use addresses::AllowedNetwork;
pub use counts::{FeedCounts, FetchTotals};
pub use database::Library;
pub use discovery::FoundFeed;
pub use entries::{FeedEntry, Mark};
pub use entry_filter::EntryFilter;
pub use entry_text::plain_text;
pub use error::FeedError;
pub use fetch::Fetcher;
pub use locate::locate;
pub use opml::{MalformedOutline, read as read_opml, write as write_opml};
pub use options::FeedOptions;
pub use outline::Outline;
pub use parser::{DocumentParser, parse_document};
pub use subscriptions::{Subscription, UnreadCount};
pub use watch::FeedWatch;
