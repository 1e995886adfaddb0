//! The web page, and what it alone asks. Its sources are in web/, and what is built of them in web/dist.

mod download;
mod exits;
mod inspection;
mod language;
mod marks;
mod process;
mod stream;

use std::ops::Range;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use facts::task::groups::GroupBy;
use facts::task::rounds::Scope;
use serde::Serialize;
use store::StoreError;

use super::answers::{self, Steps};
use super::api::{Form, limits, with_past};
use super::cancellation::Cancellation;
use super::clients::Requester;
use super::replies::{Evidence, Sentence, Status, Why};
use super::reply::{Refusal, bad_data, internal, success};
use super::shared::Shared;
use super::task_replies::Tasks;
use super::task_rows;
pub(super) use download::download;
pub(super) use exits::exits;
use history::past::Past;
use history::why;
pub(super) use inspection::inspection;
pub(super) use language::language;
pub(super) use marks::marks;
pub(super) use process::process;
pub(super) use stream::stream;

/// From the year 1 to 9999: others are no times, and would overflow.
const TIMES_MS: Range<i64> = -62_135_596_800_000..253_402_300_800_000;
/// Between two blocks of a history without a gap lies no more.
const MAX_STEP_MS: i64 = 120_000;
/// Expressions of a request.
const MAX_QUERIES: usize = 64;

/// A form, and nothing else.
const SIGN_IN_POLICY: &str =
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Returns the page for clients that need a token and have not shown it.
pub(super) async fn sign_in() -> Response {
    sign_in_with("", StatusCode::OK)
}

/// Returns the same page, with the reason why they are not signed in yet.
pub(super) fn sign_in_again(reason: &str) -> Response {
    sign_in_with(reason, StatusCode::UNAUTHORIZED)
}

fn sign_in_with(reason: &str, status: StatusCode) -> Response {
    let text = include_str!("../../../../../web/dist/sign_in.html").replace("{reason}", reason);
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, SIGN_IN_POLICY),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, text).into_response()
}

pub(super) async fn index(State(shared): State<Arc<Shared>>, asked: HeaderMap) -> Response {
    shared.assets.index.reply(&asked)
}

pub(super) async fn script(State(shared): State<Arc<Shared>>, asked: HeaderMap) -> Response {
    shared.assets.script.reply(&asked)
}

pub(super) async fn style(State(shared): State<Arc<Shared>>, asked: HeaderMap) -> Response {
    shared.assets.style.reply(&asked)
}

pub(super) fn reply(made: Result<impl Serialize, Refusal>) -> Response {
    match made {
        Ok(made) => success(&made),
        Err(refusal) => refusal.into_response(),
    }
}

/// A time of the form in milliseconds since 1970.
pub(super) fn time_ms(form: &Form, name: &str) -> Result<i64, Refusal> {
    let text = form.needed(name)?;
    let time_ms = text.parse().ok().filter(|time_ms| TIMES_MS.contains(time_ms));
    time_ms.ok_or_else(|| bad_data(format!("invalid parameter \"{name}\": expected milliseconds since 1970")))
}

pub(super) async fn status(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let wanted_ms = |name: &str| form.get(name).map(|_| time_ms(&form, name)).transpose();
    let (span_ms, end_ms) = (wanted_ms("span_ms")?, wanted_ms("end_ms")?);
    let parts = (shared.has_reader(), shared.fleet.is_on() && requester.scope == Scope::All);
    Ok(with_past(shared, requester.of_cheap(), move |past, _| {
        let described = describe(past, requester.scope, parts, span_ms, end_ms);
        reply(described.map_err(|error| internal(error.to_string())))
    })
    .await)
}

fn describe(
    past: &Past,
    scope: Scope,
    (has_reader, has_fleet): (bool, bool),
    span_ms: Option<i64>,
    end_ms: Option<i64>,
) -> Result<Status, StoreError> {
    let spans = past.history().spans()?;
    let mut spans: Vec<[i64; 2]> =
        spans.into_iter().map(|(first, last)| [first / 1_000_000, last / 1_000_000]).collect();
    spans.sort_unstable();
    let first_ms = spans.first().map(|[first_ms, _]| *first_ms);
    let last_ms = spans.iter().map(|[_, last_ms]| *last_ms).max();
    let from_ms = end_ms.or(last_ms).zip(span_ms).map(|(end_ms, span_ms)| end_ms.saturating_sub(span_ms));
    Ok(Status {
        first_ms,
        last_ms,
        tick_ms: past.tick_ms(from_ms.or(first_ms).unwrap_or(0))?.unwrap_or(0),
        version: env!("CARGO_PKG_VERSION"),
        sees_all: scope == Scope::All,
        has_reader,
        has_fleet,
        spans: joined(spans),
    })
}

/// Spans in order with those together that follow one another: ticks, or steps of what is older, lie between them.
fn joined(spans: Vec<[i64; 2]>) -> Vec<[i64; 2]> {
    let mut joined: Vec<[i64; 2]> = Vec::new();
    for [first_ms, last_ms] in spans {
        match joined.last_mut() {
            Some([_, end_ms]) if first_ms - *end_ms <= MAX_STEP_MS => *end_ms = last_ms.max(*end_ms),
            _ => joined.push([first_ms, last_ms]),
        }
    }
    joined
}

