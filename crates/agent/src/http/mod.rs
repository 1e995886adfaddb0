//! HTTP: Prometheus' API, and the last tick for scrapers. A thread of its own serves it, so that no client delays a tick.

mod alerts;
mod answers;
mod api;
mod assets;
mod caller;
mod cancellation;
mod changes;
mod checks;
mod clients;
mod compression;
mod connections;
mod exposition;
mod feed;
#[cfg(feature = "feeds")]
mod feeds;
mod fleet;
mod kept_past;
mod listener;
mod live;
mod metadata;
mod page;
#[cfg(feature = "feeds")]
mod reader;
mod receivers;
mod replies;
mod reply;
mod request_queue;
mod sessions;
mod shared;
mod shared_fleet;
mod sign_in;
mod silences;
mod task_replies;
mod task_rows;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
#[cfg(feature = "feeds")]
use axum::response::Redirect;
use axum::routing::{any, get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use probe::background_job::Notifier;
use tokio::sync::{Notify, watch};

use crate::inspection::Inspector;
use crate::options::{AgentOptions, HttpOptions, Listen};
use crate::shared_states::SharedStates;
use assets::Assets;
use clients::MAX_RUNNING;
use connections::Connections;
use kept_past::KeptPast;
use listener::{Bound, Listener};
pub(crate) use live::Tick;
use live::{Live, Publisher};
use request_queue::{QUEUE_TIMEOUT, RequestQueue};
use service::unix_socket;
use sessions::SignIn;
use shared::Shared;
use shared_fleet::SharedFleet;

/// Threads for short work (marks, checks, compression, feeds), which does not wait behind evaluations.
const MAX_SHORT: usize = 3;
/// The longest that the head of a request, or the next request, may take.
const MAX_HEAD: Duration = Duration::from_secs(10);
/// The longest that a connection lives: a client that reads slowly does not keep an answer in memory for ever.
const MAX_CONNECTION: Duration = Duration::from_secs(300);

/// The server, as long as this is kept.
#[derive(Debug)]
pub(crate) struct HttpServer {
    stop: Arc<Notify>,
    /// Their number.
    ticks: watch::Sender<u64>,
    live: Arc<Live>,
    requests: Arc<RequestQueue>,
    publisher: Publisher,
    /// Where it listens.
    listen: Listen,
}

/// A bound address at which nothing is served yet.
pub(crate) struct BoundHttp {
    bound: Bound,
    options: HttpOptions,
}

impl BoundHttp {
    /// Binds an address.
    ///
    /// # Errors
    /// If the address is taken, or is none of this machine.
    pub(crate) fn new(options: &HttpOptions) -> io::Result<Self> {
        let bound = Bound::new(&options.listen)?;
        // Of port 0 it is another one.
        let listen = bound.address(&options.listen)?;
        Ok(Self { bound, options: HttpOptions { listen, ..options.clone() } })
    }

    /// Returns where it listens.
    pub(crate) fn listen(&self) -> &Listen {
        &self.options.listen
    }
}

impl HttpServer {
    /// Starts serving at a bound address, as the options want it. `watched` is notified when a page begins to watch the ticks.
    ///
    /// # Errors
    /// If there are no more threads or descriptors.
    pub(crate) fn start(
        BoundHttp { bound, options }: BoundHttp,
        history: PathBuf,
        of_agent: &AgentOptions,
        states: SharedStates,
        has_reader: bool,
        watched: Notifier,
        inspector: Option<Arc<Inspector>>,
    ) -> io::Result<Self> {
        let listen = options.listen.clone();
        let own_uid = probe::own_uid();
        let (ticks, seen_ticks) = watch::channel(0);
        let past = KeptPast::new(seen_ticks);
        let live = Arc::new(Live::new(watched));
        let publisher = Publisher::new(Arc::clone(&live));
        let requests = Arc::new(RequestQueue::new(QUEUE_TIMEOUT, of_agent.requests_cpu_limit));
        let sign_in = SignIn::default();
        let shared = Arc::new(Shared {
            history,
            past,
            requests: Arc::clone(&requests),
            live: Arc::clone(&live),
            assets: Assets::default(),
            sign_in,
            options,
            privileged: of_agent.privileged.clone(),
            own_uid,
            states,
            inspector,
            fleet: SharedFleet::new(of_agent.fleet.as_ref()),
            #[cfg(feature = "feeds")]
            reader: reader::Reader::new(has_reader),
        });
        #[cfg(not(feature = "feeds"))]
        let _ = has_reader;
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(MAX_RUNNING + MAX_SHORT)
            .build()?;
        std::thread::Builder::new().name("http".to_owned()).spawn(move || {
            let ended = runtime.block_on(async {
                tokio::select! {
                    () = stopped.notified() => Ok(()),
                    () = async { shared.past.drop_old().await; std::future::pending().await } => Ok(()),
                    ended = async { serve(bound.listen()?, Arc::clone(&shared)).await } => ended,
                }
            });
            // What is being evaluated ends with the process.
            runtime.shutdown_background();
            ended
        })?;
        Ok(Self { stop, ticks, live, requests, publisher, listen })
    }

    /// Returns where it listens.
    pub(crate) fn listen(&self) -> &Listen {
        &self.listen
    }

    /// Returns whether a page watches the ticks.
    pub(crate) fn has_watchers(&self) -> bool {
        !self.live.is_idle()
    }

    /// Returns the CPU time that answers to requests took.
    pub(crate) fn requests_cpu(&self) -> Duration {
        self.requests.cpu()
    }

    /// Publishes a tick to the pages that watch.
    pub(crate) fn publish_tick(&mut self, tick: Tick<'_>) {
        self.publisher.publish(tick);
        self.ticks.send_modify(|ticks| *ticks += 1);
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.notify_one();
        // Not by its thread, which may take its time: another server may listen there by then.
        if let Listen::Unix(path) = &self.listen {
            let _ = unix_socket::remove(path);
        }
    }
}

async fn serve(listener: Listener, shared: Arc<Shared>) -> io::Result<()> {
    let connections = Connections::new(shared.own_uid);
    let router = router(&shared);
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Too many descriptors are open: they become fewer.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Some(permit) = connections.permit(peer) else { continue };
        let (router, shared) = (router.clone(), Arc::clone(&shared));
        tokio::spawn(async move {
            let _permit = permit;
            let service = tower::service_fn(move |mut request: Request<hyper::body::Incoming>| {
                request.extensions_mut().insert(peer);
                tower::ServiceExt::oneshot(router.clone(), request)
            });
            let _ = shared;
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(MAX_HEAD)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            let _ = tokio::time::timeout(MAX_CONNECTION, connection).await;
        });
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    let api = Router::new()
        .route("/query", any(api::query))
        .route("/query_range", any(api::query_range))
        .route("/series", any(api::series))
        .route("/labels", any(api::labels))
        .route("/label/{name}/values", get(api::label_values))
        .route("/metadata", get(metadata::metadata))
        .route("/status/buildinfo", get(metadata::build))
        .route("/rules", get(alerts::rules))
        .route("/alerts", get(alerts::alerts))
        .route("/checks/{what}", post(checks::ask))
        .route("/query_exemplars", any(metadata::no_exemplars));
    let of_page = Router::new()
        .route("/status", get(page::status))
        .route("/live", get(page::stream))
        .route("/plots", any(page::plots))
        .route("/tasks", get(page::tasks))
        .route("/exits", get(page::exits))
        .route("/process", get(page::process))
        .route("/inspection", get(page::inspection))
        .route("/marks", get(page::marks).post(page::marks))
        .route("/language", get(page::language))
        .route("/checks", get(checks::list))
        .route("/check", get(checks::one))
        .route("/changes", get(changes::list))
        .route("/silences", get(silences::silences).post(silences::silences))
        .route("/silences/end", post(silences::end))
        .route("/receivers", get(receivers::list))
        .route("/download/{kind}", get(page::download))
        .route("/why", get(page::why))
        .route("/fleet", get(fleet::machines))
        .route("/fleet/past", get(fleet::past))
        .route("/fleet/uses", get(fleet::uses))
        .route("/fleet/why", get(fleet::why))
        .route("/fleet/plots", post(fleet::plots));
    let router = Router::new();
    #[cfg(feature = "feeds")]
    let router = router
        .route("/feeds", any(async || Redirect::to(::feeds::web::PREFIX)))
        .route("/feeds/", any(feeds::answer))
        .route("/feeds/{*rest}", any(feeds::answer));
    router
        .nest("/api/v1", api)
        .nest("/api/page", of_page)
        .route("/", get(page::index))
        .route("/page.js", get(page::script))
        .route("/style.css", get(page::style))
        .route("/sign-in", post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/feed.atom", get(feed::atom))
        .route("/metrics", get(exposition::metrics))
        .route("/-/healthy", get(async || "whit is healthy\n"))
        .route("/-/ready", get(async || "whit is ready\n"))
        .fallback(reply::not_found)
        .layer(axum::middleware::from_fn(compression::compress))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(shared), caller::check))
        .layer(axum::middleware::from_fn(caller::protect))
        .with_state(Arc::clone(shared))
}
