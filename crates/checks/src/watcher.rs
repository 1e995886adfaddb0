//! The thread that does the checks: one turn after another, each with all that is due.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver as Inbox, TryRecvError};

use facts::unit::Nanos;
use jiff::Timestamp;
use probe::background_job::Notifier;
use probe::clock_now;
use probe::wait::{Waiter, Watch};
use rustix::fd::AsFd as _;

use super::command_file::CommandFile;
use super::definition::{CheckOptions, CheckWay};
use super::native::{NativePool, NativeResult};
use super::plugins::{Plugins, Refusal};
use super::registry::SharedChecks;
use super::runner::{Fate, PrivilegedRunner, Report, RunCost, Runner};
use super::schedule::Schedule;
use super::states::CheckStates;
use super::status::Finding;
use super::timer::Timer;
use super::verdict::verdict;
use history::HISTORY;
use notify::MAX_PAUSE_MS;
use service::{Level, Log};

/// Tokens of what is waited for.
const REQUESTS: u64 = 0;
const RUNNER: u64 = 1;
const COMMANDS: u64 = 2;
/// The longest that new records wait to be written.
const COMMIT_INTERVAL: Nanos = Nanos(1_000_000_000);
/// The process that runs plugins is started again after so long at the earliest.
const RUNNER_AGAIN: Nanos = Nanos(1_000_000_000);
/// Others may have asked for something: after so long it is looked at.
const ASK_INTERVAL: Nanos = Nanos(400_000_000);
const MAX_WAIT: Nanos = Nanos(250_000_000);
/// Checks begin at multiples of this: several at a time cost a third less than one by one, by fewer wake-ups of this thread and of the
/// process that runs plugins.
const TOGETHER_MS: i64 = 200;
/// Between two ticks of the history of checks.
const RECORD_INTERVAL: Nanos = Nanos(10_000_000_000);
/// The interval between two looks for notifications that no result causes.
const SWEEP_INTERVAL: Nanos = Nanos(5_000_000_000);
/// The clock was set if it differs by more from what has passed.
const CLOCK_STEP_MS: i64 = 2_000;

/// All that the checks need.
pub(super) struct Watcher {
    options: CheckOptions,
    states: CheckStates,
    registry: SharedChecks,
    schedule: Schedule,
    /// Any check is done by a plugin.
    has_plugins: bool,
    plugins: Plugins,
    natives: NativePool,
    runner: Option<Runner>,
    /// The process that was started with privileges.
    privileged: Option<PrivilegedRunner>,
    waiter: Waiter,
    command_file: CommandFile,
    start_timer: Timer,
    commit_timer: Timer,
    sweep_timer: Timer,
    request_timer: Timer,
    record_timer: Timer,
    /// Some checks are due and wait until others end.
    is_held_back: bool,
    /// When receivers are to be sent more, in milliseconds since 1970.
    deliver_at_ms: Option<i64>,
    /// The difference of the clock since 1970 and that of the machine, in milliseconds.
    clock_offset_ms: i64,
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

fn clock_offset_ms() -> i64 {
    let clock = clock_now();
    (clock.realtime.0.cast_signed() - clock.boottime.0.cast_signed()) / 1_000_000
}

impl Watcher {
    pub(super) fn open(
        options: CheckOptions,
        data: PathBuf,
        registry: SharedChecks,
        notifier: &Notifier,
        log: &Log,
    ) -> Result<Self, String> {
        let natives = NativePool::new(data.join(HISTORY), notifier.clone());
        let states = CheckStates::open(&options, data, registry.clone(), now_ms(), log)?;
        let mut watcher = Self {
            plugins: Plugins::new(&options, now_ms()),
            natives,
            options,
            states,
            registry,
            schedule: Schedule::default(),
            has_plugins: false,
            runner: None,
            privileged: None,
            waiter: Waiter::open(&[]).map_err(|error| error.to_string())?,
            command_file: CommandFile::new(COMMANDS),
            start_timer: Timer::new(RUNNER_AGAIN),
            commit_timer: Timer::new(COMMIT_INTERVAL),
            sweep_timer: Timer::new(SWEEP_INTERVAL),
            request_timer: Timer::new(ASK_INTERVAL),
            record_timer: Timer::new(RECORD_INTERVAL),
            is_held_back: false,
            deliver_at_ms: Some(0),
            clock_offset_ms: clock_offset_ms(),
        };
        watcher.make_schedule();
        watcher.command_file.reopen(watcher.options.command_file.as_deref(), &mut watcher.waiter, log);
        // Of many checks much was read and is not needed any more.
        probe::heap::give_memory_back();
        Ok(watcher)
    }

    /// Runs plugins by a process that was started with privileges.
    pub(super) fn set_privileged(&mut self, privileged: PrivilegedRunner) {
        self.privileged = Some(privileged);
    }

    fn make_schedule(&mut self) {
        let registry = self.registry.lock();
        self.has_plugins = registry.checks.iter().any(|check| matches!(check.way, CheckWay::Plugin(_)));
        let is_active = |way: &CheckWay| *way != CheckWay::Passive;
        let checks = registry.checks.iter().map(|check| (check, is_active(&check.way)));
        self.schedule = Schedule::new(checks, now_ms());
    }

