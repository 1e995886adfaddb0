//! The sign-in of browsers, where a token is needed.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::api::Form;
use super::listener::Peer;
use super::page;
use super::reply::{Refusal, refusal};
use super::sessions::{COOKIE, MAX_SESSION};
use super::shared::Shared;

/// How long to wait before the next attempt.
pub(super) fn wait(time: Duration) -> Response {
    let seconds = time.as_secs() + 1;
    let message = format!("a wrong token came from this address: try again in {seconds} s");
    let reply = refusal(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message);
    ([(header::RETRY_AFTER, seconds.to_string())], reply).into_response()
}

/// Takes the token of the form, and lets the browser in.
pub(super) async fn sign_in(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Result<Response, Refusal> {
    let peer = Peer::of(&request);
    let form = Form::read(request).await?;
    let Some(token) = &shared.options.token else { return Ok(to_page(None)) };
    match shared.sign_in.accepts(form.get("token").unwrap_or_default().as_bytes(), token, peer) {
        Ok(true) => {
            let session = shared.sign_in.begin_session();
            let age = MAX_SESSION.as_secs();
            Ok(to_page(Some(format!("{COOKIE}={session}; Max-Age={age}; Path=/; HttpOnly; SameSite=Strict"))))
        }
        Ok(false) => Ok(page::sign_in_again("This is not the token.").into_response()),
        Err(time) => {
            let seconds = time.as_secs() + 1;
            let reason = format!("A wrong token came from here: try again in {seconds} s.");
            let mut reply = page::sign_in_again(&reason);
            *reply.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            Ok(reply)
        }
    }
}

/// Ends a sign-in.
pub(super) async fn sign_out(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    shared.sign_in.end_session(&headers);
    to_page(Some(format!("{COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")))
}

fn to_page(cookie: Option<String>) -> Response {
    let location: [(HeaderName, &str); 1] = [(header::LOCATION, "/")];
    match cookie {
        Some(cookie) => (StatusCode::SEE_OTHER, location, [(header::SET_COOKIE, cookie)]).into_response(),
        None => (StatusCode::SEE_OTHER, location).into_response(),
    }
}
