//! The parts that an expression can be made of, for its completion.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use formats::series_name::METRIC;

use super::reply;
use crate::http::api::with_past;
use crate::http::clients::Requester;
use crate::http::replies::{Language, MetricEntry};
use crate::http::shared::Shared;
use history::past::{self, Past};

/// The functions, and the metrics with their labels.
pub(crate) async fn language(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
) -> Response {
    with_past(shared, requester, |past, _| reply(Ok(of(past)))).await
}

fn of(past: &Past) -> Language {
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for series in past.series() {
        let known = labels.entry(series.metric()).or_default();
        known.extend(series.labels().map(|(label, _)| label).filter(|label| *label != METRIC));
    }
    for (metric, labels_of_tasks) in Past::task_metrics() {
        labels.entry(metric).or_default().extend(labels_of_tasks);
    }
    let metric = |(name, labels): (&str, BTreeSet<&str>)| MetricEntry {
        name: name.to_owned(),
        help: past::metadata(name).map_or("", |(_, help)| help),
        labels: labels.into_iter().map(str::to_owned).collect(),
    };
    Language { functions: query::functions().collect(), metrics: labels.into_iter().map(metric).collect() }
}
