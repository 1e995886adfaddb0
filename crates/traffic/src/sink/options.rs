//! The validated options of `whit sink`.

use std::sync::Arc;
use std::time::Duration;

use super::answer::{Answers, Kind};
use super::log::Log;
use crate::address::Address;

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct SinkOptions {
    pub(crate) address: Address,
    /// The bytes of a packet.
    pub(crate) size: u64,
    /// The time that each packet takes.
    pub(crate) delay: Option<Duration>,
    /// End when so many have come and gone.
    pub(crate) clients: Option<u64>,
    pub(crate) duration: Option<Duration>,
    pub(crate) threads: usize,
    pub(crate) answers: Option<Arc<Answers>>,
    pub(crate) is_live: bool,
    pub(crate) is_json: bool,
}

impl SinkOptions {
    /// Returns where requests are written to, if they are.
    pub(super) fn log(&self) -> Option<&Log> {
        self.answers.as_ref()?.log.as_ref()
    }

    /// Returns true if it answers requests, which are counted in place of packets: HTTP requests, or lines.
    pub(super) fn has_requests(&self) -> bool {
        self.answers.as_ref().is_some_and(|answers| matches!(answers.kind, Kind::Http(_) | Kind::Canned(_)))
    }
}
