//! Expressions, series and labels.
//!
//! <https://prometheus.io/docs/prometheus/latest/querying/api/>

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use facts::unit::Nanos;
use formats::series_name::{SeriesName, is_label};
use jiff::Timestamp;
use query::{Limits, Query, QueryError, Selection, Source, parse_selector};
use serde_json::{Value, json};

use super::cancellation::Cancellation;
use super::clients::Requester;
use super::reply::{Refusal, bad_data, internal, refusal, success};
use super::request_queue::Busy;
use super::shared::Shared;
use history::answer::{Labels, ReplyData};
use history::past::{BatchedSource, Past};

/// The most of a request's body.
const MAX_BODY_BYTES: usize = 64 * 1024;
const MAX_BODY: Duration = Duration::from_secs(10);
/// An evaluation is given up after this, or what the request says if that is less.
pub(super) const MAX_EVALUATION: Duration = Duration::from_secs(30);
/// When a request that others waited for may be tried again.
const RECALLED_PAUSE: Duration = Duration::from_secs(5);
/// The most points that an evaluation may have in memory, all its parts counted: 64 MB. Copies and what a source keeps are a multiple of
/// that.
const MAX_POINTS: usize = 4_000_000;
/// The memory that a process needs for each of them, at least.
const BYTES_A_POINT: u64 = 48;
/// The most values of an answer: as JSON each takes some 200 bytes until it is sent.
const MAX_ANSWERED: usize = 1_000_000;
/// Selectors of a request.
const MAX_SELECTORS: usize = 32;
/// The time for which labels are looked for, if none is named.
const USUAL_TIME_MS: i64 = 3_600_000;

/// The parameters of a request, in the address and, as a form, in the body.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) async fn read(request: Request) -> Result<Self, Refusal> {
        Self::read_up_to(request, MAX_BODY_BYTES).await
    }

    /// Reads a request whose body may be as long as this.
    pub(super) async fn read_up_to(request: Request, most_bytes: usize) -> Result<Self, Refusal> {
        let (head, body) = request.into_parts();
        let mut pairs = parse(head.uri.query().unwrap_or_default().as_bytes());
        pairs.extend(parse(&read_body(body, most_bytes).await?));
        Ok(Self(pairs))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn needed(&self, name: &str) -> Result<&str, Refusal> {
        self.get(name).ok_or_else(|| bad_data(format!("invalid parameter \"{name}\": it is missing")))
    }

    /// The parameter `minutes`: at least one.
    pub(super) fn minutes(&self) -> Result<u32, Refusal> {
        let minutes = self.needed("minutes")?.parse::<u32>().ok().filter(|minutes| *minutes > 0);
        minutes.ok_or_else(|| bad_data("invalid parameter \"minutes\": expected a number"))
    }

    fn time(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        time(text).map(Some).ok_or_else(|| {
            bad_data(format!("invalid parameter \"{name}\": cannot parse \"{text}\" to a valid timestamp"))
        })
    }

    fn duration(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        duration(text).map(Some).ok_or_else(|| {
            bad_data(format!("invalid parameter \"{name}\": cannot parse \"{text}\" to a valid duration"))
        })
    }
}

pub(super) async fn read_body(body: Body, most_bytes: usize) -> Result<Vec<u8>, Refusal> {
    match tokio::time::timeout(MAX_BODY, axum::body::to_bytes(body, most_bytes)).await {
        Ok(Ok(bytes)) => Ok(bytes.to_vec()),
        Ok(Err(_)) => Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, "bad_data", "the request is too large")),
        Err(_) => Err(refusal(StatusCode::REQUEST_TIMEOUT, "timeout", "the request took too long")),
    }
}

fn parse(form: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(form).into_owned().collect()
}

