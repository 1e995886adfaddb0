//! The receivers of remote write, for those who see every task.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use remote_write::Progress;

use super::api::with_past;
use super::clients::Requester;
use super::page::reply;
use super::replies::{ReceiverEntry, RefusedEntry};
use super::reply::internal;
use super::shared::{SeesAll, Shared};

/// How far each receiver is, and what it refuses.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    Extension(requester): Extension<Requester>,
) -> Response {
    let data = shared.data().to_owned();
    with_past(shared, requester.of_cheap(), move |past, _| {
        let last_ns = past.extent_ns().ok().flatten().map(|(_, last_ns)| last_ns);
        let receivers = Progress::read_all(&data).map_err(|error| internal(error.to_string()));
        let entry = |receiver| entry(receiver, last_ns);
        reply(receivers.map(|receivers| receivers.into_iter().map(entry).collect::<Vec<_>>()))
    })
    .await
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
