//! The loop: a tick at each whole interval, until a signal.

use std::os::fd::AsFd as _;
use std::path::Path;

use facts::unit::Nanos;
#[cfg(feature = "feeds")]
use feeds::FeedWatch;
use probe::clock_now;
use probe::signals::Signal;
use probe::wait::{Ready, Waiter, Watch};
use text::printable::Shown as _;

use crate::alert::AlertWatch;
use crate::boards::Boards;
use crate::check::CheckWatch;
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
    let boards = Boards::default();
    prepare_marks(&history, &log);
    let mut recorder = Recorder::open(options, place, store, &boards, &log)?;
    let mut alerts = None;
    let mut http = open_http(options, &history, &boards, &log);
    let mut checks = None;
    #[cfg(feature = "feeds")]
    let mut feeds = None;
    let mut livestatus = open_livestatus(options, &history, &boards, &log);
    let mut http_options = (options.http.clone(), options.privileged.clone(), has_reader(options));
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
            alerts = watch_alerts(options, &history, &boards, &log);
            checks = watch_checks(options, &history, &boards, &log);
            #[cfg(feature = "feeds")]
            {
                feeds = watch_feeds(options, &history, &boards, &log);
            }
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
                    let wanted = (new.http.clone(), new.privileged.clone(), has_reader(&new));
                    if wanted != http_options {
                        // The old one first: the address may be the same.
                        drop(http.take());
                        http = open_http(&new, &history, &boards, &log);
                        http_options = wanted;
                    }
                    let wanted = new.checks.as_ref().and_then(|checks| checks.livestatus.as_deref());
                    if livestatus.as_ref().map(Livestatus::path) != wanted {
                        drop(livestatus.take());
                        livestatus = open_livestatus(&new, &history, &boards, &log);
                    }
                    log.write(Level::Info, "the configuration was read again");
                    match (&alerts, &new.alerts) {
                        (Some(alerts), Some(rules)) => AlertWatch::reconfigure(alerts, rules.clone()),
                        (_, _) => alerts = watch_alerts(&new, &history, &boards, &log),
                    }
                    match &checks {
                        Some(checks) => checks.reconfigure(new.checks.clone()),
                        None => checks = watch_checks(&new, &history, &boards, &log),
                    }
                    #[cfg(feature = "feeds")]
                    match (&feeds, &new.feeds) {
                        (Some(feeds), Some(options)) => FeedWatch::reconfigure(feeds, options.clone()),
                        (_, _) => feeds = watch_feeds(&new, &history, &boards, &log),
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
fn watch_alerts(options: &AgentOptions, history: &Path, boards: &Boards, log: &Log) -> Option<AlertWatch> {
    let begun = AlertWatch::start(options.alerts.clone()?, history.to_owned(), boards.alerts.clone());
    begun.map_err(|error| log.write(Level::Warning, &format!("alerts: {error}"))).ok()
}

/// An agent without checks is better than none.
fn watch_checks(options: &AgentOptions, history: &Path, boards: &Boards, log: &Log) -> Option<CheckWatch> {
    let data = history.parent().unwrap_or(history).to_owned();
    let begun = CheckWatch::start(options.checks.clone()?, data, boards.roster.clone());
    begun.map_err(|error| log.write(Level::Warning, &format!("checks: {error}"))).ok()
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

/// An agent without feeds is better than none.
#[cfg(feature = "feeds")]
fn watch_feeds(options: &AgentOptions, history: &Path, boards: &Boards, log: &Log) -> Option<FeedWatch> {
    let data = history.parent().unwrap_or(history);
    let warn = |fault: &str| Log::open().write(Level::Warning, fault);
    let begun = FeedWatch::start(data, options.feeds.clone()?, boards.feeds.clone(), warn);
    begun.map_err(|error| log.write(Level::Warning, &format!("feeds: {error}"))).ok()
}

/// An agent without Livestatus is better than none.
fn open_livestatus(options: &AgentOptions, history: &Path, boards: &Boards, log: &Log) -> Option<Livestatus> {
    let path = options.checks.as_ref()?.livestatus.as_deref()?;
    let data = history.parent().unwrap_or(history).to_owned();
    let started = Livestatus::start(path, options.privileged.clone(), boards.roster.clone(), data);
    started
        .map_err(|error| {
            log.write(Level::Warning, &format!("{}: {error}; there is no Livestatus", path.shown()))
        })
        .ok()
}

/// An agent without HTTP is better than none.
fn open_http(options: &AgentOptions, history: &Path, boards: &Boards, log: &Log) -> Option<HttpServer> {
    let http = options.http.as_ref()?;
    let opened = HttpServer::start(
        http,
        history.to_owned(),
        options.privileged.clone(),
        boards.clone(),
        has_reader(options),
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
