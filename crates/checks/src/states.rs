//! Takes results, decides which notifications are sent, and stores both in one transaction.

mod requests;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use facts::unit::Nanos;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::check_history::CheckHistory;
use super::circumstances::{asked_for, circumstances};
use super::definition::CheckOptions;
use super::downtime::Downtime;
use super::ledger::{Batch, CheckLedger};
use super::notice::{self, CheckNotice, NoticeKind};
use super::push::Push;
use super::registry::{CheckRegistry, SharedChecks};
use super::state::State;
use super::status::{CheckStatus, Finding, Rules};
use super::timer::Timer;
use notify::StateChange;
use notify::{Delivery, Outbox, Receiver};
use service::{Level, Log};

/// The directory of the files of jobs, in the data directory.
const DIRECTORY: &str = "checks";
/// The state of a check is forgotten when it was not configured for so long: a week.
const FORGET_AFTER_MS: i64 = 7 * 86_400_000;
/// How often free memory is given back.
const TRIM_INTERVAL: Nanos = Nanos(300_000_000_000);

/// The states of all checks, and their notifications.
pub(super) struct CheckStates {
    data: PathBuf,
    ledger: CheckLedger,
    check_history: CheckHistory,
    outbox: Outbox,
    receivers: Vec<Receiver>,
    zone: TimeZone,
    machine: String,
    registry: SharedChecks,
    downtimes: Vec<(i64, Downtime)>,
    /// The checks whose state is to be written.
    dirty: HashSet<usize>,
    /// Notifications that were not written.
    notices: Vec<Delivery<CheckNotice>>,
    /// Changes of hard states that were not written.
    changes: Vec<StateChange>,
    /// Requests that were done, and are to be removed.
    done: Vec<i64>,
    /// More is asked for than was done at a time.
    has_more_requests: bool,
    /// Sends results to another agent.
    push: Option<Push>,
    trim_timer: Timer,
}

/// The changes that a result makes in the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequel {
    /// The check is repeated at its retry interval.
    pub(super) is_retried: bool,
    /// The places of others that are to be done at once.
    pub(super) asked_for: Vec<usize>,
}

