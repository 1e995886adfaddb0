//! The services of the server. One that cannot be opened is logged, and the others run without it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use facts::task::rounds::Scope;
use facts::unit::Nanos;
#[cfg(feature = "feeds")]
use feeds::FeedWatch;
use probe::background_job::Notifier;
use probe::tasks::TaskSource;
use sampling::agent_protocol::Hello;
use text::printable::Shown as _;

use crate::http::{BoundHttp, HttpServer};
use crate::options::AgentOptions;
use crate::shared_states::SharedStates;
use crate::socket::Socket;
use alerts::AlertWatch;
use checks::CheckWatch;
use checks::livestatus::Livestatus;
use history::task_sums::Summarizer;
use recorder::messages::TaskReading;
use service::{Level, Log};

/// The services that are configured. They end when this is dropped.
pub(super) struct Services {
    options: AgentOptions,
    history: PathBuf,
    pub(super) states: SharedStates,
    /// Notified when a client needs data of the recorder.
    requests: Notifier,
    log: Log,
    pub(super) http: Option<HttpServer>,
    pub(super) socket: Option<Socket>,
    task_reading: Option<TaskReading>,
    alerts: Option<AlertWatch>,
    checks: Option<CheckWatch>,
    livestatus: Option<Livestatus>,
    #[cfg(feature = "feeds")]
    feeds: Option<FeedWatch>,
}

/// Binds the address of HTTP.
pub(super) fn bind_http(options: &AgentOptions, log: &Log) -> Option<BoundHttp> {
    let http = options.http.as_ref()?;
    let failed =
        |error| log.write(Level::Warning, &format!("{}: {error}; the agent serves no HTTP", http.listen));
    BoundHttp::new(http).map_err(failed).ok()
}

impl Services {
    /// Opens all services. The history must have a tick.
    pub(super) fn open(
        options: AgentOptions,
        history: PathBuf,
        bound: Option<BoundHttp>,
        requests: Notifier,
    ) -> Self {
        let mut services = Self {
            options,
            history,
            states: SharedStates::default(),
            requests,
            log: Log::open(),
            http: None,
            socket: None,
            task_reading: None,
            alerts: None,
            checks: None,
            livestatus: None,
            #[cfg(feature = "feeds")]
            feeds: None,
        };
        services.open_http(bound);
        services.open_livestatus();
        services.watch_alerts();
        services.watch_checks();
        services.sum_tasks();
        #[cfg(feature = "feeds")]
        services.watch_feeds();
        services
    }

    /// Applies another configuration. Services whose options have not changed keep running.
    pub(super) fn reconfigure(&mut self, options: AgentOptions) {
        let old = std::mem::replace(&mut self.options, options);
        let new = &self.options;
        let is_same_http = old.http == new.http
            && old.privileged == new.privileged
            && old.requests_cpu_limit == new.requests_cpu_limit
            && has_reader(&old) == has_reader(new);
        if !is_same_http {
            // The address may be the same.
            drop(self.http.take());
            let bound = bind_http(&self.options, &self.log);
            self.open_http(bound);
        }
        if (&old.socket, &old.privileged) != (&self.options.socket, &self.options.privileged) {
            drop(self.socket.take());
            self.open_socket();
        }
        let is_same_path = self.livestatus.as_ref().map(Livestatus::path) == livestatus_path(&self.options);
        if !is_same_path || old.privileged != self.options.privileged {
            drop(self.livestatus.take());
            self.open_livestatus();
        }
        match &self.alerts {
            Some(alerts) => alerts.reconfigure(self.options.alerts.clone()),
            None => self.watch_alerts(),
        }
        match &self.checks {
            Some(checks) => checks.reconfigure(self.options.checks.clone()),
            None => self.watch_checks(),
        }
        #[cfg(feature = "feeds")]
        match (&self.feeds, &self.options.feeds) {
            (Some(feeds), Some(options)) => FeedWatch::reconfigure(feeds, options.clone()),
            (_, _) => self.watch_feeds(),
        }
    }

    /// Applies a change of how tasks are read. With another source the socket is opened again, so that its clients connect again.
    pub(super) fn set_task_reading(&mut self, new: Option<TaskReading>) {
        let old = std::mem::replace(&mut self.task_reading, new);
        let source = |reading: &TaskReading| (reading.source(), reading.is_accounting_on);
        match (&self.socket, &old, &self.task_reading) {
            (Some(socket), Some(old), Some(new)) if source(old) == source(new) => {
                socket.set_interval(Nanos(new.interval_ns));
            }
            _ => {
                // The path is the same.
                drop(self.socket.take());
                self.open_socket();
            }
        }
    }

    /// Returns whether a page watches the ticks.
    pub(super) fn has_watchers(&self) -> bool {
        self.http.as_ref().is_some_and(HttpServer::has_watchers)
    }

