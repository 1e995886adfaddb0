//! One process, for its page: when it ran, and its relatives.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use facts::task::TaskRow;
use facts::task::waits::Waits;

use super::{pid, reply, time_ms};
use crate::http::api::{Form, limits, with_past};
use crate::http::clients::Requester;
use crate::http::reply::Refusal;
use crate::http::shared::Shared;
use crate::http::task_replies::{ProcessDetail, RelativeEntry, ThreadEntry, WaitCount};
use history::past::{Past, PastProcess, ProcessKey, Relative};

/// Children and threads of a reply.
const MAX_LISTED: usize = 50;

/// The process `pid` at `at_ms`: the one that started at `started_ms`, if that is given; otherwise the last one since `from_ms`. `null`: none
/// was recorded.
pub(crate) async fn process(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let pid = pid(&form)?;
    let started_ms = form.get("started_ms").map(|_| time_ms(&form, "started_ms")).transpose()?;
    let times = [time_ms(&form, "from_ms")?, time_ms(&form, "at_ms")?];
    let key = ProcessKey { pid, started_ms };
    Ok(with_past(shared, requester, move |past, cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let found = past.process(key, times, &limits(&is_cancelled));
        reply(found.map(|process| process.map(|process| detail(&process, past))).map_err(Refusal::from))
    })
    .await)
}

fn detail(process: &PastProcess, past: &Past) -> ProcessDetail {
    let PastProcess { row, exit, .. } = process;
    let user = row.uid.map(|uid| past.users().name_or_number(uid).into_owned());
    let waits = Waits::of(process.threads.iter()).by_threads();
    let cgroup = process.cgroup.as_deref().unwrap_or_default();
    ProcessDetail {
        name: row.comm.to_lossy(),
        user: user.unwrap_or_default(),
        cgroup: cgroup.to_owned(),
        cgroup_name: past.container_names().cgroup_name(cgroup).to_string(),
        command_line: process.command_line.clone(),
        started_ms: process.started_ms,
        ended_ms: process.ended_ms,
        status: exit.and_then(|exit| exit.status()),
        signal: exit.and_then(|exit| exit.signal()),
        ancestors: process.ancestors.iter().map(relative).collect(),
        children_count: process.children.len() as u32,
        children: process.children.iter().take(MAX_LISTED).map(relative).collect(),
        threads_count: process.threads.len() as u32,
        threads: process.threads.iter().take(MAX_LISTED).map(thread).collect(),
        waits: waits
            .into_iter()
            .map(|(wait, threads)| WaitCount { reason: wait.reason.name(), threads })
            .collect(),
    }
}

fn relative(Relative { pid, comm, started_ms }: &Relative) -> RelativeEntry {
    RelativeEntry { pid: *pid, name: comm.to_lossy(), started_ms: *started_ms }
}

fn thread(row: &TaskRow) -> ThreadEntry {
    let waits_for = row.wait.map(|wait| wait.reason.name());
    ThreadEntry { tid: row.key.pid, name: row.comm.to_lossy(), waits_for }
}