impl CheckStates {
    pub(super) fn open(
        options: &CheckOptions,
        data: PathBuf,
        registry: SharedChecks,
        now_ms: i64,
        log: &Log,
    ) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let (ledger, finding) = CheckLedger::take(&data).map_err(|error| failed(&error))?;
        finding.iter().for_each(|finding| log.write(Level::Warning, finding));
        let last = ledger.statuses().map_err(|error| failed(&error))?;
        let downtimes = ledger.downtimes().map_err(|error| failed(&error))?;
        let waiting = ledger.deliveries().map_err(|error| failed(&error))?;
        let outbox = Outbox::open(data.join(DIRECTORY), options.job_program.clone(), &waiting);
        let machine = probe::host_name();
        let mut states = Self {
            ledger,
            check_history: CheckHistory::open(&data, options.retention.clone())
                .map_err(|error| failed(&error))?,
            outbox: outbox.map_err(|error| failed(&error))?,
            data,
            receivers: options.receivers.clone(),
            zone: options.zone.clone(),
            machine,
            registry,
            downtimes,
            dirty: HashSet::new(),
            notices: Vec::new(),
            changes: Vec::new(),
            done: Vec::new(),
            has_more_requests: false,
            push: None,
            trim_timer: Timer::new(TRIM_INTERVAL),
        };
        states.reconfigure(options, last, now_ms)?;
        // The other agent may not know them, or not any more.
        if let Some(push) = &states.push {
            let registry = states.registry.lock();
            registry
                .checks
                .iter()
                .zip(&registry.statuses)
                .for_each(|(check, status)| push.take(&check.name.host, status));
        }
        Ok(states)
    }

    /// Goes on with other checks, when all that is known of the old ones was written.
    pub(super) fn reload(&mut self, options: &CheckOptions, now_ms: i64) -> Result<(), String> {
        let last = self.ledger.statuses().map_err(|error| error.to_string())?;
        self.reconfigure(options, last, now_ms)
    }

    fn reconfigure(
        &mut self,
        options: &CheckOptions,
        last: Vec<CheckStatus>,
        now_ms: i64,
    ) -> Result<(), String> {
        self.receivers.clone_from(&options.receivers);
        self.zone = options.zone.clone();
        if self.push.as_ref().map(Push::options) != options.push.as_ref() {
            let started = options.push.clone().map(Push::start).transpose();
            self.push = started.map_err(|error| format!("results cannot be pushed: {error}"))?;
        }
        let gone = last.iter().filter(|status| status.gone_ms.is_some());
        let gone: HashSet<String> = gone.map(|status| status.name.clone()).collect();
        let mut registry = self.registry.lock();
        let others = registry.reconfigure(Arc::clone(&options.checks), last);
        self.check_history.keep_of(&registry);
        // Those that are new, or configured again, are there from now on.
        let is_new = |status: &CheckStatus| status.state.is_none() || gone.contains(&status.name);
        let statuses = registry.statuses.iter_mut().enumerate().filter(|(_, status)| is_new(status));
        self.dirty = statuses
            .map(|(place, status)| {
                match gone.contains(&status.name) {
                    true => status.known_ms = Some(now_ms),
                    false => _ = status.known_ms.get_or_insert(now_ms),
                }
                place
            })
            .collect();
        drop(registry);
        self.ledger.set_aside(others, now_ms, FORGET_AFTER_MS).map_err(|error| error.to_string())
    }

    /// Takes what a check found.
    pub(super) fn take(&mut self, place: usize, finding: Finding, log: &Log) -> Sequel {
        let shared = self.registry.clone();
        let mut registry = shared.lock();
        let check = &registry.checks[place];
        let is_of_host = check.is_of_host();
        let rules = Rules {
            attempts: check.attempts,
            is_of_host,
            is_host_down: !is_of_host && registry.is_down(&check.name.host),
        };
        let now_ms = finding.at_ms;
        let status = &mut registry.statuses[place];
        let last_state = status.hard_state;
        let change = status.take(finding, rules);
        if change.is_other_hard_state && (status.is_problem() || last_state != State::Ok) {
            self.note_change(status.hard_change(now_ms), log);
        }
        let (check, status) = (&registry.checks[place], &registry.statuses[place]);
        self.check_history.take(check, status, now_ms);
        if let Some(push) = &self.push {
            push.take(&check.name.host, status);
        }
        let is_retried = status.is_retried();
        let asked_for = if change.is_other_state { asked_for(place, &registry) } else { Vec::new() };
        self.dirty.insert(place);
        let now = self.zoned(now_ms);
        self.tell(place, &mut registry, last_state, &now);
        Sequel { is_retried, asked_for }
    }

    /// Adds what a run cost.
    pub(super) fn add_cost(&mut self, place: usize, cost: super::RunCost) {
        let mut registry = self.registry.lock();
        registry.statuses[place].cost.add(cost);
        self.check_history.add_cost(&registry.checks[place], &cost);
        drop(registry);
        self.dirty.insert(place);
    }

    /// Sends notifications that are due without a new result, and marks results that are too old. Returns the checks that are to be done at
    /// once.
    pub(super) fn sweep(&mut self, now_ms: i64, log: &Log) -> Vec<usize> {
        let mut asked = Vec::new();
        let shared = self.registry.clone();
        let mut registry = shared.lock();
        let now = self.zoned(now_ms);
        for place in 0..registry.statuses.len() {
            let last_state = registry.statuses[place].hard_state;
            if self.age(place, &mut registry, now_ms, log) {
                asked.extend(asked_for(place, &registry));
            }
            let status = &registry.statuses[place];
            let may_be_told = status.is_problem()
                || status.last_notification.is_some()
                || status.flapping.is_flapping() != status.is_flapping_told;
            if may_be_told {
                self.tell(place, &mut registry, last_state, &now);
            }
        }
        asked
    }

    /// Marks a result that is too old, or that never came. Returns whether the state is another one.
    fn age(&mut self, place: usize, registry: &mut CheckRegistry, now_ms: i64, log: &Log) -> bool {
        let (check, status) = (&registry.checks[place], &mut registry.statuses[place]);
        let Some(fresh_for) = check.fresh_for.filter(|_| !status.is_stale) else { return false };
        let last_ms = status.state.map(|_| status.result_ms).max(status.known_ms);
        if last_ms.is_none_or(|last_ms| now_ms - last_ms <= fresh_for.as_millis() as i64) {
            return false;
        }
        let last = status.state.map_or(String::new(), |_| format!("; the last one: {}", status.text));
        let finding = Finding {
            state: State::Unknown,
            text: format!("there was no result for more than {} s{last}", fresh_for.as_secs()),
            at_ms: now_ms,
            is_passive: true,
            ..Finding::default()
        };
        let result_ms = status.result_ms;
        let rules = Rules { attempts: 1, is_of_host: check.is_of_host(), is_host_down: false };
        let change = status.take(finding, rules);
        if change.is_other_hard_state {
            self.note_change(status.hard_change(now_ms), log);
        }
        (status.is_stale, status.result_ms) = (true, result_ms);
        if let Some(push) = &self.push {
            push.take(&check.name.host, status);
        }
        self.check_history.take(check, status, now_ms);
        self.dirty.insert(place);
        change.is_other_state
    }

    fn note_change(&mut self, change: StateChange, log: &Log) {
        log.write(Level::Info, &format!("{} is {}: {}", change.subject, change.state, change.text));
        self.changes.push(change);
    }

    fn zoned(&self, at_ms: i64) -> Zoned {
        Timestamp::from_millisecond(at_ms).unwrap_or_default().to_zoned(self.zone.clone())
    }

    /// Adds the notification of a check that is due, if one is.
    fn tell(&mut self, place: usize, registry: &mut CheckRegistry, last_state: State, now: &Zoned) {
        let (check, status) = (&registry.checks[place], &registry.statuses[place]);
        let now_ms = now.timestamp().as_millisecond();
        let circumstances = circumstances(check, status, registry, &self.downtimes, now);
        let due = notice::due(check, status, circumstances, now_ms);
        if let Some(kind) = due {
            self.note(place, registry, kind, last_state, now_ms);
        }
    }

    fn note(
        &mut self,
        place: usize,
        registry: &mut CheckRegistry,
        kind: NoticeKind,
        last_state: State,
        now_ms: i64,
    ) {
        let checks = Arc::clone(&registry.checks);
        let (check, status) = (&checks[place], &mut registry.statuses[place]);
        let times = notice::note(status, kind, now_ms);
        self.dirty.insert(place);
        if !notice::is_told(check, kind) {
            return;
        }
        let wanted = notice::receivers(check, times);
        let is_end = matches!(kind, NoticeKind::Recovery | NoticeKind::FlappingStop);
        let is_wanted = |receiver: &&Receiver| {
            (wanted.is_empty() || wanted.contains(&receiver.name.as_str()))
                && (receiver.tells_ends || !is_end)
        };
        let receivers: Vec<&Receiver> = self.receivers.iter().filter(is_wanted).collect();
        if receivers.is_empty() {
            return;
        }
        let utc_offset_s = self.zoned(now_ms).offset().seconds();
        let origin = (self.machine.clone(), utc_offset_s);
        let mut notice = CheckNotice::new(check, status, (kind, times), last_state, origin);
        // Once a result is written, the ledger alone has its long text.
        if !status.is_text_new && status.has_long_text {
            notice.long_text = self.ledger.long_text(&status.name).unwrap_or_default();
        }
        let deliveries =
            receivers.into_iter().map(|receiver| Delivery::new(receiver, notice.clone(), is_end, now_ms));
        self.notices.extend(deliveries);
    }

    /// Records how all checks stand, and syncs what was written.
    pub(super) fn tick(&mut self, log: &mut Log) {
        let recorded = self.check_history.tick().and_then(|()| self.ledger.checkpoint());
        if self.trim_timer.take() {
            // Texts of results come and go, and leave holes.
            probe::heap::give_memory_back();
        }
        self.check_history.take_findings().iter().for_each(|finding| log.write(Level::Warning, finding));
        log.fault("figures of checks", self.check_history.fault());
        log.fault(
            "the history of checks",
            recorded.err().map(|error| format!("the history of checks: {error}")),
        );
    }

    /// Returns whether something is to be written at once: notices, and what was asked for.
    pub(super) fn is_urgent(&self) -> bool {
        !self.notices.is_empty() || !self.done.is_empty()
    }

    /// Returns whether something is to be written.
    pub(super) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty() || self.is_urgent()
    }

    /// Writes what is new, all of it or nothing; what cannot be written stays to be.
    pub(super) fn commit(&mut self) -> Result<(), String> {
        if !self.ledger.is_in_place() {
            let (ledger, _) = CheckLedger::take(&self.data).map_err(|error| error.to_string())?;
            self.ledger = ledger;
            self.dirty.extend(0..self.registry.lock().statuses.len());
        }
        let mut batch = Batch::default();
        {
            let registry = self.registry.lock();
            for place in &self.dirty {
                batch.add_status(&registry.statuses[*place]);
            }
        }
        let committed = self.ledger.commit(batch, &self.notices, &self.changes, &self.done);
        committed.map_err(|error| error.to_string())?;
        let mut registry = self.registry.lock();
        self.dirty.drain().for_each(|place| registry.statuses[place].forget_text());
        drop(registry);
        self.notices.clear();
        self.changes.clear();
        self.done.clear();
        Ok(())
    }

    /// Goes on notifications. Returns when that is to be done again, in milliseconds since 1970.
    pub(super) fn deliver(&mut self, now_ms: i64, log: &mut Log) -> Option<i64> {
        let advanced =
            self.outbox.advance::<CheckNotice>(self.ledger.delivery_records(), &self.receivers, now_ms);
        match advanced {
            Ok((next_ms, events)) => {
                events.iter().for_each(|event| log.write(Level::Warning, event));
                log.fault("notifications of checks", None);
                next_ms
            }
            Err(error) => {
                log.fault("notifications of checks", Some(error));
                Some(now_ms + 1000)
            }
        }
    }
}
