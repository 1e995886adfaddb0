//! The web page, and what it alone asks. Its sources are in web/, and what is built of them in web/dist.

mod replies;
mod task_rows;

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use facts::task::groups::GroupBy;
use facts::task::rounds::Scope;
use serde::Serialize;

use super::api::{Form, LONGEST_EVALUATION, limits, with_past};
use super::reply::{Refusal, bad_data, internal, success};
use super::shared::Shared;
use crate::past::Past;
use crate::why;
use replies::{Evidence, Sentence, Status, Tasks, Why};

/// Nothing from elsewhere, and no script or style within the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

pub(super) async fn index() -> Response {
    file("text/html; charset=utf-8", include_str!("../../../../../web/dist/index.html"))
}

pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../../../../web/dist/page.js"))
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../../../../../web/dist/style.css"))
}

fn reply(made: Result<impl Serialize, Refusal>) -> Response {
    match made.map(serde_json::to_value) {
        Ok(Ok(value)) => success(&value),
        Ok(Err(_)) => internal("the reply cannot be written").into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// A time of the form in milliseconds since 1970.
fn time_ms(form: &Form, name: &str) -> Result<i64, Refusal> {
    let text = form.needed(name)?;
    text.parse()
        .map_err(|_| bad_data(format!("invalid parameter \"{name}\": expected milliseconds since 1970")))
}

pub(super) async fn status(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
) -> Response {
    with_past(shared, scope, |past| {
        let extent = past.extent_ns().map_err(|error| internal(error.to_string()));
        reply(extent.map(|extent| {
            let (first_ms, last_ms) =
                extent.map(|(first, last)| (first / 1_000_000, last / 1_000_000)).unzip();
            Status { first_ms, last_ms, version: env!("CARGO_PKG_VERSION") }
        }))
    })
    .await
}

pub(super) async fn tasks(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let at_ms = time_ms(&form, "at_ms")?;
    let by = match form.get("by") {
        None | Some("process") => GroupBy::Process,
        Some("thread") => GroupBy::Thread,
        Some("user") => GroupBy::User,
        Some("cgroup") => GroupBy::Cgroup,
        Some(_) => {
            return Err(bad_data("invalid parameter \"by\": expected process, thread, user or cgroup"));
        }
    };
    Ok(with_past(shared, scope, move |past| reply(tasks_at(past, at_ms, by))).await)
}

fn tasks_at(past: &Past, at_ms: i64, by: GroupBy) -> Result<Tasks, Refusal> {
    let found =
        past.tasks_at(at_ms.saturating_mul(1_000_000)).map_err(|error| internal(error.to_string()))?;
    Ok(match found {
        Some(tasks) => task_rows::rows(past, &tasks, by),
        None => Tasks { at_ms, rows: Vec::new() },
    })
}

pub(super) async fn why(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let window = why::Window { from_ms: time_ms(&form, "from_ms")?, to_ms: time_ms(&form, "to_ms")? };
    if window.from_ms >= window.to_ms {
        return Err(bad_data("invalid parameter \"to_ms\": it is before from_ms"));
    }
    let deadline = Instant::now() + LONGEST_EVALUATION;
    Ok(with_past(shared, scope, move |past| reply(explain(past, window, deadline))).await)
}

fn explain(past: &Past, window: why::Window, deadline: Instant) -> Result<Why, Refusal> {
    let is_interrupted = || Instant::now() >= deadline;
    let findings = why::examine(past, window, None, &limits(&is_interrupted))?;
    let sentence = |sentence: why::Sentence| Sentence {
        text: sentence.text,
        culprit: sentence.culprit,
        evidence: sentence
            .evidence
            .into_iter()
            .map(|why::Evidence { expression, value }| Evidence { expression, value })
            .collect(),
    };
    Ok(Why { sentences: findings.sentences.into_iter().map(sentence).collect(), missing: findings.missing })
}