/// Seconds since 1970, or RFC 3339, as milliseconds.
fn time(text: &str) -> Option<i64> {
    if let Some(seconds) = query::number::parse(text) {
        // Prometheus' own limits are near these.
        return (seconds.abs() < 9e12).then(|| (seconds * 1000.0).round() as i64);
    }
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Seconds, or `1h30m`, as milliseconds.
fn duration(text: &str) -> Option<i64> {
    if let Some(seconds) = query::number::parse(text) {
        return (seconds.abs() < 9e12).then(|| (seconds * 1000.0).round() as i64);
    }
    let milliseconds = query::parse_duration(text).ok()?;
    Some(milliseconds)
}

/// Runs a request over the history on a blocking thread. It is cancelled when the client disconnects, and refused if others wait for it.
pub(super) async fn with_past(
    shared: Arc<Shared>,
    requester: Requester,
    answer: impl FnOnce(&Past, &Cancellation) -> Response + Send + 'static,
) -> Response {
    with_past_for(shared, requester, MAX_EVALUATION, answer).await
}

async fn with_past_for(
    shared: Arc<Shared>,
    requester: Requester,
    timeout: Duration,
    answer: impl FnOnce(&Past, &Cancellation) -> Response + Send + 'static,
) -> Response {
    let in_turn = in_turn(shared, requester, timeout, |past, cancellation| {
        let before = probe::own_thread_cpu_time();
        let answer = answer(past, cancellation);
        let mut answer =
            match cancellation.is_recalled() && answer.status() == StatusCode::SERVICE_UNAVAILABLE {
                true => unavailable(Busy { retry_after: RECALLED_PAUSE }),
                false => answer,
            };
        add_cpu_time(&mut answer, probe::own_thread_cpu_time().saturating_sub(before));
        answer
    });
    in_turn.await.unwrap_or_else(|refused| refused)
}

/// Says in an answer what it cost, so that those who ask again and again know it, however long they wait: the page does.
pub(super) fn add_cpu_time(answer: &mut Response, cpu: Nanos) {
    let cpu_ms = cpu.0 as f64 / 1e6;
    if let Ok(timing) = HeaderValue::from_str(&format!("cpu;dur={cpu_ms:.1}")) {
        answer.headers_mut().insert("server-timing", timing);
    }
}

/// Waits in the queue of requests, then runs `work` on a blocking thread at the client's expense. Whatever takes time depending on what a
/// client sends belongs there, the parsing of expressions too: the thread that serves is one for all clients.
///
/// # Errors
/// Returns the response if it was not run.
pub(super) async fn in_turn<T: Send + 'static>(
    shared: Arc<Shared>,
    requester: Requester,
    timeout: Duration,
    work: impl FnOnce(&Past, &Cancellation) -> T + Send + 'static,
) -> Result<T, Response> {
    let permit = shared.requests.permit(requester).await.map_err(unavailable)?;
    let cancellation = Cancellation::after(timeout, permit.recall_flag());
    let _guard = cancellation.cancel_on_drop();
    let done = tokio::task::spawn_blocking(move || {
        permit.run(|| shared.past.with(&shared.history, requester.scope, |past| work(past, &cancellation)))
    });
    let refused = |message: &str| internal(message).into_response();
    let done = done.await.map_err(|_| refused("the evaluation ended early"))?;
    // The error contains a path, which other users may not see.
    done.map_err(|_| refused("the history cannot be opened"))
}

/// The response if there was no permit in time.
pub(super) fn unavailable(Busy { retry_after }: Busy) -> Response {
    let seconds = retry_after.as_secs_f64().ceil().max(1.0);
    let message =
        format!("other requests are being evaluated, or yours took much CPU time: try again in {seconds} s");
    let reply = refusal(StatusCode::SERVICE_UNAVAILABLE, "unavailable", &message);
    ([(header::RETRY_AFTER, seconds.to_string())], reply).into_response()
}

