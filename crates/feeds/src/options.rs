//! Options and limits of the reader.

use std::time::Duration;

use crate::addresses::AllowedNetwork;
use crate::parser::DocumentParser;

/// The options of the reader: what is polled, how often, and what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedOptions {
    /// Where documents are read.
    pub parser: DocumentParser,
    /// Addresses that are fetched although they are not public.
    pub allowed: Vec<AllowedNetwork>,
    /// The shortest time between two polls of a feed.
    pub least_interval: Duration,
    /// The longest.
    pub most_interval: Duration,
    /// The time between two requests to one host.
    pub host_interval: Duration,
    /// How long entries are kept that their feed does not list any more. Starred ones are kept for good.
    pub keep: Duration,
    /// The most of a document, decompressed.
    pub most_bytes: u64,
}

impl Default for FeedOptions {
    fn default() -> Self {
        Self {
            parser: DocumentParser::Here,
            allowed: Vec::new(),
            least_interval: Duration::from_secs(15 * 60),
            most_interval: Duration::from_secs(86_400),
            host_interval: Duration::from_secs(2),
            keep: Duration::from_secs(90 * 86_400),
            most_bytes: 10_000_000,
        }
    }
}
