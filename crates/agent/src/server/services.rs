//! The services of the server: a list of parts. One that cannot be started is logged and tried again, and the others run without it.

use std::path::Path;
use std::time::Duration;

#[cfg(feature = "feeds")]
use feeds::FeedWatch;

use super::part::{AnySlot, Context, Settings, Slot};
use super::parts::{Sums, has_reader};
use crate::http::HttpServer;
use crate::options::AgentOptions;
use crate::shared_states::SharedStates;
use crate::socket::Socket;
use alerts::AlertWatch;
use checks::CheckWatch;
use checks::livestatus::Livestatus;
use exporters::ExporterWatch;
use recorder::messages::{ReceiverFigures, TaskReading};
use remote_write::{Progress, RemoteWriteWatch};
use service::Log;

/// The parts. They end when this is dropped.
#[derive(Default)]
struct Parts {
    http: Slot<HttpServer>,
    socket: Slot<Socket>,
    livestatus: Slot<Livestatus>,
    alerts: Slot<AlertWatch>,
    checks: Slot<CheckWatch>,
    sums: Slot<Sums>,
    remote_write: Slot<RemoteWriteWatch>,
    exporters: Slot<ExporterWatch>,
    #[cfg(feature = "feeds")]
    feeds: Slot<FeedWatch>,
}

impl Parts {
    fn all(&mut self) -> Vec<&mut dyn AnySlot> {
        vec![
            &mut self.http,
            &mut self.socket,
            &mut self.livestatus,
            &mut self.alerts,
            &mut self.checks,
            &mut self.sums,
            &mut self.remote_write,
            &mut self.exporters,
            #[cfg(feature = "feeds")]
            &mut self.feeds,
        ]
    }
}

/// The parts that are configured, and what they are started with.
pub(super) struct Services {
    context: Context,
    log: Log,
    parts: Parts,
}

impl Services {
    /// Starts all parts. The history must have a tick.
    pub(super) fn open(context: Context) -> Self {
        let mut services = Self { context, log: Log::open(), parts: Parts::default() };
        let settings = services.context.settings.clone();
        services.apply(settings);
        services
    }

    /// Starts parts again that failed, if it is time.
    pub(super) fn start_failed(&mut self) {
        for slot in self.parts.all() {
            slot.retry_if_due(&mut self.context, &mut self.log);
        }
    }

    /// Applies another configuration. Parts whose options have not changed keep running.
    pub(super) fn reconfigure(&mut self, options: AgentOptions) {
        self.apply(Settings { options, ..self.context.settings.clone() });
    }

    /// Applies a change of how tasks are read, which concerns the socket alone.
    pub(super) fn set_task_reading(&mut self, reading: Option<TaskReading>) {
        let old = self.context.settings.clone();
        self.context.settings.reading = reading;
        self.parts.socket.reconfigure(&old, &mut self.context, &mut self.log);
    }

    fn apply(&mut self, settings: Settings) {
        let old = std::mem::replace(&mut self.context.settings, settings);
        for slot in self.parts.all() {
            slot.reconfigure(&old, &mut self.context, &mut self.log);
        }
    }

    pub(super) fn states(&self) -> &SharedStates {
        &self.context.states
    }

    /// Returns the data directory.
    pub(super) fn data(&self) -> &Path {
        self.context.data()
    }

    pub(super) fn http(&mut self) -> Option<&mut HttpServer> {
        self.parts.http.part.as_mut()
    }

    pub(super) fn socket(&mut self) -> Option<&mut Socket> {
        self.parts.socket.part.as_mut()
    }

    /// The receivers of remote write, and their figures at a time in nanoseconds since 1970.
    pub(super) fn receivers(&self, now_ns: i64) -> Vec<ReceiverFigures> {
        let figures = |progress: Progress| ReceiverFigures {
            figures: [
                progress.behind_ns(now_ns).map(|behind_ns| behind_ns as f64 / 1e9),
                Some(progress.taken_count as f64),
                Some(progress.refused_count as f64),
                Some(progress.sent_bytes as f64),
                Some(progress.failures_count as f64),
                Some(progress.rule_failures_count as f64),
                progress.clock_ahead_s,
            ],
            name: progress.name,
        };
        self.parts.remote_write.part.iter().flat_map(RemoteWriteWatch::progress).map(figures).collect()
    }

    /// Returns whether a page watches the ticks.
    pub(super) fn has_watchers(&self) -> bool {
        self.parts.http.part.as_ref().is_some_and(HttpServer::has_watchers)
    }

    /// Returns whether a client of the socket follows the rounds.
    pub(super) fn has_followers(&self) -> bool {
        self.parts.socket.part.as_ref().is_some_and(Socket::has_followers)
    }

    /// Returns the CPU time that answers to requests took.
    pub(super) fn requests_cpu(&self) -> Duration {
        self.parts.http.part.as_ref().map_or(Duration::ZERO, HttpServer::requests_cpu)
    }
}

/// Returns whether anything is served.
pub(crate) fn is_any_enabled(options: &AgentOptions) -> bool {
    let is_enabled = options.http.is_some()
        || options.socket.is_some()
        || options.alerts.is_some()
        || options.checks.is_some()
        || options.exporters.is_some()
        || !options.remote_write.is_empty();
    is_enabled || has_reader(options)
}
