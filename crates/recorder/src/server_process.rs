//! The recorder's end: starts the server process, sends it ticks, and restarts it when it exits.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use facts::task::TaskSource;
use facts::task::rounds::{RoundEncoder, Scope};
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use probe::clock_now;
use probe::signals::Signal;
use probe::spawn::{Command, Ending, Group, kill_child, reap, reap_ended, signal_child};
use rustix::fd::{AsFd as _, BorrowedFd};
use store::SeriesId;

use crate::link::Link;
use crate::messages::{ServerReport, Setup, Subscription, TaskReading, ToRecorder, ToServer, push_value};
use crate::stall::Stall;

use crate::recorded::Recorded;
use service::{Level, Log};

/// The delay before the first restart. It doubles with each restart, up to the longest.
const FIRST_DELAY: Nanos = Nanos(1_000_000_000);
const MAX_DELAY: Nanos = Nanos(60_000_000_000);
/// After running for so long the delay starts over.
const HEALTHY_AFTER: Nanos = Nanos(60_000_000_000);
/// The most bytes that are queued for a server that does not read. Beyond it rounds are skipped, and all tasks are sent later.
const MAX_QUEUED_BYTES: usize = 32 << 20;
/// A server that has not read for so long is killed.
const STALL_TIMEOUT: Nanos = Nanos(60_000_000_000);
/// The most series whose names a server gets. Series that come and go all the time would fill its memory.
const MAX_SERIES: usize = 100_000;
/// The names of one message.
const NAMES_A_MESSAGE: usize = 500;
/// The server sends no bodies.
const MAX_BODY_BYTES: usize = 0;
/// The timeout of a shutdown, and how often its end is polled.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The tick that was recorded last.
#[derive(Clone, Copy)]
pub(crate) struct Latest<'r> {
    /// Milliseconds since 1970.
    pub(crate) at_ms: i64,
    pub(crate) series: &'r Recorded,
    /// `None` if tasks are not read.
    pub(crate) tasks: Option<LatestTasks<'r>>,
    /// The path of the database.
    pub(crate) history: &'r Path,
}

/// The last round of tasks.
#[derive(Clone, Copy)]
pub(crate) struct LatestTasks<'r> {
    pub(crate) store: &'r TaskStore,
    pub(crate) lost_exits: u64,
    /// The round was read in this tick.
    pub(crate) is_new: bool,
    /// The interval between two rounds.
    pub(crate) interval: Nanos,
    pub(crate) source: TaskSource,
    pub(crate) is_accounting_on: Option<bool>,
}

/// The server process. It may be restarting.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    words: Vec<OsString>,
    running: Option<Running>,
    /// A process that was killed and is not reaped yet.
    killed: Option<u32>,
    /// The boot time of the next start.
    start_at: Nanos,
    delay: Nanos,
    starts: u64,
    /// CPU time in seconds of processes that have exited.
    exited_cpu_s: f64,
    report: ServerReport,
}

#[derive(Debug)]
struct Running {
    pid: u32,
    link: Link,
    started_at: Nanos,
    subscription: Subscription,
    /// The encoder of the rounds that are sent, once all tasks were sent.
    encoder: Option<RoundEncoder>,
    /// The number of each series whose name was sent.
    numbers: HashMap<SeriesId, u32>,
    setup: Option<Setup>,
    stall: Stall,
    /// The first report was received: all services are open.
    is_ready: bool,
    /// SIGHUP is sent when the process is ready. Before that, the signal would end it.
    is_reload_pending: bool,
}

impl ServerProcess {
    /// Creates a server that runs a command. [`Self::start_if_due`] starts it.
    pub(crate) fn new(words: Vec<OsString>) -> Self {
        Self {
            words,
            running: None,
            killed: None,
            start_at: Nanos(0),
            delay: FIRST_DELAY,
            starts: 0,
            exited_cpu_s: 0.0,
            report: ServerReport::default(),
        }
    }

    /// Starts the process if it is not running and its delay has passed. Returns whether it was started.
    pub(crate) fn start_if_due(&mut self, log: &Log) -> bool {
        if let Some(ending) = self.reap_killed() {
            let how = match ending {
                Ending::Exited(status) => format!("exit status {status}"),
                Ending::Signaled(signal) => format!("signal {signal}"),
                Ending::Unknown => "unknown status".to_owned(),
            };
            log.write(Level::Warning, &format!("the server process ended ({how}); recording continues"));
            if ending == Ending::Exited(0) {
                // It asked for another one, and will not fail the more often.
                self.delay = FIRST_DELAY;
            }
        }
        let now = clock_now().boottime;
        if self.running.is_some() || self.killed.is_some() || now < self.start_at {
            return false;
        }
        match self.start(now) {
            Ok(running) => {
                self.running = Some(running);
                self.starts += 1;
            }
            Err(error) => {
                self.schedule_restart(now);
                let message = format!("the server process cannot be started: {error}; recording continues");
                log.write(Level::Warning, &message);
            }
        }
        self.running.is_some()
    }

