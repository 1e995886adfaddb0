//! The recorder's loop: a tick every interval, until a signal.

use std::path::Path;

use facts::unit::Nanos;
use probe::clock_now;
use probe::signals::Signal;
use probe::wait::{Ready, Waiter, Watch};

use crate::data_directory::DataDirectory;
use crate::options::{RecorderError, RecorderOptions};
use crate::recorder::Recorder;
use crate::server_process::ServerProcess;
use crate::service_manager::ServiceManager;
use history::marks::Marks;
use service::{Level, Log};

/// After this time the service manager gets READY=1 even if the server is not ready.
const SERVER_START_TIMEOUT: Nanos = Nanos(10_000_000_000);

/// Records until a signal ends it. `reload` reads the configuration again, on SIGHUP; its error is what is wrong with it.
///
/// # Errors
/// If it cannot start, or the history cannot be closed.
pub fn run(
    options: &RecorderOptions,
    mut reload: impl FnMut() -> Result<RecorderOptions, String>,
) -> Result<(), RecorderError> {
    let mut log = Log::open();
    let (directory, store) = DataDirectory::take(options, &log)?;
    // A command that observes for a few seconds goes on with something else, and has no log.
    if options.server.is_some() {
        probe::ask_for_short_slices();
        let place = directory.history.display();
        log.write(Level::Info, &format!("records into {place}, every {:?}", options.interval));
    }
    let mut waiter = Waiter::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup])
        .map_err(|error| RecorderError::System("signals".to_owned(), error))?;
    prepare_marks(&directory.history, &log);
    let recorder = Recorder::open(options, directory, store, &log)?;
    let server = options.server.clone().map(ServerProcess::new);
    let mut agent = Agent {
        recorder,
        server,
        schedule: Schedule::new(options.interval.into()),
        service: ServiceManager::new(),
        ticks: 0,
        ready_at: clock_now().boottime + SERVER_START_TIMEOUT,
        replied_at: Nanos(0),
    };
    loop {
        agent.tick(&mut waiter, &mut log)?;
        if options.count.is_some_and(|count| agent.ticks >= count) {
            return agent.end(&log);
        }
        loop {
            match agent.wait(&mut waiter)? {
                Event::Deadline => break,
                Event::Reload => agent.reload(&mut reload, options, &log),
                Event::End => return agent.end(&log),
            }
        }
    }
}

/// Prepares the marks; a failure is only logged.
fn prepare_marks(history: &Path, log: &Log) {
    match Marks::prepare(history.parent().unwrap_or(history)) {
        Ok(None) => {}
        Ok(Some(finding)) => log.write(Level::Warning, &finding),
        Err(error) => log.write(Level::Warning, &format!("marks: {error}")),
    }
}

struct Agent {
    recorder: Recorder,
    /// `None` if no service is configured.
    server: Option<ServerProcess>,
    schedule: Schedule,
    service: ServiceManager,
    ticks: u64,
    /// The boot time at which the server need not be waited for any longer.
    ready_at: Nanos,
    /// Boot time of the last reply to the server.
    replied_at: Nanos,
}

impl Agent {
    fn tick(&mut self, waiter: &mut Waiter, log: &mut Log) -> Result<(), RecorderError> {
        let (lateness, missed_ticks) = self.schedule.start();
        let status = self.recorder.tick(lateness, missed_ticks, self.server.as_ref(), log);
        if let Some(server) = &mut self.server {
            if server.start_if_due(log)
                && let Some(descriptor) = server.as_fd()
            {
                let watch = Watch::Edges { descriptor, with_room: true };
                waiter
                    .watch(SERVER, watch)
                    .map_err(|error| RecorderError::System("waiting".to_owned(), error))?;
            }
            server.send_tick(self.recorder.latest());
        }
        self.ticks += 1;
        self.service.tick();
        if let Some(status) = status {
            log.write(Level::Info, &status);
            self.service.status(&status);
        }
        Ok(())
    }

