//! The main loop of the server: messages of the recorder, requests of clients, and signals.

use std::fmt::Write as _;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use facts::task::rounds::Scope;
use probe::background_job::Notifier;
use probe::privilege;
use probe::signals::Signal;
use probe::spawn::own_usage;
use probe::task_detail::TaskFiles;
use probe::wait::{Waiter, Watch};
use probe::{Roots, clock_now};
use rustix::fd::{AsFd as _, OwnedFd};
use sampling::task_labels::TaskLabels;

use super::confinement;
use super::part::{Context, Settings};
use super::replica::Replica;
use super::services::Services;
use recorder::link::Link;
use recorder::messages::{ServerReport, Setup, Subscription, ToRecorder, ToServer};

#[cfg(feature = "feeds")]
use crate::feed_counters::{counted, write_unread};
use crate::http::{BoundHttp, Tick};
use crate::inspection::Inspector;
use crate::options::{AgentOptions, Listen};
use crate::shared_states::SharedStates;
use checks::runner::PrivilegedRunner;
use checks::write_states;
use service::{Level, Log};

/// Tokens of the event loop.
const RECORDER: u64 = 0;
const REQUESTS: u64 = 1;
const LOST: u64 = 2;
/// Ports below it need CAP_NET_BIND_SERVICE.
const FIRST_UNPRIVILEGED_PORT: u16 = 1024;
/// A round with all tasks of a large machine.
const MAX_BODY_BYTES: usize = 64 << 20;

/// Runs the server until the recorder closes the socket, or until SIGINT or SIGTERM. `reload` reads the configuration on SIGHUP.
///
/// # Errors
/// If the kernel refuses a resource, or a message of the recorder is malformed.
pub fn serve(
    options: AgentOptions,
    recorder: OwnedFd,
    mut reload: impl FnMut() -> Result<AgentOptions, String>,
) -> io::Result<()> {
    let system =
        |what: &'static str| move |error: io::Error| io::Error::new(error.kind(), format!("{what}: {error}"));
    let log = Log::open();
    let mut waiter =
        Waiter::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup]).map_err(system("signals"))?;
    confinement::set_limits();
    // Capabilities are per thread: they are dropped before another thread is started, and after a port below 1024 is bound.
    let bound = options.http.as_ref().map(BoundHttp::new);
    match bound.as_ref().and_then(|bound| bound.as_ref().ok()).map(BoundHttp::listen) {
        Some(Listen::Tcp(address)) => log.write(Level::Info, &format!("the page is http://{address}/")),
        Some(listen) => log.write(Level::Info, &format!("the page is at {listen}")),
        None => {}
    }
    let lost = Notifier::new().map_err(system("a pipe"))?;
    let runner = confinement::privileged_runner(&options, &lost).unwrap_or_else(|error| {
        log.write(Level::Warning, &format!("plugins run as the agent's user alone: {error}"));
        None
    });
    if runner.is_some() {
        // This process has the socket of one that may become any user: plugins must not take it.
        privilege::refuse_inspection().map_err(system("prctl"))?;
    }
    let inspector = Inspector::start(lost.clone())
        .map_err(|error| log.write(Level::Warning, &format!("no process shows what it waits for: {error}")));
    confinement::drop_privileges(&options).map_err(system("capabilities"))?;
    let link = Link::new(UnixStream::from(recorder), MAX_BODY_BYTES).map_err(system("the recorder"))?;
    let requests = Notifier::new().map_err(system("a pipe"))?;
    let watch = Watch::Edges { descriptor: link.as_fd(), with_room: true };
    waiter.watch(RECORDER, watch).map_err(system("the recorder"))?;
    waiter.watch(LOST, Watch::Readable(lost.as_fd())).map_err(system("a pipe"))?;
    waiter.watch(REQUESTS, Watch::Readable(requests.as_fd())).map_err(system("a pipe"))?;
    let state = State {
        options,
        bound,
        runner,
        inspector: inspector.ok().map(Arc::new),
        setup: None,
        services: None,
        replica: Replica::default(),
        labels: TaskFiles::open(&Roots::live()).ok().map(TaskLabels::new),
        requests,
        subscription: Subscription::default(),
        is_report_due: false,
    };
    let mut server = Server { link, state };
    let mut ready = Vec::new();
    loop {
        waiter.wait(None, &mut ready).map_err(system("waiting"))?;
        match waiter.next_signal() {
            Some(received) if received.signal == Signal::Hangup => {
                match reload() {
                    // The recorder starts another server, which has the privileges for these options.
                    Ok(new) if needs_restart(&server.state.options, &new) => return Ok(()),
                    Ok(new) => server.state.reconfigure(new),
                    Err(fault) => {
                        log.write(Level::Warning, &format!("the server keeps its configuration: {fault}"))
                    }
                }
            }
            Some(_) => return Ok(()),
            None => {}
        }
        if ready.iter().any(|ready| ready.token == LOST) {
            // The recorder starts another server, which has the privileges for another one.
            log.write(
                Level::Warning,
                "a process that has its privileges is gone: the server ends and is started again",
            );
            return Ok(());
        }
        match server.turn() {
            Err(error) if is_closed(&error) => return Ok(()),
            turned => turned.map_err(system("the recorder"))?,
        }
    }
}

