//! The last tick, for scrapers: Prometheus' text format and OpenMetrics.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use facts::task::rounds::Scope;
use query::number::write_in_full;

use super::api::with_past;
use super::checks::write_metrics;
use super::clients::Requester;
use super::shared::Shared;
use history::past::{self, Past};

const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn metrics(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    headers: HeaderMap,
) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let is_open_metrics = accepted.is_some_and(|accepted| accepted.contains("application/openmetrics-text"));
    let registry = (requester.scope == Scope::All).then(|| shared.states.checks.clone());
    with_past(shared, requester.of_cheap(), move |past, _| {
        let mut text = render(past);
        if let Some(registry) = registry {
            write_metrics(&registry.lock(), jiff::Timestamp::now().as_millisecond(), &mut text);
        }
        if is_open_metrics {
            text = open_metrics(&text);
        }
        let kind = (header::CONTENT_TYPE, if is_open_metrics { OPEN_METRICS } else { PROMETHEUS });
        ([kind], text).into_response()
    })
    .await
}

fn render(past: &Past) -> String {
    let mut series: Vec<_> = past.last_tick();
    // All series of a metric stand behind one another.
    series.sort_by(|(one, _), (other, _)| (one.metric(), one).cmp(&(other.metric(), other)));
    let (mut text, mut family) = (String::new(), "");
    for (name, value) in &series {
        if name.metric() != family {
            family = name.metric();
            let (kind, help) = past::metadata(family).unwrap_or(("untyped", ""));
            if !help.is_empty() {
                let _ = writeln!(text, "# HELP {family} {}", help.replace('\\', "\\\\").replace('\n', "\\n"));
            }
            let _ = writeln!(text, "# TYPE {family} {kind}");
        }
        let _ = writeln!(text, "{name} {}", write_in_full(*value));
    }
    text
}

/// Returns the same text in the words of OpenMetrics, which names a counter without its suffix.
fn open_metrics(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let counters: HashSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .filter(|family| family.ends_with("_total"))
        .collect();
    for line in text.lines() {
        let about = line.strip_prefix("# ").and_then(|line| line.split_once(' '));
        let Some((word, (family, rest))) = about.and_then(|(word, rest)| Some((word, rest.split_once(' ')?)))
        else {
            let _ = writeln!(out, "{line}");
            continue;
        };
        let (family, rest) = match (family.strip_suffix("_total"), rest) {
            (Some(base), _) if counters.contains(family) => (base, rest),
            (_, "counter" | "untyped") => (family, "unknown"),
            (_, rest) => (family, rest),
        };
        let _ = writeln!(out, "# {word} {family} {rest}");
    }
    out.push_str("# EOF\n");
    out
}
