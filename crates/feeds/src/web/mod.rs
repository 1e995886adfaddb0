//! The reader for browsers, and for programs that know the Google Reader API. It takes requests and returns responses; its caller
//! serves HTTP, and has refused requests from pages of other origins.

mod actions;
mod atom;
mod html;
mod layout;
mod manage;
mod pages;
mod reader_api;
mod reader_changes;
mod request;
mod scene;
mod sign_in;
mod streams;
#[cfg(test)]
mod two_accounts;
mod upload;

use std::sync::{Mutex, PoisonError};

use http::request::Parts;
use http::{Method, Request, Response, StatusCode, header};

use crate::database::Library;
use crate::digest::hex_digest;
use crate::error::FeedError;
use request::{Asked, Reply, page, text};
use scene::{POLICY, Scene};
pub use scene::{PREFIX, SignInLimit};
use sign_in::COOKIE;

/// The longest body of a request of an account: an OPML file of thousands of feeds.
pub const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// The longest body of others.
pub const MAX_STRANGERS_BODY_BYTES: usize = 64 * 1024;

/// The reader's web site.
#[derive(Debug)]
pub struct Site {
    library: Mutex<Library>,
}

impl Site {
    /// Over a library.
    pub fn new(library: Library) -> Self {
        Self { library: Mutex::new(library) }
    }

    /// Returns whether a request is one of an account, by its head: its body may be longer than those of others.
    pub fn is_of_account(&self, head: Parts, now_ms: i64) -> bool {
        let asked = Asked::new(Request::from_parts(head, Vec::new()));
        let token = reader_api::session_of(&asked).or_else(|| asked.cookie(COOKIE));
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        token.is_some_and(|token| library.account_of_session(token, now_ms).is_ok_and(|one| one.is_some()))
    }

    /// Answers a request whose path begins with [`PREFIX`].
    pub fn answer(
        &self,
        request: Request<Vec<u8>>,
        limit: &dyn SignInLimit,
        now_ms: i64,
    ) -> Response<Vec<u8>> {
        let asked = Asked::new(request);
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scene = Scene { library: &mut library, limit, now_ms };
        let answered = answer(&mut scene, &asked);
        answered.unwrap_or_else(|error| match error {
            FeedError::Refused(reason) => text(StatusCode::BAD_REQUEST, &reason),
            error => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        })
    }
}

fn answer(scene: &mut Scene<'_>, asked: &Asked) -> Result<Reply, FeedError> {
    let path = asked.path().strip_prefix(PREFIX).unwrap_or_default();
    if path == "accounts/ClientLogin" || path.starts_with("reader/") {
        return reader_api::answer(scene, asked, path);
    }
    match (asked.method(), path) {
        (&Method::GET, "reader.js") => return Ok(file(asked, "text/javascript; charset=utf-8", SCRIPT)),
        (&Method::GET, "reader.css") => return Ok(file(asked, "text/css; charset=utf-8", STYLE)),
        (&Method::POST, "sign-in") => return sign_in::sign_in(scene, asked),
        _ => {}
    }
    let session = asked.cookie(COOKIE).map(str::to_owned);
    let account = match &session {
        Some(token) => scene.library.account_of_session(token, scene.now_ms)?,
        None => None,
    };
    let (Some(account), Some(session)) = (account, session) else {
        return Ok(match *asked.method() {
            // The script asks for entries: it must see that its session has ended.
            Method::GET if path.starts_with("entry/") => {
                page(StatusCode::UNAUTHORIZED, POLICY, pages::sign_in(""))
            }
            Method::GET => page(StatusCode::OK, POLICY, pages::sign_in("")),
            _ => text(StatusCode::UNAUTHORIZED, "sign in first: /feeds/"),
        });
    };
    match *asked.method() {
        Method::GET | Method::HEAD => pages::answer(scene, &account, &session, asked, path),
        Method::POST => actions::answer(scene, &account, &session, asked, path),
        _ => Ok(text(StatusCode::METHOD_NOT_ALLOWED, "GET or POST")),
    }
}

const SCRIPT: &str = include_str!("../../../../web/dist/reader.js");
const STYLE: &str = include_str!("../../../../web/dist/reader-style.css");

fn file(asked: &Asked, kind: &'static str, text: &'static str) -> Reply {
    let tag = format!("\"{}\"", hex_digest(&[text.as_bytes()], 8));
    let is_known = asked.header(header::IF_NONE_MATCH.as_str()) == Some(tag.as_str());
    let reply = Response::builder()
        .status(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK })
        .header(header::CONTENT_TYPE, kind)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::CACHE_CONTROL, "no-cache")
        .header(header::ETAG, tag);
    let body = if is_known { Vec::new() } else { text.as_bytes().to_vec() };
    reply.body(body).unwrap_or_default()
}