    pub(super) fn run(
        &mut self,
        inbox: &Inbox<Option<CheckOptions>>,
        wishes: &Notifier,
        log: &mut Log,
    ) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        self.waiter.watch(REQUESTS, Watch::Readable(wishes.as_fd())).map_err(failed)?;
        let mut ready = Vec::new();
        loop {
            wishes.drain();
            match inbox.try_recv() {
                Ok(options) => self.reconfigure(options, log),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return self.states.commit(),
            }
            self.keep_runner(log);
            self.read_commands(log);
            self.do_requests(log);
            let more_ms = self.begin_due();
            let has_room = self.exchange(log) && self.is_held_back;
            self.take_looked(log);
            if self.sweep_timer.take() {
                let asked_for = self.states.sweep(now_ms(), log);
                asked_for.into_iter().for_each(|place| self.schedule.hurry(place, now_ms()));
            }
            if self.record_timer.take() {
                self.states.tick(log);
            }
            self.commit_if_due(log);
            self.deliver(log);
            // What waits for room begins at once.
            let timeout = if has_room { Nanos(0) } else { self.next_wait(more_ms) };
            self.waiter.wait(Some(timeout), &mut ready).map_err(failed)?;
        }
    }

    fn reconfigure(&mut self, options: Option<CheckOptions>, log: &mut Log) {
        let options = options.unwrap_or_else(|| self.options.without_checks());
        // Places change.
        self.commit(log);
        self.plugins.reconfigure(&options, now_ms());
        if let Err(error) = self.states.reload(&options, now_ms()) {
            log.write(Level::Warning, &format!("checks: {error}"));
        }
        self.options = options;
        self.make_schedule();
        self.command_file.reopen(self.options.command_file.as_deref(), &mut self.waiter, log);
        for name in self.plugins.names() {
            if let Some(place) = self.registry.lock().index_of(name) {
                self.schedule.set_running(place);
            }
        }
    }

    /// Writes down what external commands ask for.
    fn read_commands(&mut self, log: &Log) {
        let (asked, faults) = self.command_file.read_requests(&self.registry.lock(), now_ms());
        faults.iter().for_each(|fault| log.write(Level::Warning, &format!("external command: {fault}")));
        if asked.is_empty() {
            return;
        }
        self.request_timer.hurry();
        if let Err(error) = self.states.ask(&asked) {
            log.write(Level::Warning, &format!("external commands are lost: {error}"));
        }
    }

    fn do_requests(&mut self, log: &mut Log) {
        if !self.request_timer.take() {
            return;
        }
        let done = self.states.do_requests(now_ms(), log);
        match done {
            Ok(hurried) => hurried.into_iter().for_each(|place| self.schedule.hurry(place, now_ms())),
            Err(error) => log.fault("checks", Some(format!("checks: {error}"))),
        }
    }

    fn deliver(&mut self, log: &mut Log) {
        let now_ms = now_ms();
        // A time that no attempt waits for was planned by a clock that was ahead.
        let is_now = |at_ms: i64| at_ms <= now_ms || at_ms > now_ms + MAX_PAUSE_MS;
        if self.deliver_at_ms.is_some_and(is_now) {
            self.deliver_at_ms = self.states.deliver(now_ms, log);
        }
    }

    /// Starts the process that runs plugins, if it does not run.
    fn keep_runner(&mut self, log: &mut Log) {
        if self.runner.is_some() || !self.has_plugins || !self.start_timer.take() {
            return;
        }
        let runner = match &mut self.privileged {
            None => Runner::start(&self.options.runner),
            Some(privileged) => match privileged.runner.take() {
                Some(runner) => Ok(runner),
                // This process, which cannot start another one with privileges, is about to end.
                None => return,
            },
        };
        let started = runner.and_then(|runner| {
            let watch = Watch::Edges { descriptor: runner.as_fd(), with_room: true };
            self.waiter.watch(RUNNER, watch).map(|()| runner)
        });
        match started {
            Ok(runner) => {
                self.runner = Some(runner);
                log.fault("plugins", None);
            }
            Err(error) => log.fault("plugins", Some(format!("no plugin can be run: {error}"))),
        }
    }

