//! Sessions of browsers and of programs: how they begin and end.

use http::{StatusCode, header};

use super::pages;
use super::request::{Asked, Reply, page, redirect};
use super::scene::{POLICY, PREFIX, Scene};
use crate::accounts::{Account, MAX_SESSION_MS, SessionKind};
use crate::error::FeedError;

/// The cookie of a session.
pub(super) const COOKIE: &str = "whit-feeds";

/// Checks a name and a password, as slowly as the limit wants.
///
/// # Errors
/// If accounts cannot be read.
pub(super) fn verify(
    scene: &Scene<'_>,
    name: &str,
    password: &str,
) -> Result<Result<Account, Reply>, FeedError> {
    if let Some(wait) = scene.limit.wait(name) {
        let seconds = wait.as_secs() + 1;
        let mut reply = page(
            StatusCode::TOO_MANY_REQUESTS,
            POLICY,
            pages::sign_in(&format!("A wrong password came from here: try again in {seconds} s.")),
        );
        reply.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        return Ok(Err(reply));
    }
    let account = scene.library.verify(name, password)?;
    scene.limit.note(name, account.is_some());
    Ok(account.ok_or_else(|| {
        page(StatusCode::UNAUTHORIZED, POLICY, pages::sign_in("The name or the password is wrong."))
    }))
}

pub(super) fn sign_in(scene: &mut Scene<'_>, asked: &Asked) -> Result<Reply, FeedError> {
    let account = match verify(scene, asked.get("name"), asked.get("password"))? {
        Ok(account) => account,
        Err(reply) => return Ok(reply),
    };
    begin(scene, &account, asked)
}

/// A session in this browser.
fn begin(scene: &mut Scene<'_>, account: &Account, asked: &Asked) -> Result<Reply, FeedError> {
    let token = scene.library.begin_session(account, SessionKind::Browser, scene.now_ms)?;
    let age = MAX_SESSION_MS / 1000;
    Ok(with_cookie(redirect(PREFIX), &format!("{token}; Max-Age={age}{}", asked.secure())))
}

/// Sets another password of the account itself, which ends all its other sessions. Returns why not, or the reply.
pub(super) fn change_password(
    scene: &mut Scene<'_>,
    account: &Account,
    asked: &Asked,
) -> Result<Result<Reply, String>, FeedError> {
    if asked.get("new") != asked.get("again") {
        return Ok(Err("The two new passwords are not the same.".to_owned()));
    }
    if verify(scene, &account.name, asked.get("old"))?.is_err() {
        return Ok(Err("The old password is wrong, or a wrong one came a moment ago.".to_owned()));
    }
    match scene.library.set_password(account, asked.get("new")) {
        Err(FeedError::Refused(reason)) => return Ok(Err(reason)),
        set => set?,
    }
    begin(scene, account, asked).map(Ok)
}

pub(super) fn sign_out(scene: &mut Scene<'_>, session: &str) -> Result<Reply, FeedError> {
    scene.library.end_session(session)?;
    Ok(with_cookie(redirect(PREFIX), "; Max-Age=0"))
}

fn with_cookie(mut reply: Reply, value: &str) -> Reply {
    let cookie = format!("{COOKIE}={value}; Path={PREFIX}; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = cookie.parse() {
        reply.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    reply
}
