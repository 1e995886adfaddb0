//! The parts of the server, each with how it is started and what it is started again for.

use std::path::Path;

use facts::task::rounds::Scope;
use facts::unit::Nanos;
#[cfg(feature = "feeds")]
use feeds::FeedWatch;
use probe::tasks::TaskSource;
use sampling::agent_protocol::Hello;
use text::printable::Shown as _;

use super::part::{Context, Part, Settings};
use crate::http::{BoundHttp, HttpServer};
use crate::options::AgentOptions;
use crate::socket::Socket;
use alerts::AlertWatch;
use checks::CheckWatch;
use checks::livestatus::Livestatus;
use exporters::{ExporterWatch, TargetStatus};
use history::task_sums::Summarizer;
use remote_write::{Progress, RemoteWriteWatch};
use service::Log;

impl Part for HttpServer {
    const NAME: &'static str = "HTTP";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let options = &context.settings.options;
        let Some(http) = &options.http else { return Ok(None) };
        let failed = |error| format!("{}: {error}; the agent serves no HTTP", http.listen);
        let bound = match context.bound_http.take() {
            Some(bound) => bound,
            None => BoundHttp::new(http),
        };
        let bound = bound.map_err(failed)?;
        Self::start(
            bound,
            context.history.clone(),
            options,
            context.states.clone(),
            has_reader(options),
            context.requests.clone(),
            context.inspector.clone(),
        )
        .map(Some)
        .map_err(failed)
    }

    fn reconfigure(&mut self, old: &Settings, new: &Settings) -> bool {
        let (old, new) = (&old.options, &new.options);
        old.http == new.http
            && old.privileged == new.privileged
            && old.fleet == new.fleet
            && old.requests_cpu_limit == new.requests_cpu_limit
            && has_reader(old) == has_reader(new)
    }
}

/// It serves tasks alone: without a reading of them there is none.
impl Part for Socket {
    const NAME: &'static str = "the socket";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let Settings { options, reading } = &context.settings;
        let (Some(path), Some(reading)) = (&options.socket, reading) else { return Ok(None) };
        let Some(source) = reading.source() else { return Ok(None) };
        let hello = Hello {
            interval: Nanos(reading.interval_ns),
            scope: Scope::All,
            source,
            is_accounting_on: reading.is_accounting_on,
        };
        let mut privileged = options.privileged.clone();
        // The agent's user could read the same.
        if TaskSource::UNPRIVILEGED.contains(&source) {
            privileged.uids.push(probe::own_uid());
        }
        let opened = Self::open(path, privileged, hello, context.requests.clone());
        opened.map(Some).map_err(|error| format!("{}: {error}; the agent has no socket", path.display()))
    }

    /// With another source of tasks its clients have to connect again.
    fn reconfigure(&mut self, old: &Settings, new: &Settings) -> bool {
        let source = |settings: &Settings| {
            settings.reading.as_ref().map(|reading| (reading.source(), reading.is_accounting_on))
        };
        let is_kept = source(old) == source(new)
            && old.options.socket == new.options.socket
            && old.options.privileged == new.options.privileged;
        let interval = |settings: &Settings| settings.reading.as_ref().map(|reading| reading.interval_ns);
        // Setting the interval disconnects the clients.
        if let Some(interval_ns) = interval(new).filter(|_| is_kept && interval(old) != interval(new)) {
            self.set_interval(Nanos(interval_ns));
        }
        is_kept && new.reading.is_some()
    }
}

impl Part for Livestatus {
    const NAME: &'static str = "Livestatus";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let options = &context.settings.options;
        let (Some(path), Some(of_checks)) = (livestatus_path(options), &options.checks) else {
            return Ok(None);
        };
        let (checks, data) = (context.states.checks.clone(), context.data().to_owned());
        let started = Self::start(path, options.privileged.clone(), checks, data, of_checks.zone.clone());
        started.map(Some).map_err(|error| format!("{}: {error}; Livestatus is not served", path.shown()))
    }

    fn reconfigure(&mut self, old: &Settings, new: &Settings) -> bool {
        let zone = |settings: &Settings| settings.options.checks.as_ref().map(|checks| checks.zone.clone());
        Some(self.path()) == livestatus_path(&new.options)
            && old.options.privileged == new.options.privileged
            && zone(old) == zone(new)
    }
}

