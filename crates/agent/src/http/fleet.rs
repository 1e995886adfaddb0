//! The fleet: what a store elsewhere has of all machines, and of one of them.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use super::answers;
use super::api::{Form, limits};
use super::page::{queries, reply, steps, time_ms, why_reply, window};
use super::reply::{Refusal, success};
use super::shared::{SeesAll, Shared};

/// All machines, those in trouble first.
pub(super) async fn machines(State(shared): State<Arc<Shared>>, _: SeesAll) -> Result<Response, Refusal> {
    Ok(success(&*shared.fleet.machines().await?))
}

/// How busy all machines were in the last hour.
pub(super) async fn past(State(shared): State<Arc<Shared>>, _: SeesAll) -> Result<Response, Refusal> {
    Ok(success(&*shared.fleet.past().await?))
}

/// What the programs and the units of one machine did.
pub(super) async fn uses(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let (machine, at_ms) = (form.needed("machine")?.to_owned(), time_ms(&form, "at_ms")?);
    Ok(success(&shared.fleet.uses(machine, at_ms).await?))
}

/// Why one machine was slow.
pub(super) async fn why(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let (machine, window) = (form.needed("machine")?.to_owned(), window(&form)?);
    // Samples come as text, which takes several times as much memory.
    let most_points = limits(&|| false).most_points / 8;
    Ok(success(&why_reply(shared.fleet.why(machine, window, most_points).await?)))
}

/// The answers to expressions about one machine.
pub(super) async fn plots(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let (queries, steps) = (queries(&form)?, steps(&form)?);
    let machine = form.needed("machine")?.to_owned();
    let found = shared.fleet.of_machine(machine, queries.clone(), steps.into()).await?;
    Ok(reply(Ok(answers::of_store(&queries, found, steps))))
}
