//! The validated options of `whit sink`.

use std::sync::Arc;
use std::time::Duration;

use super::answer::Answers;
use crate::traffic::address::Address;

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct SinkOptions {
    pub(crate) address: Address,
    /// Of a packet.
    pub(crate) size: u64,
    /// What each packet takes.
    pub(crate) delay: Option<Duration>,
    /// End when so many have come and gone.
    pub(crate) clients: Option<u64>,
    pub(crate) duration: Option<Duration>,
    pub(crate) threads: usize,
    pub(crate) answers: Option<Arc<Answers>>,
    pub(crate) is_live: bool,
    pub(crate) is_json: bool,
}