    /// Reads the configuration again. If it is malformed, the old one stays.
    fn reload(
        &mut self,
        reload: &mut impl FnMut() -> Result<RecorderOptions, String>,
        begun_with: &RecorderOptions,
        log: &Log,
    ) {
        self.service.reloading();
        match reload() {
            Ok(new) => {
                self.schedule.set_interval(new.interval.into());
                self.recorder.reconfigure(&new, log);
                match &mut self.server {
                    Some(server) => server.reload(),
                    None => self.server = new.server.clone().map(ServerProcess::new),
                }
                log.write(Level::Info, "the configuration was read again");
                if new.data != begun_with.data {
                    log.write(Level::Warning, "another data directory needs a restart");
                }
            }
            Err(fault) => log.write(Level::Warning, &format!("the old configuration stays: {fault}")),
        }
        self.service.ready();
    }

    /// Waits for the next deadline or a signal, and replies to the server.
    fn wait(&mut self, waiter: &mut Waiter) -> Result<Event, RecorderError> {
        let mut ready: Vec<Ready> = Vec::new();
        let mut until = Nanos(0);
        loop {
            // Signals and messages are also handled if the deadline has passed: every tick may be late.
            let timeout = until.saturating_sub(clock_now().boottime);
            waiter
                .wait(Some(timeout), &mut ready)
                .map_err(|error| RecorderError::System("waiting".to_owned(), error))?;
            // The events are edge-triggered, so that they are handled before a signal returns.
            if let Some(server) = self.server.as_mut().filter(|_| !ready.is_empty()) {
                server.poll();
            }
            match waiter.next_signal() {
                Some(received) if received.signal == Signal::Hangup => return Ok(Event::Reload),
                Some(_) => return Ok(Event::End),
                None => {}
            }
            let now = clock_now().boottime;
            until = self.schedule.deadline;
            let is_ready = self.server.as_ref().is_none_or(ServerProcess::is_ready_or_down);
            if is_ready || now >= self.ready_at {
                self.service.ready_once();
            } else {
                until = until.min(self.ready_at);
            }
            if let Some(server) = &mut self.server {
                let reply_at = self.replied_at + REPLY_INTERVAL;
                if server.has_reply() && now >= reply_at {
                    server.reply(self.recorder.latest());
                    self.replied_at = now;
                } else if server.has_reply() {
                    until = until.min(reply_at);
                }
            }
            if now >= self.schedule.deadline {
                return Ok(Event::Deadline);
            }
        }
    }

    /// Closes the history, and then shuts the server down.
    fn end(self, log: &Log) -> Result<(), RecorderError> {
        let Self { recorder, server, service, ticks, .. } = self;
        service.stopping();
        let closed = recorder.close();
        let Some(server) = server else { return closed };
        server.shut_down();
        if closed.is_ok() {
            log.write(Level::Info, &format!("ended after {ticks} ticks"));
        }
        closed
    }
}

/// The absolute times of ticks, so that a late one does not delay the next.
#[derive(Debug)]
struct Schedule {
    interval: Nanos,
    deadline: Nanos,
}

impl Schedule {
    fn new(interval: Nanos) -> Self {
        Self { interval, deadline: clock_now().boottime }
    }

    /// Another interval after the next tick.
    fn set_interval(&mut self, interval: Nanos) {
        self.interval = interval;
    }

    /// A tick starts. Returns how late it is, and how many were missed before it; sets the next deadline.
    fn start(&mut self) -> (Nanos, u64) {
        let late = clock_now().boottime.saturating_sub(self.deadline).0;
        let missed = late / self.interval.0.max(1);
        self.deadline += Nanos(self.interval.0 * (missed + 1));
        (Nanos(late % self.interval.0.max(1)), missed)
    }
}

/// An event that ends a wait.
enum Event {
    Deadline,
    Reload,
    End,
}

/// The event loop's token of the server.
const SERVER: u64 = 0;
/// The shortest time between two replies to the server, whatever its clients request.
const REPLY_INTERVAL: Nanos = Nanos(50_000_000);
