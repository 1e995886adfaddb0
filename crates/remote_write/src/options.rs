//! The options of a receiver.

use std::time::Duration;

use formats::relabel::Relabelling;
use formats::remote_write::Version;
use http_client::Tls;

use crate::recording_rule::RecordingRule;

/// A store that is sent what was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverOptions {
    /// Distinguishes it from others.
    pub name: String,
    /// Where requests go, with the path.
    pub url: String,
    /// The version of the protocol; `None`: the newest that the receiver takes.
    pub version: Option<Version>,
    /// Headers that each request has, credentials among them.
    pub headers: Vec<(String, String)>,
    /// Whom requests trust, and who they are.
    pub tls: Tls,
    /// Series that meet one of these selectors go out. None: all do.
    pub selectors: Vec<String>,
    /// How their labels change.
    pub relabelling: Relabelling,
    /// Labels that are added where a series does not have them.
    pub labels: Vec<(String, String)>,
    /// Expressions whose answers go out as well.
    pub rules: Vec<RecordingRule>,
    /// Between two requests of what is new.
    pub interval: Duration,
    /// The longest that a request may take.
    pub timeout: Duration,
    /// So much of the history goes out first to a receiver that is new.
    pub first: Duration,
    /// So much goes out again when the receiver could not be reached: it may have lost what it had not written yet.
    pub again: Duration,
}

#[cfg(test)]
impl ReceiverOptions {
    /// Those of a receiver to which everything goes out as it is.
    pub(crate) fn of_everything() -> Self {
        Self {
            name: "store".to_owned(),
            url: "http://store/".to_owned(),
            version: None,
            headers: Vec::new(),
            tls: Tls::default(),
            selectors: Vec::new(),
            relabelling: Relabelling::default(),
            labels: Vec::new(),
            rules: Vec::new(),
            interval: Duration::ZERO,
            timeout: Duration::ZERO,
            first: Duration::ZERO,
            again: Duration::ZERO,
        }
    }
}
