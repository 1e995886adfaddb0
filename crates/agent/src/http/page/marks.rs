//! Marks, seen by everyone and set by those who see every task.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use facts::task::rounds::Scope;

use super::{reply, time_ms};
use crate::http::api::Form;
use crate::http::replies::MarkEntry;
use crate::http::reply::{Refusal, bad_data, blocking, internal, refusal};
use crate::http::shared::Shared;
use history::marks::{Mark, Marks};

/// With GET those between `from_ms` and `to_ms`; with POST one is set at `at_ms`.
pub(crate) async fn marks(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
    request: Request,
) -> Result<Response, Refusal> {
    let is_set = request.method() == Method::POST;
    if is_set && scope != Scope::All {
        let message = "marks are set by those who see every task: root, and who the configuration names";
        return Err(refusal(StatusCode::FORBIDDEN, "forbidden", message));
    }
    let form = Form::read(request).await?;
    let marks = if is_set {
        let mark = Mark::new(time_ms(&form, "at_ms")?, form.needed("text")?).map_err(bad_data)?;
        blocking(move || Marks::open(shared.data())?.set(&mark).map(|()| vec![mark])).await?
    } else {
        let (from_ms, to_ms) = (time_ms(&form, "from_ms")?, time_ms(&form, "to_ms")?);
        blocking(move || Marks::open_for_reading(shared.data())?.between(from_ms, to_ms)).await?
    };
    Ok(reply(marks.map_err(|_| internal("the marks cannot be opened")).map(entries)))
}

fn entries(marks: Vec<Mark>) -> Vec<MarkEntry> {
    marks.into_iter().map(|Mark { at_ms, text }| MarkEntry { at_ms, text }).collect()
}
