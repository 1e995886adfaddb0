//! Events for one page: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use facts::task::rounds::Scope;
use futures_util::stream;
use query::{Query, QueryError};
use tokio::sync::watch;

use super::{group_by, queries};
use crate::http::api::{Form, MAX_EVALUATION, in_turn};
use crate::http::cancellation::Cancellation;
use crate::http::clients::Requester;
use crate::http::live::{Expressions, Live, Watched};
use crate::http::reply::{Refusal, refusal};
use crate::http::shared::Shared;
use history::past::Past;

/// A page that is open. It watches until this is dropped.
struct Watcher {
    live: Arc<Live>,
    requester: Requester,
    watched: Watched,
    expressions: Expressions,
    queries: Arc<[Query]>,
    ticks: watch::Receiver<u64>,
    /// The event that is sent before the next tick is waited for.
    waiting: Option<Event>,
}

impl Watcher {
    fn new(
        shared: &Shared,
        requester: Requester,
        watched: Watched,
        texts: Arc<[String]>,
        queries: Vec<Query>,
    ) -> Result<Self, Refusal> {
        if !shared.live.add(&requester, watched) {
            let message = "too many pages are open: close one, or look at this one without live values";
            return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message));
        }
        let expressions = Expressions { texts, sees_all: watched.scope == Scope::All };
        let (live, ticks, queries) = (Arc::clone(&shared.live), shared.past.ticks(), queries.into());
        Ok(Self { live, requester, watched, expressions, queries, ticks, waiting: None })
    }

    /// The next event; `None` if there are no more ticks.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.take() {
                return Some(event);
            }
            self.ticks.changed().await.ok()?;
            let event = |name: &str, text: Arc<str>| Event::default().event(name).data(text);
            self.waiting = self.live.tasks(self.watched).map(|text| event("tasks", text));
            let values = self.live.values(&self.expressions, &self.queries, self.requester.is_owner);
            if let Some(text) = values.await {
                return Some(event("values", text));
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.live.remove(self.requester.key, self.watched);
    }
}

/// The values of the expressions `query`, and the tasks that did something, at every tick.
pub(crate) async fn stream(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let watched = Watched { scope: requester.scope, by: group_by(&form)? };
    let texts: Arc<[String]> = queries(&form)?.into();
    let begin = {
        let (live, texts) = (Arc::clone(&shared.live), Arc::clone(&texts));
        move |past: &Past, cancellation: &Cancellation| {
            let parse = |text: &String| match cancellation.is_cancelled() {
                true => Err(QueryError::Interrupted),
                false => Query::parse(text),
            };
            let queries = texts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
            if live.is_idle() {
                live.begin(past);
            }
            Ok::<_, QueryError>(queries)
        }
    };
    let beginner = Requester { scope: Scope::All, ..requester }.of_cheap();
    let queries = match in_turn(Arc::clone(&shared), beginner, MAX_EVALUATION, begin).await {
        Ok(queries) => queries?,
        Err(refused) => return Ok(refused),
    };
    let watcher = Watcher::new(&shared, requester, watched, texts, queries)?;
    let events = stream::unfold(watcher, async |mut watcher| {
        let event = watcher.next().await?;
        Some((Ok::<_, Infallible>(event), watcher))
    });
    Ok(Sse::new(events).into_response())
}
