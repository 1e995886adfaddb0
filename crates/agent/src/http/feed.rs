//! A feed of what changed: alerts that began and ended, and hard states of checks.

use std::path::Path;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use formats::atom::{Entry, Feed};
use store::StoreError;

use super::changes::Of;
use super::reply::{Refusal, blocking, internal};
use super::shared::{SeesAll, Shared};
use history::answer::rfc3339;
use notify::StateChange;

const ATOM: &str = "application/atom+xml; charset=utf-8";
/// Entries of an answer.
const MAX_ENTRIES: usize = 200;

pub(super) async fn atom(State(shared): State<Arc<Shared>>, _: SeesAll) -> Result<Response, Refusal> {
    let changes = blocking(move || changes(shared.data())).await?;
    let changes = changes.map_err(|error| internal(error.to_string()))?;
    let text = formats::atom::write(&feed(&changes), "whit");
    Ok(([(header::CONTENT_TYPE, ATOM)], text).into_response())
}

/// The changes in both ledgers, the newest first, each with a name of its own.
fn changes(data: &Path) -> Result<Vec<(String, StateChange)>, StoreError> {
    let mut all = Vec::new();
    for of in [Of::Alerts, Of::Checks] {
        let changes = of.all(data)?.into_iter();
        all.extend(changes.map(|(key, change)| (format!("{}:{key}", of.name()), change)));
    }
    all.sort_by_key(|(_, change)| std::cmp::Reverse(change.at_ms));
    all.truncate(MAX_ENTRIES);
    Ok(all)
}

fn feed(changes: &[(String, StateChange)]) -> Feed {
    let machine = probe::host_name();
    let entry = |(id, change): &(String, StateChange)| Entry {
        id: format!("urn:whit:{machine}:{id}:{}", change.at_ms),
        title: format!("{} is {}", change.subject, change.state),
        updated: rfc3339(change.at_ms),
        text: change.text.clone(),
        link: String::new(),
    };
    Feed {
        id: format!("urn:whit:{machine}"),
        title: format!("Alerts and checks on {machine}"),
        updated: rfc3339(changes.first().map_or(0, |(_, change)| change.at_ms)),
        entries: changes.iter().map(entry).collect(),
    }
}
