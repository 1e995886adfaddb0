//! The feed reader's pages, which have accounts of their own: neither the token nor the user of the connection matters there.

use std::sync::Arc;
use std::time::Duration;

use ::feeds::FeedError;
use ::feeds::web::{MOST_BODY_BYTES, SignInLimit};
use axum::body::Body;
use axum::extract::{Request, State};
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
    fn wait(&self) -> Option<Duration> {
        self.shared.sign_in.wait(self.peer)
    }

    fn note(&self, is_right: bool) {
        self.shared.sign_in.note(self.peer, is_right);
    }
}

/// Answers a request, on a thread on which it may take its time.
pub(super) async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refusal> {
    if !shared.reader.has(request.uri().path()) {
        return Err(not_found().await);
    }
    let peer = Peer::of(&request);
    let (head, body) = request.into_parts();
    let body = read_body(body, MOST_BODY_BYTES).await?;
    let answered = tokio::task::spawn_blocking(move || {
        let site = shared.reader.site(shared.history.parent().unwrap_or(&shared.history))?;
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let limit = Limit { shared: Arc::clone(&shared), peer };
        Ok(site.answer(axum::http::Request::from_parts(head, body), &limit, now_ms))
    });
    let answered: Result<_, FeedError> = answered.await.map_err(|_| internal("it ended early"))?;
    let response = answered.map_err(|error| internal(error.to_string()))?;
    Ok(response.map(Body::from))
}
