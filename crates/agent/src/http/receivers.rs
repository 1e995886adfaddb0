//! The receivers of remote write, for those who see every task.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use history::HISTORY;
use remote_write::Progress;
use serde_json::json;
use store::History;

use super::replies::{ReceiverEntry, RefusedEntry};
use super::reply::{Refusal, blocking, internal, success};
use super::shared::{SeesAll, Shared};

/// How far each receiver is, and what it refuses.
pub(super) async fn list(State(shared): State<Arc<Shared>>, _: SeesAll) -> Result<Response, Refusal> {
    let read = move || {
        let receivers = Progress::read_all(shared.data())?;
        let history = History::open(&shared.data().join(HISTORY)).ok();
        let extent = history.and_then(|history| history.extent().ok()).and_then(|extent| extent.realtime_ns);
        let last_ns = extent.map(|(_, last_ns)| last_ns);
        Ok(receivers.into_iter().map(|receiver| entry(receiver, last_ns)).collect::<Vec<_>>())
    };
    let receivers = blocking(read).await?;
    let receivers = receivers.map_err(|error: std::io::Error| internal(error.to_string()))?;
    Ok(success(&json!(receivers)))
}

fn entry(receiver: Progress, last_ns: Option<i64>) -> ReceiverEntry {
    let behind_ns = last_ns.and_then(|last_ns| receiver.behind_ns(last_ns));
    ReceiverEntry {
        behind_ms: behind_ns.map(|behind_ns| behind_ns / 1_000_000),
        name: receiver.name,
        url: receiver.url,
        version: receiver.version,
        taken: receiver.taken_count,
        refused: receiver.refused_count,
        failures: receiver.failures_count,
        sent_bytes: receiver.sent_bytes,
        trouble: receiver.trouble,
        refused_last: receiver
            .refused
            .into_iter()
            .next()
            .map(|refused| RefusedEntry { series: refused.series, message: refused.message }),
    }
}
