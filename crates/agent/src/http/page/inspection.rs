//! What a process waits for now, and its open files.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use super::pid;
use crate::http::api::{Form, add_cpu_time, unavailable};
use crate::http::clients::Requester;
use crate::http::reply::{Refusal, internal, refusal, success};
use crate::http::shared::Shared;
use crate::inspection::Inspected;

/// The process `pid` at this moment. `null`: it is gone, or could not be looked at in time.
pub(crate) async fn inspection(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let pid = pid(&form)?;
    let none = || refusal(StatusCode::NOT_FOUND, "not_found", "no process is looked at: the inspector ended");
    let inspector = shared.inspector.clone().ok_or_else(none)?;
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
    let inspected = tokio::task::spawn_blocking(inspect).await.map_err(|_| internal("it ended early"))?;
    let Inspected { cpu, json } = inspected.map_err(|_| none())?;
    let mut answer = success(&json.and_then(|json| serde_json::from_slice::<Value>(&json).ok()));
    add_cpu_time(&mut answer, cpu);
    Ok(answer)
}
