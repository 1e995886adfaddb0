//! The last tick, for whoever scrapes it: Prometheus' text format and OpenMetrics.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use facts::task::rounds::Scope;
use query::number::write_in_full;

use super::api::with_past;
use super::shared::Shared;
use crate::past::{self, Past};

const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn metrics(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
    headers: HeaderMap,
) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let is_open_metrics = accepted.is_some_and(|accepted| accepted.contains("application/openmetrics-text"));
    with_past(shared, scope, move |past| {
        let text = render(past, is_open_metrics);
        let kind = (header::CONTENT_TYPE, if is_open_metrics { OPEN_METRICS } else { PROMETHEUS });
        ([kind], text).into_response()
    })
    .await
}

fn render(past: &Past, is_open_metrics: bool) -> String {
    let mut series: Vec<_> = past.last_tick();
    // All series of a metric stand behind one another.
    series.sort_by(|(one, _), (other, _)| (one.metric(), one).cmp(&(other.metric(), other)));
    let (mut text, mut family) = (String::new(), "");
    for (name, value) in &series {
        if name.metric() != family {
            family = name.metric();
            let (kind, help) =
                past::metadata(family).unwrap_or((if is_open_metrics { "unknown" } else { "untyped" }, ""));
            // OpenMetrics names the counter without its suffix.
            let base = match family.strip_suffix("_total") {
                Some(base) if is_open_metrics && kind == "counter" => base,
                _ => family,
            };
            let kind = match kind {
                "counter" if is_open_metrics && base == family => "unknown",
                kind => kind,
            };
            if !help.is_empty() {
                let _ = writeln!(text, "# HELP {base} {}", help.replace('\\', "\\\\").replace('\n', "\\n"));
            }
            let _ = writeln!(text, "# TYPE {base} {kind}");
        }
        let _ = writeln!(text, "{name} {}", write_in_full(*value));
    }
    if is_open_metrics {
        text.push_str("# EOF\n");
    }
    text
}