    /// Begins what is due. Returns when more can begin, if there is more.
    fn begin_due(&mut self) -> Option<i64> {
        self.is_held_back = false;
        let now_ms = now_ms();
        let offset_ms = clock_offset_ms();
        if (offset_ms - std::mem::replace(&mut self.clock_offset_ms, offset_ms)).abs() > CLOCK_STEP_MS {
            self.schedule.set_all_anew(now_ms);
        }
        let places = self.schedule.due(now_ms);
        if places.is_empty() {
            self.registry.lock().counts.skipped = self.schedule.skipped;
            return None;
        }
        let now = Timestamp::now().to_zoned(self.options.zone.clone());
        let mut registry = self.registry.lock();
        registry.counts.skipped = self.schedule.skipped;
        for place in places {
            let check = &registry.checks[place];
            if check.period.as_ref().is_some_and(|period| !period.contains(&now)) {
                self.schedule.pass(place, now_ms);
                continue;
            }
            let plugin = match &check.way {
                CheckWay::Plugin(plugin) => plugin,
                CheckWay::Native(native) => {
                    let name = &registry.statuses[place].name;
                    match self.natives.begin(name, native, check.timeout) {
                        true => self.schedule.begin(place, now_ms),
                        // It waits for room.
                        false if self.schedule.is_hurried(place) => {}
                        false => self.schedule.pass(place, now_ms),
                    }
                    continue;
                }
                CheckWay::Passive => continue,
            };
            let Some(runner) = &mut self.runner else { continue };
            match self.plugins.begin(check, plugin, now_ms) {
                Ok(order) => {
                    runner.order(&order);
                    self.schedule.begin(place, now_ms);
                    registry.counts.started += 1;
                }
                // Another one's end wakes this thread.
                Err(Refusal::Group) => self.is_held_back = true,
                Err(Refusal::All) => {
                    self.is_held_back = true;
                    return None;
                }
                Err(Refusal::Ceiling) => return Some(now_ms + self.plugins.wait_ms().max(1)),
            }
        }
        None
    }

    /// Orders what has begun, and takes what has ended. Returns whether something has.
    fn exchange(&mut self, log: &mut Log) -> bool {
        let Some(runner) = &mut self.runner else { return false };
        let mut reports = Vec::new();
        let exchanged = runner.exchange(|report| reports.push(report));
        let has_ended = !reports.is_empty();
        reports.into_iter().for_each(|report| self.take_report(report, log));
        if let Err(error) = exchanged {
            self.runner = None;
            if let Some(privileged) = &self.privileged {
                privileged.lost.notify();
            }
            let lost = self.plugins.end_all();
            log.fault("plugins", Some(format!("the process that runs plugins is gone: {error}")));
            let registry = self.registry.lock();
            for running in lost {
                if let Some(place) = registry.index_of(&running.name) {
                    self.schedule.set_gone(place);
                    self.schedule.hurry(place, now_ms());
                }
            }
        }
        self.registry.lock().counts.running = self.plugins.count() as u64;
        has_ended
    }

    fn take_report(&mut self, report: Report, log: &Log) {
        let place =
            self.plugins.get(report.id).and_then(|running| self.registry.lock().index_of(&running.name));
        if report.is_gone {
            self.plugins.end(report.id);
            if let Some(place) = place {
                self.schedule.set_gone(place);
            }
        }
        // Its check may be configured no more.
        let Some(place) = place.filter(|_| report.fate != Fate::Gone) else { return };
        let finding = {
            let check = &self.registry.lock().checks[place];
            verdict(&report, check.timeout.as_secs_f64(), check.timeout_state, now_ms())
        };
        self.take(place, finding, report.cost, log);
    }

    /// Takes the results of native checks.
    fn take_looked(&mut self, log: &Log) {
        for NativeResult { name, finding, cost } in self.natives.take() {
            let place = self.registry.lock().index_of(&name);
            let Some(place) = place else { continue };
            self.schedule.set_gone(place);
            self.take(place, finding, cost, log);
        }
    }

    /// Takes a result, and does at once what it asks for.
    fn take(&mut self, place: usize, finding: Finding, cost: RunCost, log: &Log) {
        self.states.add_cost(place, cost);
        let at_ms = finding.at_ms;
        let sequel = self.states.take(place, finding, log);
        self.schedule.end(place, sequel.is_retried, at_ms);
        sequel.asked_for.into_iter().for_each(|place| self.schedule.hurry(place, at_ms));
    }

    fn commit_if_due(&mut self, log: &mut Log) {
        let is_due = self.states.is_urgent() || self.commit_timer.left().0 == 0;
        if self.states.is_dirty() && is_due {
            self.commit_timer.restart();
            self.commit(log);
        }
    }

    /// Writes what is new. What cannot be written stays to be written.
    fn commit(&mut self, log: &mut Log) {
        let has_notices = self.states.is_urgent();
        let committed = self.states.commit();
        if committed.is_ok() && has_notices {
            self.deliver_at_ms = Some(0);
        }
        log.fault(
            "checks",
            committed.err().map(|error| format!("checks: {error}; a restart would lose results")),
        );
    }

    fn next_wait(&self, more_ms: Option<i64>) -> Nanos {
        let now_ms = now_ms();
        let due_ms =
            [more_ms, self.deliver_at_ms, self.schedule.first_after(now_ms)].into_iter().flatten().min();
        // Those that are due at almost the same time begin together.
        let until = |at_ms: i64| {
            let at_ms = (at_ms + TOGETHER_MS - 1).div_euclid(TOGETHER_MS) * TOGETHER_MS;
            Nanos((at_ms - now_ms).max(1).unsigned_abs() * 1_000_000)
        };
        let commit = match self.states.is_dirty() {
            false => MAX_WAIT,
            true => self.commit_timer.left(),
        };
        due_ms.map_or(MAX_WAIT, until).min(commit).clamp(Nanos(1_000_000), MAX_WAIT)
    }
}