/// Returns whether new options need a privilege that this process has dropped: for checks, and to bind a port below 1024.
fn needs_restart(old: &AgentOptions, new: &AgentOptions) -> bool {
    let is_low = |options: &AgentOptions| match options.http.as_ref().map(|http| &http.listen) {
        // Port 0 is any other.
        Some(Listen::Tcp(address)) => (1..FIRST_UNPRIVILEGED_PORT).contains(&address.port()),
        _ => false,
    };
    old.checks.is_some() != new.checks.is_some() || is_low(new)
}

/// Returns whether an error means that the recorder has closed the socket.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

struct Server {
    link: Link,
    state: State,
}

impl Server {
    /// Handles the received messages, and sends subscription and report if they have changed.
    fn turn(&mut self) -> io::Result<()> {
        let Self { link, state } = self;
        state.requests.drain();
        link.receive(|message: ToServer, body| state.handle(message, body))?;
        let subscription = state.wanted_subscription();
        if subscription != state.subscription {
            link.queue(&ToRecorder::Subscribe(subscription), &[]);
            state.subscription = Subscription { status: false, ..subscription };
        }
        if std::mem::take(&mut state.is_report_due) {
            link.queue(&ToRecorder::Report(state.report()), &[]);
        }
        link.flush()
    }
}

struct State {
    options: AgentOptions,
    /// Taken when the services are opened.
    bound: Option<io::Result<BoundHttp>>,
    runner: Option<PrivilegedRunner>,
    inspector: Option<Arc<Inspector>>,
    setup: Option<Setup>,
    services: Option<Services>,
    replica: Replica,
    labels: Option<TaskLabels>,
    /// Notified by services when a client needs data of the recorder.
    requests: Notifier,
    /// The subscription that was sent last.
    subscription: Subscription,
    is_report_due: bool,
}

impl State {
    fn handle(&mut self, message: ToServer, body: &[u8]) {
        match message {
            ToServer::Setup(setup) => {
                if let Some(services) = &mut self.services {
                    services.set_task_reading(setup.tasks.clone());
                }
                self.setup = Some(setup);
            }
            ToServer::Round { is_whole } => self.handle_round(is_whole, body),
            ToServer::Names(names) => self.replica.add_names(names),
            ToServer::Tick { at_ms, has_tasks } => {
                // Alerts need a tick to evaluate.
                self.open_services();
                if let Some(services) = &mut self.services {
                    services.start_failed();
                }
                self.replica.apply_tick(body);
                self.is_report_due = true;
                if let Some(http) = self.services.as_mut().and_then(Services::http) {
                    http.publish_tick(Tick {
                        at_ms,
                        series: Box::new(self.replica.series()),
                        tasks: self.replica.tasks().filter(|_| has_tasks),
                        labels: self.labels.as_mut(),
                    });
                }
            }
            ToServer::Status => self.publish_status(body),
        }
    }

