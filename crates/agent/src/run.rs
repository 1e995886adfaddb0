//! The loop: a tick at each whole interval, until a signal.

use std::os::fd::AsFd as _;
use std::path::Path;

use facts::unit::Nanos;
use probe::clock_now;
use probe::signals::Signal;
use probe::wait::{Ready, Waiter, Watch};
use text::printable::Shown as _;

use crate::alert::{AlertWatch, Board};
use crate::check::{CheckWatch, SharedRoster};
use crate::http::HttpServer;
use crate::livestatus::Livestatus;
use crate::log::{Level, Log};
use crate::marks::Marks;
use crate::options::{AgentError, AgentOptions};
use crate::place::Place;
use crate::recorder::Recorder;
use crate::service::Service;

/// Records until a signal ends it. `reload` reads the configuration again, on SIGHUP; its error is what is wrong with it.
///
/// # Errors
/// If it cannot start, or the history cannot be closed.
pub fn run(
    options: &AgentOptions,
    mut reload: impl FnMut() -> Result<AgentOptions, String>,
) -> Result<(), AgentError> {
    let mut log = Log::open();
    let (place, store) = Place::take(options, &log)?;
    let mut service = Service::new();
    let mut waiter = Waiter::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup])
        .map_err(|error| AgentError::System("signals".to_owned(), error))?;
    let history = place.history.clone();
    let board = Board::default();
    let roster = SharedRoster::default();
    prepare_marks(&history, &log);
    let mut recorder = Recorder::open(options, place, store, (&board, &roster), &log)?;
    let mut alerts = None;
    let mut http = open_http(options, &history, (&board, &roster), &log);
    let mut checks = None;
    let mut livestatus = open_livestatus(options, &history, &roster, &log);
    let mut http_options = (options.http.clone(), options.privileged.clone());
    watch_wishes(&mut waiter, &recorder)?;
    let mut schedule = Schedule::new(options.interval.into());
    let mut ticks = 0;
    let mut wishes = Wishes::default();
    loop {
        let (lateness, missed_ticks) = schedule.start();
        let status = recorder.tick(lateness, missed_ticks, &mut log);
        if let Some(http) = &mut http {
            http.tick(recorder.latest());
        }
        match ticks {
            0 => service.ready(),
            _ => service.tick(),
        }
        if let Some(status) = status {
            log.write(Level::Info, &status);
            service.status(&status);
        }
        ticks += 1;
        if ticks == 1 {
            // There is something to evaluate now.
            alerts = watch_alerts(options, &history, &board, &log);
            checks = watch_checks(options, &history, &roster, &log);
        }
        if options.count.is_some_and(|count| ticks >= count) {
            break;
        }
        loop {
            match wait(&mut waiter, schedule.deadline, &mut wishes)? {
                Event::Deadline => break,
                Event::Wish => {
                    recorder.answer();
                    wishes = Wishes { is_pending: false, answered_at: clock_now().boottime };
                    watch_wishes(&mut waiter, &recorder)?;
                    continue;
                }
                Event::End => {
                    service.stopping();
                    return recorder.close();
                }
                Event::Reload => {}
            }
            service.reloading();
            match reload() {
                Ok(new) => {
                    schedule.set_interval(new.interval.into());
                    recorder.reconfigure(&new, &log);
                    let wanted = (new.http.clone(), new.privileged.clone());
                    if wanted != http_options {
                        // The old one first: the address may be the same.
                        drop(http.take());
                        http = open_http(&new, &history, (&board, &roster), &log);
                        http_options = wanted;
                    }
                    let wanted = new.checks.as_ref().and_then(|checks| checks.livestatus.as_deref());
                    if livestatus.as_ref().map(Livestatus::path) != wanted {
                        drop(livestatus.take());
                        livestatus = open_livestatus(&new, &history, &roster, &log);
                    }
                    log.write(Level::Info, "the configuration was read again");
                    match (&alerts, &new.alerts) {
                        (Some(alerts), Some(rules)) => AlertWatch::reconfigure(alerts, rules.clone()),
                        (_, _) => alerts = watch_alerts(&new, &history, &board, &log),
                    }
                    match &checks {
                        Some(checks) => checks.reconfigure(new.checks.clone()),
                        None => checks = watch_checks(&new, &history, &roster, &log),
                    }
                    if new.data != options.data {
                        log.write(Level::Warning, "another data directory needs a restart");
                    }
                }
                Err(fault) => {
                    log.write(Level::Warning, &format!("the old configuration stays: {fault}"));
                }
            }
            service.ready();
        }
    }
    service.stopping();
    recorder.close()
}