/// The number of a process.
fn pid(form: &Form) -> Result<u32, Refusal> {
    let pid = form.needed("pid")?.parse();
    pid.map_err(|_| bad_data("invalid parameter \"pid\": expected a number"))
}

/// Reads whether rows are processes or threads.
fn group_by(form: &Form) -> Result<GroupBy, Refusal> {
    match form.get("by") {
        None | Some("process") => Ok(GroupBy::Process),
        Some("thread") => Ok(GroupBy::Thread),
        Some(_) => Err(bad_data("invalid parameter \"by\": expected process or thread")),
    }
}

/// The steps of a form.
pub(super) fn steps(form: &Form) -> Result<Steps, Refusal> {
    let [from_ms, to_ms, step_ms] = ["from_ms", "to_ms", "step_ms"].map(|name| time_ms(form, name));
    let steps = Steps { from_ms: from_ms?, to_ms: to_ms?, step_ms: step_ms? };
    let length_ms = steps.to_ms.checked_sub(steps.from_ms).filter(|length_ms| *length_ms >= 0);
    if length_ms.is_none_or(|length_ms| steps.step_ms <= 0 || length_ms / steps.step_ms > query::MAX_STEPS) {
        return Err(bad_data("there is no such time: to_ms must be after from_ms, in at most 11,000 steps"));
    }
    Ok(steps)
}

/// The expressions of a form.
pub(super) fn queries(form: &Form) -> Result<Vec<String>, Refusal> {
    let queries: Vec<String> = form.all("query").map(str::to_owned).collect();
    match queries.len() {
        0..=MAX_QUERIES => Ok(queries),
        _ => Err(bad_data(format!("invalid parameter \"query\": there are more than {MAX_QUERIES}"))),
    }
}

pub(super) async fn plots(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let queries = queries(&form)?;
    let steps = steps(&form)?;
    Ok(with_past(shared, requester, move |past, cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let answers = answers::between(&queries, past, steps, &limits(&is_cancelled));
        // Otherwise each plot would say that it took too long.
        let is_recalled = cancellation.is_recalled();
        reply(if is_recalled { Err(query::QueryError::Interrupted.into()) } else { Ok(answers) })
    })
    .await)
}

pub(super) async fn tasks(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let at_ms = time_ms(&form, "at_ms")?;
    let by = group_by(&form)?;
    Ok(with_past(shared, requester, move |past, _| reply(tasks_at(past, at_ms, by))).await)
}

fn tasks_at(past: &Past, at_ms: i64, by: GroupBy) -> Result<Tasks, Refusal> {
    let found =
        past.tasks_at(at_ms.saturating_mul(1_000_000)).map_err(|error| internal(error.to_string()))?;
    Ok(match found {
        Some(tasks) => task_rows::rows(past, &tasks, by),
        None => Tasks { at_ms, rows: Vec::new() },
    })
}

/// The window of a form.
pub(super) fn window(form: &Form) -> Result<why::Window, Refusal> {
    let window = why::Window { from_ms: time_ms(form, "from_ms")?, to_ms: time_ms(form, "to_ms")? };
    match window.from_ms < window.to_ms {
        true => Ok(window),
        false => Err(bad_data("invalid parameter \"to_ms\": it is before from_ms")),
    }
}

pub(super) async fn why(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let window = window(&form)?;
    let target = form.get("target").map(why::Target::parse);
    let explained = move |past: &Past, cancellation: &Cancellation| {
        reply(explain(past, window, target.as_ref(), cancellation))
    };
    Ok(with_past(shared, requester, explained).await)
}

/// The tasks that cause a trouble.
fn selector(culprit: &why::Culprit) -> Option<String> {
    let (label, name) = match culprit {
        why::Culprit::Program(program) => ("comm", &program.comm),
        why::Culprit::Cgroup(path) => ("cgroup", path),
        why::Culprit::Filesystem(_) => return None,
    };
    serde_json::to_string(name).ok().map(|quoted| format!("{{{label}={quoted}}}"))
}

fn explain(
    past: &Past,
    window: why::Window,
    target: Option<&why::Target>,
    cancellation: &Cancellation,
) -> Result<Why, Refusal> {
    let is_cancelled = || cancellation.is_cancelled();
    Ok(why_reply(why::examine(past, window, target, &limits(&is_cancelled))?))
}

/// Returns findings as the page has them.
pub(super) fn why_reply(findings: why::Findings) -> Why {
    let sentence = |sentence: why::Sentence| Sentence {
        trouble: sentence.trouble.name(),
        weight_ratio: sentence.weight,
        lost_ratio: sentence.lost,
        of: sentence.culprit.as_ref().and_then(selector),
        culprit_kind: sentence.culprit.as_ref().map(why::Culprit::kind),
        text: sentence.text,
        culprit: sentence.culprit.map(|culprit| culprit.name().to_owned()),
        evidence: sentence
            .evidence
            .into_iter()
            .map(|why::Evidence { expression, value }| Evidence { expression, value })
            .collect(),
    };
    Why { sentences: findings.sentences.into_iter().map(sentence).collect(), missing: findings.missing }
}