    fn open_services(&mut self) {
        let Some(setup) = &self.setup else { return };
        if self.services.is_none() {
            self.services = Some(Services::open(Context {
                settings: Settings { options: self.options.clone(), reading: setup.tasks.clone() },
                history: setup.history(),
                states: SharedStates::default(),
                requests: self.requests.clone(),
                bound_http: self.bound.take(),
                runner: self.runner.take(),
                inspector: self.inspector.clone(),
            }));
        }
    }

    fn reconfigure(&mut self, options: AgentOptions) {
        if let Some(services) = &mut self.services {
            services.reconfigure(options.clone());
        }
        if options.http != self.options.http {
            // Of a reload before the first tick.
            self.bound = None;
        }
        self.options = options;
    }

    fn handle_round(&mut self, is_whole: bool, body: &[u8]) {
        let Some(tables) = self.replica.apply_round(is_whole, body) else { return };
        let Some(socket) = self.services.as_mut().and_then(Services::socket) else {
            return;
        };
        let Some(tasks) = self.replica.tasks() else { return };
        if is_whole {
            socket.restart_rounds(tasks);
        } else {
            socket.publish_round(tasks, tables);
        }
    }

    fn publish_status(&mut self, body: &[u8]) {
        let Some(services) = &mut self.services else { return };
        let states = services.states().clone();
        let data = services.data().to_owned();
        // With a token it answers no command.
        let has_token = self.options.http.as_ref().is_some_and(|http| http.token.is_some());
        let listen = services.http().filter(|_| !has_token).map(|http| http.listen().clone());
        let Some(socket) = services.socket() else { return };
        for scope in socket.status_wishes() {
            let mut status = String::from_utf8_lossy(body).into_owned();
            write_states(&states.checks.lock(), &mut status);
            // They may be about tasks of others.
            if scope == Scope::All {
                let _ = writeln!(status, "firing_alerts {}", states.alerts.read().firing());
            }
            #[cfg(feature = "feeds")]
            write_unread(&states.feeds, scope, &mut status);
            write_places(self.options.configuration.as_deref(), &data, listen.as_ref(), &mut status);
            socket.publish_status(scope, status);
        }
    }

    /// Returns what clients need of the recorder. New clients of the socket get all tasks here if these are known.
    fn wanted_subscription(&mut self) -> Subscription {
        let Some(services) = &mut self.services else { return Subscription::default() };
        let subscription = Subscription {
            series: services.has_watchers(),
            tasks: services.has_watchers() || services.has_followers(),
            status: services.socket().is_some_and(|socket| !socket.status_wishes().is_empty()),
        };
        if !subscription.tasks {
            self.replica.drop_tasks();
            if let Some(socket) = services.socket() {
                socket.forget_rounds();
            }
        }
        if let (Some(socket), Some(tasks)) = (services.socket(), self.replica.tasks()) {
            socket.publish_whole(tasks);
        }
        subscription
    }

    fn report(&self) -> ServerReport {
        let usage = own_usage();
        let mut report = ServerReport {
            cpu_s: usage.cpu().as_secs_f64(),
            peak_bytes: usage.peak_resident.0,
            ..ServerReport::default()
        };
        if let Some(services) = &self.services {
            report.requests_cpu_s = services.requests_cpu().as_secs_f64();
            report.receivers = services.receivers(clock_now().realtime.0.cast_signed());
            report.alerts = services.states().alerts.read().series_names();
            #[cfg(feature = "feeds")]
            report.feeds.extend(counted(&services.states().feeds).into_iter().flatten());
        }
        report.validated()
    }
}

/// Appends where the configuration and the history are, and where requests over HTTP are answered, for commands that look for an agent.
fn write_places(configuration: Option<&Path>, data: &Path, listen: Option<&Listen>, status: &mut String) {
    for (name, path) in [("configuration", configuration), ("data", Some(data))] {
        let path = path.and_then(|path| std::path::absolute(path).ok());
        // A line has one value.
        if let Some(path) = path.as_deref().and_then(Path::to_str).filter(|path| !path.contains('\n')) {
            let _ = writeln!(status, "{name} {path}");
        }
    }
    if let Some(listen) = listen {
        let _ = writeln!(status, "http {listen}");
    }
}
