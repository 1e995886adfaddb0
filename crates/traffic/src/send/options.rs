//! The validated options of `whit send`.

use std::time::Duration;

use http_client::TlsServer;

use super::condition::Condition;
use super::connection::Answer;
use crate::address::Address;

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct SendOptions {
    pub(crate) address: Address,
    /// Packets of all connections together.
    pub(crate) count: Option<u64>,
    /// The bytes of a packet.
    pub(crate) size: usize,
    /// Packets a second of all connections together.
    pub(crate) rate: Option<f64>,
    pub(crate) connections: usize,
    pub(crate) duration: Option<Duration>,
    /// How long a peer may take and return nothing before its connection is given up.
    pub(crate) patience: Duration,
    pub(crate) answer: Answer,
    /// The server of TLS; none: in plain.
    pub(crate) tls: Option<TlsServer>,
    /// The HTTP request that is sent in place of packets of any content.
    pub(crate) request: Option<Vec<u8>>,
    pub(crate) threads: usize,
    /// Under one of these the exit status is 1.
    pub(crate) failures: Vec<Condition>,
    pub(crate) is_live: bool,
    pub(crate) is_json: bool,
}