impl Part for AlertWatch {
    const NAME: &'static str = "the thread of alerts";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let Some(options) = context.settings.options.alerts.clone() else { return Ok(None) };
        let started = Self::start(options, context.history.clone(), context.states.alerts.clone());
        started.map(Some).map_err(|error| format!("alerts: {error}"))
    }

    /// Without rules it ends what fires.
    fn reconfigure(&mut self, _old: &Settings, new: &Settings) -> bool {
        Self::reconfigure(self, new.options.alerts.clone());
        true
    }
}

impl Part for CheckWatch {
    const NAME: &'static str = "the thread of checks";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let Some(options) = context.settings.options.checks.clone() else { return Ok(None) };
        let (data, states) = (context.data().to_owned(), context.states.checks.clone());
        let started = Self::start(options, data, states, context.runner.take());
        started.map(Some).map_err(|error| format!("checks: {error}"))
    }

    fn reconfigure(&mut self, _old: &Settings, new: &Settings) -> bool {
        Self::reconfigure(self, new.options.checks.clone());
        true
    }
}

impl Part for RemoteWriteWatch {
    const NAME: &'static str = "the threads of remote write";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let receivers = context.settings.options.remote_write.clone();
        Progress::mark_removed(context.data(), &receivers)
            .map_err(|error| format!("remote write: {error}"))?;
        if receivers.is_empty() {
            return Ok(None);
        }
        let started = Self::start(receivers, &context.history);
        started.map(Some).map_err(|error| format!("remote write: {error}"))
    }

    fn reconfigure(&mut self, _old: &Settings, new: &Settings) -> bool {
        self.options() == new.options.remote_write
    }
}

impl Part for ExporterWatch {
    const NAME: &'static str = "the threads of exporters";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let Some(options) = context.settings.options.exporters.clone() else {
            let cleared = TargetStatus::clear(context.data());
            return cleared.map(|()| None).map_err(|error| format!("exporters: {error}"));
        };
        let started = Self::start(options, context.data().to_owned());
        started.map(Some).map_err(|error| format!("exporters: {error}"))
    }

    fn reconfigure(&mut self, old: &Settings, new: &Settings) -> bool {
        if old.options.exporters != new.options.exporters {
            Self::reconfigure(self, new.options.exporters.clone());
        }
        true
    }
}

#[cfg(feature = "feeds")]
impl Part for FeedWatch {
    const NAME: &'static str = "feeds";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let Some(options) = context.settings.options.feeds.clone() else { return Ok(None) };
        let warn = |fault: &str| Log::open().write(service::Level::Warning, fault);
        let started = Self::start(context.data(), options, context.states.feeds.clone(), warn);
        started.map(Some).map_err(|error| format!("feeds: {error}"))
    }

    fn reconfigure(&mut self, _old: &Settings, new: &Settings) -> bool {
        let Some(options) = new.options.feeds.clone() else { return false };
        Self::reconfigure(self, options);
        true
    }
}

/// The thread that sums tasks. It runs whatever is served: also `whit why` in a terminal reads the sums.
pub(super) struct Sums;

impl Part for Sums {
    const NAME: &'static str = "the thread of sums";

    fn start(context: &mut Context) -> Result<Option<Self>, String> {
        let mut log = Log::open();
        let report = move |fault| log.fault("sums of tasks", fault);
        let started = Summarizer::start(context.history.clone(), report);
        started.map(|()| Some(Self)).map_err(|error| format!("sums of tasks: {error}"))
    }

    fn reconfigure(&mut self, _old: &Settings, _new: &Settings) -> bool {
        true
    }
}

fn livestatus_path(options: &AgentOptions) -> Option<&Path> {
    options.checks.as_ref()?.livestatus.as_deref()
}

/// Returns whether the feed reader is served.
pub(super) fn has_reader(options: &AgentOptions) -> bool {
    #[cfg(feature = "feeds")]
    return options.feeds.is_some();
    #[cfg(not(feature = "feeds"))]
    {
        let _ = options;
        false
    }
}