    fn start(&self, now: Nanos) -> io::Result<Running> {
        let (stream, other) = UnixStream::pair()?;
        let command = Command {
            words: self.words.clone(),
            streams: [Some(other.as_fd()), None, None],
            // Signals of the terminal go to the recorder, which ends the server.
            group: Group::Session,
            dies_with_parent: true,
            ..Command::default()
        };
        let pid = command.start()?;
        Ok(Running {
            pid,
            link: Link::new(stream, MAX_BODY_BYTES)?,
            started_at: now,
            subscription: Subscription::default(),
            encoder: None,
            numbers: HashMap::new(),
            setup: None,
            stall: Stall::default(),
            is_ready: false,
            is_reload_pending: false,
        })
    }

    fn schedule_restart(&mut self, now: Nanos) {
        self.start_at = now + self.delay;
        self.delay = Nanos(self.delay.0.saturating_mul(2)).min(MAX_DELAY);
    }

    /// Returns the socket, which becomes readable when a message arrives, and writable when there is room for queued ones.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.running.as_ref().map(|running| running.link.as_fd())
    }

    /// Returns the last report; an empty one while the process is not running.
    pub(crate) fn report(&self) -> &ServerReport {
        &self.report
    }

    /// Returns the CPU time in seconds of this process and all before it.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.exited_cpu_s + self.report.cpu_s
    }

    /// Returns the process id; `None` while it is not running.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.pid)
    }

    /// Returns how often the process was started.
    pub(crate) fn starts(&self) -> u64 {
        self.starts
    }

    /// Returns `false` while the process is starting.
    pub(crate) fn is_ready_or_down(&self) -> bool {
        self.running.as_ref().is_none_or(|running| running.is_ready)
    }

    /// Receives messages and sends queued ones.
    pub(crate) fn poll(&mut self) {
        let Some(running) = &mut self.running else { return };
        let (mut subscription, mut report) = (running.subscription, None);
        // The server drops its tasks also if it subscribes again at once.
        let mut has_dropped_tasks = false;
        let received = running.link.receive(|message: ToRecorder, _| match message {
            ToRecorder::Subscribe(new) => {
                // A request for the status stays until it was answered.
                subscription = Subscription { status: new.status || subscription.status, ..new };
                has_dropped_tasks |= !new.tasks;
            }
            ToRecorder::Report(new) => report = Some(new),
        });
        running.subscription = subscription;
        if has_dropped_tasks {
            running.encoder = None;
        }
        if let Some(report) = report {
            running.is_ready = true;
            if std::mem::take(&mut running.is_reload_pending) {
                signal_child(running.pid, Signal::Hangup);
            }
            self.report = report.validated();
        }
        if received.and_then(|()| running.link.flush()).is_err() {
            self.kill();
        }
    }

    /// Returns whether [`Self::reply`] has something to send.
    pub(crate) fn has_reply(&self) -> bool {
        self.running.as_ref().is_some_and(|running| {
            let reads_tasks = running.setup.as_ref().is_some_and(|setup| setup.tasks.is_some());
            let is_missing = reads_tasks && running.subscription.tasks && running.encoder.is_none();
            (running.subscription.status || is_missing) && !running.is_full()
        })
    }

    /// Kills the process after its socket was closed, and schedules a restart. The exit status of one that has exited stays.
    fn kill(&mut self) {
        let Some(Running { pid, started_at, .. }) = self.running.take() else { return };
        kill_child(pid);
        self.killed = Some(pid);
        self.exited_cpu_s += self.report.cpu_s;
        self.report = ServerReport::default();
        let now = clock_now().boottime;
        if now.saturating_sub(started_at) >= HEALTHY_AFTER {
            self.delay = FIRST_DELAY;
        }
        self.schedule_restart(now);
    }

    /// Reaps a killed process. Returns how it ended, or `None` if there is none or it has not exited.
    fn reap_killed(&mut self) -> Option<Ending> {
        let reaped = reap_ended(self.killed?.cast_signed())?;
        self.killed = None;
        Some(reaped.ending)
    }

    /// Sends a tick. Kills a server that does not read, or that has got too many names.
    pub(crate) fn send_tick(&mut self, latest: Latest<'_>) {
        self.send(|running| running.queue_tick(latest));
        let now = clock_now().boottime;
        let is_useless = self.running.as_mut().is_some_and(|running| {
            let link = &running.link;
            let stalled = running.stall.after(link.sent_bytes(), link.queued_bytes(), now);
            stalled >= STALL_TIMEOUT || running.numbers.len() > MAX_SERIES
        });
        if is_useless {
            self.kill();
        }
    }

    /// Sends what was requested since the last tick.
    pub(crate) fn reply(&mut self, latest: Latest<'_>) {
        self.send(|running| running.queue_reply(latest));
    }

    fn send(&mut self, queue: impl FnOnce(&mut Running)) {
        let Some(running) = &mut self.running else { return };
        queue(running);
        if running.link.flush().is_err() {
            self.kill();
        }
    }

    /// Makes the server read its configuration again.
    pub(crate) fn reload(&mut self) {
        match &mut self.running {
            Some(running) if running.is_ready => signal_child(running.pid, Signal::Hangup),
            Some(running) => running.is_reload_pending = true,
            None => {}
        }
    }

    /// Ends the process with SIGTERM, and with SIGKILL after a timeout.
    pub(crate) fn shut_down(mut self) {
        let Some(Running { pid, .. }) = self.running.take() else { return };
        signal_child(pid, Signal::Terminate);
        for _ in 0..SHUTDOWN_TIMEOUT.as_millis() / POLL_INTERVAL.as_millis() {
            if reap_ended(pid.cast_signed()).is_some() {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        kill_child(pid);
        let _ = reap(pid);
    }
}

impl Running {
    fn is_full(&self) -> bool {
        self.link.queued_bytes() > MAX_QUEUED_BYTES
    }

    fn queue_tick(&mut self, latest: Latest<'_>) {
        if self.is_full() {
            self.encoder = None;
            return;
        }
        self.queue_setup(latest);
        let new_round = latest.tasks.filter(|tasks| tasks.is_new);
        match (&mut self.encoder, new_round) {
            (Some(encoder), Some(tasks)) => {
                let tables = encoder.encode(tasks.store, tasks.lost_exits, false, Scope::All);
                self.link.queue(&ToServer::Round { is_whole: false }, &tables.encode());
            }
            (None, _) if self.subscription.tasks => self.queue_all_tasks(latest),
            _ => {}
        }
        let (mut names, mut values) = (Vec::new(), Vec::new());
        if self.subscription.series {
            for (name, id, value) in latest.series.named() {
                let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                let number = *self.numbers.entry(id).or_insert_with(|| {
                    names.push(name.to_owned());
                    next
                });
                push_value(number, value, &mut values);
            }
        }
        for names in names.chunks(NAMES_A_MESSAGE) {
            self.link.queue(&ToServer::Names(names.to_vec()), &[]);
        }
        let tick = ToServer::Tick { at_ms: latest.at_ms, has_tasks: new_round.is_some() };
        self.link.queue(&tick, &values);
    }

    fn queue_setup(&mut self, latest: Latest<'_>) {
        let reading =
            |tasks: LatestTasks<'_>| TaskReading::new(tasks.interval.0, tasks.source, tasks.is_accounting_on);
        let setup = Setup::new(latest.history, latest.tasks.map(reading));
        if self.setup.as_ref() != Some(&setup) {
            self.link.queue(&ToServer::Setup(setup.clone()), &[]);
            self.setup = Some(setup);
        }
    }

    fn queue_all_tasks(&mut self, latest: Latest<'_>) {
        let Some(tasks) = latest.tasks else { return };
        let mut encoder = RoundEncoder::default();
        encoder.encode(tasks.store, tasks.lost_exits, true, Scope::All);
        self.link.queue(&ToServer::Round { is_whole: true }, &encoder.all().encode());
        self.encoder = Some(encoder);
    }

    fn queue_reply(&mut self, latest: Latest<'_>) {
        if self.is_full() {
            return;
        }
        if self.subscription.tasks && self.encoder.is_none() {
            self.queue_all_tasks(latest);
        }
        if std::mem::take(&mut self.subscription.status) {
            let mut status = String::new();
            for (name, value) in latest.series.own.status() {
                let _ = writeln!(status, "{name} {value}");
            }
            self.link.queue(&ToServer::Status, status.as_bytes());
        }
    }
}
