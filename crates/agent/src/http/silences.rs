//! Silences of alerts, for those who see every task.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::json;
use store::StoreError;

use super::api::Form;
use super::replies::SilenceEntry;
use super::reply::{Refusal, bad_data, blocking, refusal, success};
use super::shared::{SeesAll, Shared};
use alerts::{Ledger, Silence};

/// Those that are not over. With POST one is added before: of the rule or selector `selector`, for `minutes`, with a `comment`.
pub(super) async fn silences(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let is_set = request.method() == Method::POST;
    let form = Form::read(request).await?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let new = if is_set { Some(silence(&form, now_ms)?) } else { None };
    change(move || {
        if let Some(silence) = new {
            Ledger::open(shared.data())?.silence(&silence)?;
        }
        all(&shared, now_ms)
    })
    .await
}

/// Ends that with a `number`, and returns the others.
pub(super) async fn end(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let number = form.needed("number")?.parse::<i64>();
    let number = number.map_err(|_| bad_data("invalid parameter \"number\": expected a number"))?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    change(move || {
        Ledger::open(shared.data())?.end_silence(number, now_ms)?;
        all(&shared, now_ms)
    })
    .await
}

fn silence(form: &Form, now_ms: i64) -> Result<Silence, Refusal> {
    let silence = Silence {
        selector: form.needed("selector")?.to_owned(),
        since_ms: now_ms,
        until_ms: now_ms + i64::from(form.minutes()?) * 60_000,
        comment: form.get("comment").unwrap_or_default().to_owned(),
    };
    silence.matchers().map_err(|error| bad_data(format!("invalid parameter \"selector\": {error}")))?;
    Ok(silence)
}

fn all(shared: &Shared, now_ms: i64) -> Result<Vec<SilenceEntry>, StoreError> {
    if !Ledger::is_in(shared.data()).unwrap_or(false) {
        return Ok(Vec::new());
    }
    let silences = Ledger::open_for_reading(shared.data())?.silences(now_ms)?;
    let entry = |(number, Silence { selector, since_ms, until_ms, comment })| SilenceEntry {
        number,
        selector,
        since_ms,
        until_ms,
        comment,
    };
    Ok(silences.into_iter().map(entry).collect())
}

/// Does something with the ledger on a thread that may wait for it.
async fn change(
    work: impl FnOnce() -> Result<Vec<SilenceEntry>, StoreError> + Send + 'static,
) -> Result<Response, Refusal> {
    let done = blocking(work).await?;
    let silences =
        done.map_err(|error| refusal(StatusCode::SERVICE_UNAVAILABLE, "unavailable", error.to_string()))?;
    Ok(success(&json!(silences)))
}
