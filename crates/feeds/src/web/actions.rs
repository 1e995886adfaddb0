//! Changes that a signed-in user makes: forms of the page, and requests of its script.

use http::StatusCode;
use syndication::with_scheme;

use super::layout::Frame;
use super::manage::manage;
use super::pages::filter_of;
use super::request::{Asked, Reply, redirect, text};
use super::scene::{PREFIX, Scene};
use super::sign_in::{change_password, sign_out};
use crate::accounts::{Account, form_token};
use crate::entries::Mark;
use crate::error::FeedError;
use crate::subscriptions::ImportedList;

const DAY_MS: i64 = 86_400_000;
/// Faults of a list that the page names.
const MAX_FAULTS: usize = 20;

pub(super) fn answer(
    scene: &mut Scene<'_>,
    account: &Account,
    session: &str,
    asked: &Asked,
    path: &str,
) -> Result<Reply, FeedError> {
    if asked.get("form") != form_token(session) {
        return Ok(text(
            StatusCode::FORBIDDEN,
            "this form is of another session: go back and reload the page",
        ));
    }
    match path {
        "sign-out" => return sign_out(scene, session),
        "mark" => mark(scene, account, asked)?,
        "mark-all" => {
            let mut filter = filter_of(asked);
            if let Some(days) = asked.number("days").filter(|days| (0..=36_500).contains(days)) {
                let before_ms = scene.now_ms - days * DAY_MS;
                filter.before_ms = Some(filter.before_ms.map_or(before_ms, |known| known.min(before_ms)));
            }
            // What came after the page was made has not been seen.
            if let Some(seen_ms) = asked.number("seen") {
                filter.received_before_ms = Some(seen_ms);
            }
            scene.library.mark_all_read(account, &filter, scene.now_ms)?;
        }
        "subscribe" => {
            let address = with_scheme(asked.get("url"));
            let feed =
                scene.library.subscribe(account, &address, "", asked.get("folder").trim(), scene.now_ms)?;
            return Ok(redirect(&format!("{PREFIX}manage#feed-{feed}")));
        }
        "unsubscribe" => {
            scene.library.unsubscribe(account, asked.number("feed").unwrap_or(-1))?;
        }
        "edit" => {
            let feed = asked.number("feed").unwrap_or(-1);
            let title = asked.has("title").then(|| asked.get("title"));
            let folder = asked.has("folder").then(|| asked.get("folder"));
            scene.library.edit_subscription(account, feed, title, folder)?;
        }
        "retry" => scene.library.retry(account, asked.number("feed").unwrap_or(-1), scene.now_ms)?,
        "refresh" => {
            let folder = asked.has("folder").then(|| asked.get("folder"));
            scene.library.refresh(account, asked.number("feed"), folder, scene.now_ms)?;
        }
        "import" => {
            let document = asked.upload.as_deref().unwrap_or_default();
            let imported = scene.library.import(account, document, scene.now_ms)?;
            return manage(scene, &Frame::new(account, session, scene.now_ms), &imported_text(&imported));
        }
        "password" => {
            return match change_password(scene, account, asked)? {
                Ok(reply) => Ok(reply),
                Err(reason) => manage(scene, &Frame::new(account, session, scene.now_ms), &[reason]),
            };
        }
        _ => return Ok(text(StatusCode::NOT_FOUND, "there is nothing here")),
    }
    if asked.has("quiet") {
        return Ok(text(StatusCode::OK, "done"));
    }
    Ok(redirect(&back(asked)))
}

/// Returns the result of an import as text, a line for each fault.
fn imported_text(imported: &ImportedList) -> Vec<String> {
    let all = imported.subscribed + imported.refused.len();
    let mut lines = vec![format!("{} of {all} feeds were imported.", imported.subscribed)];
    lines.extend(imported.refused.iter().take(MAX_FAULTS).cloned());
    if imported.refused.len() > MAX_FAULTS {
        lines.push(format!("And {} more faults.", imported.refused.len() - MAX_FAULTS));
    }
    lines
}

/// Where the form was. Only pages of the reader.
fn back(asked: &Asked) -> String {
    let back = asked.get("back");
    let is_own = back.starts_with(PREFIX)
        && !back.contains("..")
        && back.bytes().all(|byte| byte > b' ' && byte < 0x7f);
    if is_own { back.to_owned() } else { PREFIX.to_owned() }
}

fn mark(scene: &mut Scene<'_>, account: &Account, asked: &Asked) -> Result<(), FeedError> {
    let entries: Vec<i64> = asked.all("entry").filter_map(|entry| entry.parse().ok()).take(10_000).collect();
    let is_set = |name: &str| match asked.get(name) {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    };
    for mark in [is_set("read").map(Mark::Read), is_set("starred").map(Mark::Starred)].into_iter().flatten() {
        scene.library.mark(account, &entries, mark, scene.now_ms)?;
    }
    Ok(())
}
