//! The feed reader's pages, which have accounts of their own: neither the token nor the user of the connection matters there.

use std::sync::Arc;
use std::time::Duration;

use ::feeds::FeedError;
use ::feeds::web::{MAX_BODY_BYTES, MAX_STRANGERS_BODY_BYTES, SignInLimit, Site};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::Response;

use super::api::read_body;
use super::listener::Peer;
use super::reply::{Refusal, internal, not_found};
use super::shared::Shared;

/// Slows down those who guess passwords, as those who guess the token.
struct Limit {
    shared: Arc<Shared>,
    peer: Option<Peer>,
}

impl SignInLimit for Limit {
    fn wait(&self, account: &str) -> Option<Duration> {
        self.shared.sign_in.wait_for_account(self.peer, account)
    }

    fn note(&self, account: &str, is_right: bool) {
        self.shared.sign_in.note_for_account(self.peer, account, is_right);
    }
}

/// Answers a request.
pub(super) async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refusal> {
    if !shared.reader.has(request.uri().path()) {
        return Err(not_found().await);
    }
    let peer = Peer::of(&request);
    let (head, body) = request.into_parts();
    let body = read_body(body, most_bytes(&shared, &head).await?).await?;
    let limit = Limit { shared: Arc::clone(&shared), peer };
    let request = axum::http::Request::from_parts(head, body);
    let response = on_site(shared, move |site, now_ms| site.answer(request, &limit, now_ms)).await?;
    Ok(response.map(Body::from))
}

/// Asks the reader's site, on a thread on which it may take its time.
async fn on_site<T: Send + 'static>(
    shared: Arc<Shared>,
    ask: impl FnOnce(&Site, i64) -> T + Send + 'static,
) -> Result<T, Refusal> {
    // The reader answers one request after the other: the rest do not wait on a thread that others could use.
    let turn = shared.reader.turn().await;
    let answered = tokio::task::spawn_blocking(move || {
        // As long as this takes, even if who asked has gone.
        let _turn = turn;
        let site = shared.reader.site(shared.data())?;
        Ok(ask(&site, jiff::Timestamp::now().as_millisecond()))
    });
    let answered: Result<T, FeedError> = answered.await.map_err(|_| internal("it ended early"))?;
    answered.map_err(|error| internal(error.to_string()))
}

/// How long the body of a request may be, by its head.
async fn most_bytes(shared: &Arc<Shared>, head: &Parts) -> Result<usize, Refusal> {
    let has = |name| head.headers.contains_key(name);
    if !has(header::CONTENT_LENGTH) && !has(header::TRANSFER_ENCODING) {
        return Ok(0);
    }
    let length =
        head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length <= MAX_STRANGERS_BODY_BYTES) {
        return Ok(MAX_STRANGERS_BODY_BYTES);
    }
    let head = head.clone();
    let is_of_account =
        on_site(Arc::clone(shared), move |site, now_ms| site.is_of_account(head, now_ms)).await?;
    Ok(if is_of_account { MAX_BODY_BYTES } else { MAX_STRANGERS_BODY_BYTES })
}
