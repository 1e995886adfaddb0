//! What changed: alerts that began and ended, and hard states of checks, as both ledgers have it.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;
use store::StoreError;

use super::api::Form;
use super::replies::ChangeEntry;
use super::reply::{Refusal, bad_data, blocking, internal, success};
use super::shared::{SeesAll, Shared};
use alerts::Ledger;
use checks::CheckLedger;
use notify::StateChange;

/// Changes of an answer.
const MAX_CHANGES: usize = 200;

/// Whose changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Alerts,
    Checks,
}

impl Of {
    /// The first word of the subjects.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Alerts => "alert",
            Self::Checks => "check",
        }
    }

    /// Those in the ledger of a data directory, each with its key; none without one.
    pub(super) fn all(self, data: &Path) -> Result<Vec<(i64, StateChange)>, StoreError> {
        match self {
            Self::Alerts if Ledger::is_in(data).unwrap_or(false) => Ledger::open_for_reading(data)?.changes(),
            Self::Checks if CheckLedger::is_in(data).unwrap_or(false) => {
                CheckLedger::open_for_reading(data)?.changes()
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Those of alerts or of checks (`of`), also of one alone (`name`): the newest first.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let of = match form.needed("of")? {
        "alerts" => Of::Alerts,
        "checks" => Of::Checks,
        _ => return Err(bad_data("invalid parameter \"of\": expected alerts or checks")),
    };
    let subject = form.get("name").map(|name| format!("{} {name}", of.name()));
    let changes = blocking(move || of.all(shared.data())).await?;
    let changes = changes.map_err(|error| internal(error.to_string()))?;
    let is_wanted = |change: &StateChange| subject.as_ref().is_none_or(|subject| *subject == change.subject);
    let newest = changes.into_iter().rev().map(|(_, change)| change).filter(is_wanted).take(MAX_CHANGES);
    Ok(success(&json!(newest.map(|change| entry(of, change)).collect::<Vec<_>>())))
}

fn entry(of: Of, StateChange { subject, state, text, at_ms }: StateChange) -> ChangeEntry {
    let name = subject.strip_prefix(of.name()).map_or(subject.as_str(), str::trim_start).to_owned();
    ChangeEntry { name, state, text, at_ms }
}
