//! Identifies the user who sends a request, and what they may see.
//!
//! On loopback and at a Unix socket the kernel says which user a connection is from: a user who may see all tasks at the agent's socket
//! sees them here, others see their own. From elsewhere a token is needed, which shows all.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use facts::task::rounds::Scope;

use super::clients::{ClientKey, Requester};
use super::listener::Peer;
use super::reply::refusal;
use super::shared::Shared;
use super::{page, sign_in};

/// Adds headers to every response: pages of other origins cannot embed it, and its type is not guessed.
pub(super) async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, HeaderValue::from_static("same-origin"));
    response
}

/// Lets a request pass that may, with its scope.
pub(super) async fn check(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Err(reason) = check_origin(headers) {
        return refusal(StatusCode::FORBIDDEN, "forbidden", reason).into_response();
    }
    let peer = Peer::of(&request);
    #[cfg(feature = "feeds")]
    if shared.reader.has(request.uri().path())
        && (shared.options.token.is_some() || is_name_expected(&shared, peer, headers))
    {
        return next.run(request).await;
    }
    let requester = match &shared.options.token {
        Some(token) => match has_token(&shared, headers, token, peer) {
            Ok(true) => Requester {
                key: ClientKey::Address(address(peer)),
                scope: Scope::All,
                is_owner: false,
                is_cheap: false,
            },
            Ok(false) if is_sign_in(&request) => return next.run(request).await,
            Ok(false) if request.uri().path() == "/" => return page::sign_in().await,
            Ok(false) => {
                let message = "a token is needed: Authorization: Bearer TOKEN, or sign in at /";
                let reply = refusal(StatusCode::UNAUTHORIZED, "unauthorized", message);
                // In answer to a page's request a browser would show a form of its own.
                let is_feed = request.uri().path() == "/feed.atom";
                let scheme = if is_feed { "Basic realm=\"whit\"" } else { "Bearer" };
                return ([(header::WWW_AUTHENTICATE, scheme)], reply).into_response();
            }
            Err(time) => return sign_in::wait(time),
        },
        None if !is_name_expected(&shared, peer, headers) => {
            // A name that another server gave to this address.
            return refusal(StatusCode::FORBIDDEN, "forbidden", "this host name is not the machine's own")
                .into_response();
        }
        None => requester(&shared, peer),
    };
    request.extensions_mut().insert(requester.scope);
    request.extensions_mut().insert(requester);
    next.run(request).await
}

/// Without a token: on this machine, by a name of its own. A proxy answers for the names that it forwards.
fn is_name_expected(shared: &Shared, peer: Option<Peer>, headers: &HeaderMap) -> bool {
    match peer {
        Some(Peer::Unix(_)) => true,
        _ => shared.options.listen.is_local() && is_local_name(headers),
    }
}

/// Returns the client of a connection on this machine.
fn requester(shared: &Shared, peer: Option<Peer>) -> Requester {
    let (uid, gid) = match peer {
        Some(Peer::Unix(peer)) => (Some(peer.uid), Some(peer.gid)),
        Some(Peer::Tcp(_, uid)) => (uid, None),
        None => (None, None),
    };
    let scope = match uid {
        Some(uid) if uid == shared.own_uid => Scope::All,
        Some(uid) => shared.privileged.scope(uid, gid),
        // In another network namespace, or closed by its client.
        None => Scope::User(u32::MAX),
    };
    let key = uid.map_or_else(|| ClientKey::Address(address(peer)), ClientKey::User);
    Requester { key, scope, is_owner: uid == Some(0) || uid == Some(shared.own_uid), is_cheap: false }
}

/// Returns the address of a connection of the network.
fn address(peer: Option<Peer>) -> Option<IpAddr> {
    match peer {
        Some(Peer::Tcp(from, _)) => Some(from.ip()),
        _ => None,
    }
}

/// Refuses requests from pages of other origins: those of scripts (`Origin`), and those of images, frames and forms, which browsers mark
/// with Fetch Metadata (`Sec-Fetch-Site`). A link to the page is a navigation and may come from anywhere.
fn check_origin(headers: &HeaderMap) -> Result<(), &'static str> {
    let says =
        |name: &str, value: &str| headers.get(name).is_some_and(|given| given.as_bytes() == value.as_bytes());
    let is_elsewhere = says("sec-fetch-site", "cross-site") || says("sec-fetch-site", "same-site");
    let is_link = says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document");
    if is_elsewhere && !is_link {
        return Err("requests from pages of other origins are not answered");
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let host = headers.get(header::HOST).map_or(&b""[..], |host| host.as_bytes());
    match origin.as_bytes().strip_prefix(b"http://").or_else(|| origin.as_bytes().strip_prefix(b"https://")) {
        Some(name) if name == host => Ok(()),
        _ => Err("requests from pages of other origins are not answered"),
    }
}

/// Returns whether `Host` names loopback. It is parsed as an authority of RFC 3986.
fn is_local_name(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(authority) = host.and_then(|host| host.parse::<Authority>().ok()) else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    // Browsers send no user information.
    !authority.as_str().contains('@')
        && (name == "localhost"
            || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()))
}

/// Returns whether a request has the token, or is from a browser that has shown it.
///
/// # Errors
/// How long nothing is looked at, since a wrong one came.
fn has_token(
    shared: &Shared,
    headers: &HeaderMap,
    token: &str,
    peer: Option<Peer>,
) -> Result<bool, Duration> {
    match headers.get(header::AUTHORIZATION).and_then(|value| given_token(value.as_bytes())) {
        Some(given) => shared.sign_in.accepts(&given, token, peer),
        None => Ok(shared.sign_in.is_signed_in(headers)),
    }
}

/// The token of a header: `Bearer TOKEN`, or the password of `Basic`, whose user may be any (RFC 7617). Feed readers know Basic alone.
fn given_token(header: &[u8]) -> Option<Vec<u8>> {
    if let Some(token) = header.strip_prefix(b"Bearer ") {
        return Some(token.to_vec());
    }
    let decoded = BASE64_STANDARD.decode(header.strip_prefix(b"Basic ")?.trim_ascii()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_vec())
}

fn is_sign_in(request: &Request) -> bool {
    request.uri().path() == "/sign-in" && request.method() == Method::POST
}