/// Returns the limits of an evaluation, which are lower where the process may have less memory.
pub(super) fn limits(is_interrupted: &dyn Fn() -> bool) -> Limits<'_> {
    let affordable = probe::own_memory_limit().map_or(u64::MAX, |bytes| bytes / BYTES_A_POINT);
    let most_points = MAX_POINTS.min(usize::try_from(affordable).unwrap_or(usize::MAX));
    Limits { most_points, is_interrupted, ..Limits::default() }
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Evaluates a query in the time that it has.
async fn evaluate(
    shared: Arc<Shared>,
    requester: Requester,
    form: &Form,
    answer: impl Fn(&Query, &dyn Source, &Limits<'_>) -> Result<query::Answer, QueryError> + Send + 'static,
) -> Result<Response, Refusal> {
    let expression = form.needed("query")?.to_owned();
    let wanted = match form.duration("timeout")? {
        Some(timeout) if timeout < 0 => {
            return Err(bad_data("invalid parameter \"timeout\": it is below 0"));
        }
        wanted => wanted.and_then(|timeout| u64::try_from(timeout).ok()),
    };
    let longest = wanted.map_or(MAX_EVALUATION, |wanted| MAX_EVALUATION.min(Duration::from_millis(wanted)));
    Ok(with_past_for(shared, requester, longest, move |past, cancellation| {
        let query = match Query::parse(&expression) {
            Ok(query) => query,
            Err(error) => return Refusal::from(error).into_response(),
        };
        let is_cancelled = || cancellation.is_cancelled();
        let limits = limits(&is_cancelled);
        let answered = match BatchedSource::is_of_use(&query) {
            true => BatchedSource::evaluate(past, &limits, |past| answer(&query, past, &limits)),
            false => answer(&query, past, &limits),
        };
        match answered {
            Ok(answer) if values(&answer) > MAX_ANSWERED => {
                let message =
                    format!("the answer has more than {MAX_ANSWERED} values: take a longer step, or sum");
                refusal(StatusCode::UNPROCESSABLE_ENTITY, "execution", message).into_response()
            }
            Ok(answer) => success(&ReplyData(&answer)),
            Err(error) => Refusal::from(error).into_response(),
        }
    })
    .await)
}

/// Returns the number of values.
fn values(answer: &query::Answer) -> usize {
    match answer {
        query::Answer::Scalar(_) | query::Answer::Text(_) => 1,
        query::Answer::Vector(series) => series.len(),
        query::Answer::Matrix(series) => series.iter().map(|(_, points)| points.len()).sum(),
    }
}

pub(super) async fn query(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let at_ms = form.time("time")?.unwrap_or_else(now_ms);
    evaluate(shared, requester, &form, move |query, past, limits| query.at(past, at_ms, limits)).await
}

pub(super) async fn query_range(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let needed = |name: &str, found: Option<i64>| {
        found.ok_or_else(|| bad_data(format!("invalid parameter \"{name}\": it is missing")))
    };
    let from_ms = needed("start", form.time("start")?)?;
    let to_ms = needed("end", form.time("end")?)?;
    let step_ms = needed("step", form.duration("step")?)?;
    evaluate(shared, requester, &form, move |query, past, limits| {
        query.between(past, [from_ms, to_ms], step_ms, limits)
    })
    .await
}

/// The series that any of the selectors selects, in a time.
struct Wanted {
    selectors: Vec<String>,
    from_ms: i64,
    to_ms: i64,
    most: usize,
}

impl Wanted {
    fn read(form: &Form) -> Result<Self, Refusal> {
        let selectors: Vec<String> = form.all("match[]").map(str::to_owned).collect();
        if selectors.len() > MAX_SELECTORS {
            return Err(bad_data(format!("more than {MAX_SELECTORS} match[] parameters")));
        }
        let to_ms = form.time("end")?.unwrap_or_else(now_ms);
        let most = form.get("limit").and_then(|limit| limit.parse().ok()).filter(|limit| *limit > 0);
        Ok(Self {
            selectors,
            from_ms: form.time("start")?.unwrap_or(to_ms.saturating_sub(USUAL_TIME_MS)),
            to_ms,
            most: most.unwrap_or(usize::MAX),
        })
    }

    /// Returns the names of the machine's series, whether they have samples then or not, and those of the series of tasks that have samples
    /// then.
    fn names(&self, past: &Past, cancellation: &Cancellation) -> Result<BTreeSet<SeriesName>, Refusal> {
        let mut names = BTreeSet::new();
        if self.selectors.is_empty() {
            names.extend(past.series().cloned());
            names.extend(Past::task_metrics().map(|(name, _)| SeriesName::new(name)));
        }
        let is_cancelled = || cancellation.is_cancelled();
        let limits = limits(&is_cancelled);
        for selector in &self.selectors {
            let matchers = &parse_selector(selector)?;
            let is_met_by = |series: &&SeriesName| matchers.iter().all(|matcher| matcher.is_met_by(series));
            names.extend(past.series().filter(is_met_by).cloned());
            let Self { from_ms, to_ms, .. } = *self;
            let limits = &limits;
            let selection = Selection {
                matchers,
                from_ms,
                to_ms,
                is_newest: false,
                step_after: None,
                is_range: false,
                sums: None,
                limits,
            };
            let tasks = past.select_tasks(&selection);
            if is_cancelled() {
                return Err(QueryError::Interrupted.into());
            }
            names.extend(tasks.map_err(internal)?.into_iter().map(|series| series.name));
        }
        Ok(names)
    }

    /// Answers with what `make` returns for the names and the most that an answer may have.
    async fn answer(
        self,
        shared: Arc<Shared>,
        requester: Requester,
        make: impl FnOnce(&BTreeSet<SeriesName>, usize) -> Value + Send + 'static,
    ) -> Response {
        with_past(shared, requester, move |past, cancellation| match self.names(past, cancellation) {
            Ok(names) => success(&make(&names, self.most)),
            Err(refusal) => refusal.into_response(),
        })
        .await
    }
}

pub(super) async fn series(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let wanted = Wanted::read(&Form::read(request).await?)?;
    if wanted.selectors.is_empty() {
        return Err(bad_data("no match[] parameter provided"));
    }
    let reply = wanted.answer(shared, requester, |names, most| {
        json!(names.iter().take(most).map(Labels).collect::<Vec<_>>())
    });
    Ok(reply.await)
}

pub(super) async fn labels(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let wanted = Wanted::read(&Form::read(request).await?)?;
    let reply = wanted.answer(shared, requester, |names, most| {
        let labels: BTreeSet<&str> =
            names.iter().flat_map(SeriesName::labels).map(|(label, _)| label).collect();
        json!(labels.into_iter().take(most).collect::<Vec<_>>())
    });
    Ok(reply.await)
}

pub(super) async fn label_values(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    Path(label): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    if !is_label(&label) {
        return Err(bad_data(format!("invalid label name: \"{label}\"")));
    }
    let wanted = Wanted::read(&Form::read(request).await?)?;
    let reply = wanted.answer(shared, requester, move |names, most| {
        let values: BTreeSet<&str> =
            names.iter().map(|name| name.get(&label)).filter(|value| !value.is_empty()).collect();
        json!(values.into_iter().take(most).collect::<Vec<_>>())
    });
    Ok(reply.await)
}
