//! Metadata: what there is to know beside series.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::api::with_past;
use super::clients::Requester;
use super::reply::success;
use super::shared::Shared;
use history::past::{Past, metadata as of_metric};

/// Kinds and help of metrics.
pub(super) async fn metadata(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    Query(form): Query<BTreeMap<String, String>>,
) -> Response {
    let most = form.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    let wanted = form.get("metric").cloned();
    with_past(shared, requester, move |past, _| {
        let mut names: BTreeSet<String> = past.series().map(|name| name.metric().to_owned()).collect();
        names.extend(Past::task_metrics().map(|(name, _)| name.to_owned()));
        let known = names.into_iter().filter(|name| wanted.as_deref().is_none_or(|wanted| wanted == name));
        let rows = known.filter_map(|name| of_metric(&name).map(|found| (name, found)));
        let rows = rows
            .take(most)
            .map(|(name, (kind, help))| (name, json!([{ "type": kind, "help": help, "unit": "" }])));
        success(&Value::Object(rows.collect()))
    })
    .await
}

/// Returns the version that answers: clients choose by it what they may ask. It is that of Prometheus, whose language this is a part of.
pub(super) async fn build() -> Response {
    success(&json!({
        "version": "2.42.0",
        "application": "whit",
        "revision": env!("CARGO_PKG_VERSION"),
        "branch": "",
        "buildUser": "",
        "buildDate": "",
        "goVersion": "",
    }))
}

/// whit records none.
pub(super) async fn no_exemplars() -> Response {
    success(&json!([]))
}