/// An agent without marks is better than none.
fn prepare_marks(history: &Path, log: &Log) {
    match Marks::prepare(history.parent().unwrap_or(history)) {
        Ok(None) => {}
        Ok(Some(finding)) => log.write(Level::Warning, &finding),
        Err(error) => log.write(Level::Warning, &format!("marks: {error}")),
    }
}

/// An agent without alerts is better than none.
fn watch_alerts(options: &AgentOptions, history: &Path, board: &Board, log: &Log) -> Option<AlertWatch> {
    let begun = AlertWatch::start(options.alerts.clone()?, history.to_owned(), board.clone());
    begun.map_err(|error| log.write(Level::Warning, &format!("alerts: {error}"))).ok()
}

/// An agent without checks is better than none.
fn watch_checks(
    options: &AgentOptions,
    history: &Path,
    roster: &SharedRoster,
    log: &Log,
) -> Option<CheckWatch> {
    let data = history.parent().unwrap_or(history).to_owned();
    let begun = CheckWatch::start(options.checks.clone()?, data, roster.clone());
    begun.map_err(|error| log.write(Level::Warning, &format!("checks: {error}"))).ok()
}

/// An agent without Livestatus is better than none.
fn open_livestatus(
    options: &AgentOptions,
    history: &Path,
    roster: &SharedRoster,
    log: &Log,
) -> Option<Livestatus> {
    let path = options.checks.as_ref()?.livestatus.as_deref()?;
    let data = history.parent().unwrap_or(history).to_owned();
    let started = Livestatus::start(path, options.privileged.clone(), roster.clone(), data);
    started
        .map_err(|error| {
            log.write(Level::Warning, &format!("{}: {error}; there is no Livestatus", path.shown()))
        })
        .ok()
}

/// An agent without HTTP is better than none.
fn open_http(
    options: &AgentOptions,
    history: &Path,
    shown: (&Board, &SharedRoster),
    log: &Log,
) -> Option<HttpServer> {
    let http = options.http.as_ref()?;
    let opened = HttpServer::start(
        http,
        history.to_owned(),
        options.privileged.clone(),
        (shown.0.clone(), shown.1.clone()),
    );
    let failed =
        |error| log.write(Level::Warning, &format!("{}: {error}; the agent serves no HTTP", http.listen));
    opened.map_err(failed).ok()
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

/// What ends a wait.
enum Event {
    Deadline,
    /// Clients wait for an answer.
    Wish,
    Reload,
    End,
}

/// Lets the next wish of the socket's clients end a wait, once.
fn watch_wishes(waiter: &mut Waiter, recorder: &Recorder) -> Result<(), AgentError> {
    let watch = Watch::ReadableOnce(recorder.wishes().as_fd());
    waiter.watch(WISHES, watch).map_err(|error| AgentError::System("waiting".to_owned(), error))
}

/// The token of the socket's thread.
const WISHES: u64 = 0;
/// The time between two answers, so that clients who ask all the time cost little.
const BETWEEN_ANSWERS: Nanos = Nanos(50_000_000);

/// What clients wait for.
#[derive(Debug, Default)]
struct Wishes {
    /// Something is to be answered.
    is_pending: bool,
    /// When something was answered last.
    answered_at: Nanos,
}

/// Waits for a time on the boot clock, a signal, or a wish.
fn wait(waiter: &mut Waiter, deadline: Nanos, wishes: &mut Wishes) -> Result<Event, AgentError> {
    let mut ready: Vec<Ready> = Vec::new();
    let mut until = None;
    loop {
        // Also if the deadline has passed: signals and wishes must be heard where every tick is late.
        let timeout = until.map_or(Nanos(0), |until: Nanos| until.saturating_sub(clock_now().boottime));
        waiter
            .wait(Some(timeout), &mut ready)
            .map_err(|error| AgentError::System("waiting".to_owned(), error))?;
        wishes.is_pending |= ready.iter().any(|happened| happened.token == WISHES);
        match waiter.next_signal() {
            Some(received) if received.signal == Signal::Hangup => return Ok(Event::Reload),
            Some(_) => return Ok(Event::End),
            None => {}
        }
        let now = clock_now().boottime;
        let answer_at = wishes.answered_at + BETWEEN_ANSWERS;
        if wishes.is_pending && now >= answer_at {
            return Ok(Event::Wish);
        }
        if now >= deadline {
            return Ok(Event::Deadline);
        }
        until = Some(if wishes.is_pending { deadline.min(answer_at) } else { deadline });
    }
}
