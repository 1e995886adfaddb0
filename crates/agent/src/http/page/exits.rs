//! Tasks that ended, for the page of a process, a program, a user or a cgroup.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use facts::task::Cause;
use facts::task::figure::Figure;
use query::parse_selector;

use super::{reply, time_ms};
use crate::http::api::{Form, limits, with_past};
use crate::http::cancellation::Cancellation;
use crate::http::clients::Requester;
use crate::http::reply::Refusal;
use crate::http::shared::Shared;
use crate::http::task_replies::{ExitEntry, Exits};
use history::past::{Past, PastExit};

/// Rows of a reply.
const MAX_EXITS: usize = 500;

/// The tasks of the selector `of` that ended between two times.
pub(crate) async fn exits(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let selector = form.needed("of")?.to_owned();
    let window = [time_ms(&form, "from_ms")?, time_ms(&form, "to_ms")?];
    Ok(with_past(shared, requester, move |past, cancellation| {
        reply(find(past, window, &selector, cancellation))
    })
    .await)
}

fn find(
    past: &Past,
    window: [i64; 2],
    selector: &str,
    cancellation: &Cancellation,
) -> Result<Exits, Refusal> {
    let is_cancelled = || cancellation.is_cancelled();
    let found = past.exits(window, &parse_selector(selector)?, MAX_EXITS, &limits(&is_cancelled))?;
    let rows = found.last.iter().rev().map(|exit| entry(exit, past)).collect();
    Ok(Exits { count: found.count as u32, rows })
}

fn entry(exit: &PastExit, past: &Past) -> ExitEntry {
    let row = &exit.record.row;
    // Without delays that cannot be true.
    let account = exit.record.account();
    let seconds = |figure: Figure| account.sum.get(figure).map(|nanoseconds| nanoseconds as f32 / 1e9);
    let user = row.uid.map(|uid| past.users().name_or_number(uid).into_owned());
    ExitEntry {
        name: row.comm.to_lossy(),
        pid: row.key.pid,
        user: user.unwrap_or_default(),
        is_thread: row.process() != row.key.pid,
        started_ms: exit.started_ms,
        ended_ms: exit.ended_ms,
        status: exit.record.exit.status(),
        signal: exit.record.exit.signal(),
        on_cpu_s: seconds(Figure::ON_CPU),
        run_queue_s: seconds(Figure::delay(Cause::RunQueue)),
        block_io_s: seconds(Figure::delay(Cause::BlockIo)),
    }
}
