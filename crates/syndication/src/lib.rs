//! Documents of the web that feed readers read: RSS, Atom and JSON Feed in all their dialects, pages that name feeds, lists of subscriptions.
//!
//! [`read`] takes any bytes and says what they are. Nothing here opens a file or a socket, or keeps anything: the crate is fuzzed as a whole.

#![forbid(unsafe_code)]

mod authors;
mod clean_html;
mod dates;
mod discovery;
mod document;
mod encoding;
mod entry_content;
mod entry_text;
mod normal_form;
mod normal_json;
pub mod opml;
mod outline;
mod reading;
mod repair;
mod stray_brackets;
mod web_address;

pub use clean_html::{Images, clean, has_images};
pub use dates::parse as parse_date;
pub use discovery::FoundFeed;
pub use document::{ParsedEntry, ParsedFeed};
pub use entry_text::{escaped, plain_text};
pub use outline::Outline;
pub use reading::{Reading, read};
pub use web_address::{parse_url, with_scheme};
