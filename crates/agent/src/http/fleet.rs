//! The fleet: what a store elsewhere has of all machines, and of one of them.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use facts::task::rounds::Scope;

use super::answers;
use super::api::Form;
use super::page::{queries, steps};
use super::reply::{Refusal, internal, success};
use super::shared::{Shared, must_see_all};
use super::shared_fleet::LONGEST;

/// All machines, those in trouble first.
pub(super) async fn machines(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
) -> Result<Response, Refusal> {
    must_see_all(scope)?;
    let asked = tokio::task::spawn_blocking(move || shared.fleet.ask()).await;
    Ok(success(&*asked.map_err(|_| internal("it ended early"))??))
}

/// The answers to expressions about one machine.
pub(super) async fn plots(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
    request: Request,
) -> Result<Response, Refusal> {
    must_see_all(scope)?;
    let form = Form::read(request).await?;
    let (queries, steps) = (queries(&form)?, steps(&form)?);
    let machine = form.needed("machine")?.to_owned();
    let asked = tokio::task::spawn_blocking(move || {
        let deadline = Instant::now() + LONGEST;
        let found = shared.fleet.fleet()?.of_machine(&machine, &queries, steps.into(), deadline);
        Ok::<_, Refusal>(answers::of_store(&queries, found, steps))
    });
    let answers = asked.await.map_err(|_| internal("it ended early"))??;
    match serde_json::to_value(&answers) {
        Ok(answers) => Ok(success(&answers)),
        Err(_) => Err(internal("the reply cannot be written")),
    }
}