    /// Returns whether a client of the socket follows the rounds.
    pub(super) fn has_followers(&self) -> bool {
        self.socket.as_ref().is_some_and(Socket::has_followers)
    }

    /// Returns the CPU time that answers to requests took.
    pub(super) fn requests_cpu(&self) -> Duration {
        self.http.as_ref().map_or(Duration::ZERO, HttpServer::requests_cpu)
    }

    fn data(&self) -> &Path {
        self.history.parent().unwrap_or(&self.history)
    }

    fn open_http(&mut self, bound: Option<BoundHttp>) {
        let Some(bound) = bound else { return };
        let listen = bound.listen().clone();
        let opened = HttpServer::start(
            bound,
            self.history.clone(),
            self.options.privileged.clone(),
            self.states.clone(),
            has_reader(&self.options),
            self.options.requests_cpu_limit,
            self.requests.clone(),
        );
        let failed =
            |error| self.log.write(Level::Warning, &format!("{listen}: {error}; the agent serves no HTTP"));
        self.http = opened.map_err(failed).ok();
    }

    /// Opens the socket, unless tasks are not read: it serves nothing else.
    fn open_socket(&mut self) {
        let Some(path) = self.options.socket.as_deref() else { return };
        let Some((source, reading)) =
            self.task_reading.as_ref().and_then(|reading| Some((reading.source()?, reading)))
        else {
            return;
        };
        let hello = Hello {
            interval: Nanos(reading.interval_ns),
            scope: Scope::All,
            source,
            is_accounting_on: reading.is_accounting_on,
        };
        let mut privileged = self.options.privileged.clone();
        // The agent's user could read the same.
        if TaskSource::UNPRIVILEGED.contains(&source) {
            privileged.uids.push(probe::own_uid());
        }
        let opened = Socket::open(path, privileged, hello, self.requests.clone());
        let failed = |error| {
            let message = format!("{}: {error}; the agent has no socket", path.display());
            self.log.write(Level::Warning, &message);
        };
        self.socket = opened.map_err(failed).ok();
    }

    fn open_livestatus(&mut self) {
        let Some(path) = livestatus_path(&self.options) else { return };
        let data = self.data().to_owned();
        let started =
            Livestatus::start(path, self.options.privileged.clone(), self.states.checks.clone(), data);
        let failed = |error| {
            self.log.write(Level::Warning, &format!("{}: {error}; Livestatus is not served", path.shown()));
        };
        self.livestatus = started.map_err(failed).ok();
    }

    fn watch_alerts(&mut self) {
        let Some(options) = self.options.alerts.clone() else { return };
        let begun = AlertWatch::start(options, self.history.clone(), self.states.alerts.clone());
        self.alerts = begun.map_err(|error| self.log.write(Level::Warning, &format!("alerts: {error}"))).ok();
    }

    fn watch_checks(&mut self) {
        let Some(options) = self.options.checks.clone() else { return };
        let begun = CheckWatch::start(options, self.data().to_owned(), self.states.checks.clone());
        self.checks = begun.map_err(|error| self.log.write(Level::Warning, &format!("checks: {error}"))).ok();
    }

    /// Sums are made whatever is served: also `whit why` in a terminal reads them.
    fn sum_tasks(&self) {
        let mut log = Log::open();
        let report = move |fault| log.fault("sums of tasks", fault);
        if let Err(error) = Summarizer::start(self.history.clone(), report) {
            self.log.write(Level::Warning, &format!("sums of tasks: {error}"));
        }
    }

    #[cfg(feature = "feeds")]
    fn watch_feeds(&mut self) {
        self.feeds = None;
        let Some(options) = self.options.feeds.clone() else { return };
        let warn = |fault: &str| Log::open().write(Level::Warning, fault);
        let begun = FeedWatch::start(self.data(), options, self.states.feeds.clone(), warn);
        self.feeds = begun.map_err(|error| self.log.write(Level::Warning, &format!("feeds: {error}"))).ok();
    }
}

/// Returns whether any service is configured.
pub(crate) fn is_any_enabled(options: &AgentOptions) -> bool {
    let is_enabled = options.http.is_some()
        || options.socket.is_some()
        || options.alerts.is_some()
        || options.checks.is_some();
    is_enabled || has_reader(options)
}

fn livestatus_path(options: &AgentOptions) -> Option<&Path> {
    options.checks.as_ref()?.livestatus.as_deref()
}

/// Whether the feed reader is served.
fn has_reader(options: &AgentOptions) -> bool {
    #[cfg(feature = "feeds")]
    return options.feeds.is_some();
    #[cfg(not(feature = "feeds"))]
    {
        let _ = options;
        false
    }
}
