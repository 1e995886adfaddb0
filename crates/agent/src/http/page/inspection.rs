//! What a process waits for now, and its open files.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::pid;
use crate::http::api::{Form, add_cpu_time, unavailable};
use crate::http::clients::Requester;
use crate::http::reply::{Refusal, blocking, refusal, success};
use crate::http::shared::Shared;
use crate::inspection::Inspected;

/// The process `pid` at this moment, or why it was not looked at.
pub(crate) async fn inspection(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let pid = pid(&form)?;
    let none = |why: &str| refusal(StatusCode::NOT_FOUND, "not_found", why);
    let inspector =
        shared.inspector.clone().ok_or_else(|| none("no process looks at others: the log says why"))?;
    let permit = match shared.requests.permit(requester).await {
        Ok(permit) => permit,
        Err(busy) => return Ok(unavailable(busy)),
    };
    let inspect = move || {
        permit.run_for(|| {
            let inspected = inspector.inspect(pid, requester.scope);
            let cpu = inspected.as_ref().map_or_else(|_| Default::default(), |inspected| inspected.cpu);
            (inspected, cpu)
        })
    };
    let inspected = blocking(inspect).await?;
    let Inspected { cpu, outcome } =
        inspected.map_err(|_| none("the process that looks at others does not answer"))?;
    let mut answer = success(&outcome);
    add_cpu_time(&mut answer, cpu);
    Ok(answer)
}
