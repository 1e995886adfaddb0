//! Evaluates the rules again and again, in a thread of its own: an expression that takes long delays no tick.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver as Inbox, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use formats::series_name::SeriesName;
use jiff::Timestamp;
use query::{Answer, Limits, Query};

use super::active::{Active, Alerts, Notice};
use super::ledger::Ledger;
use super::rule::{AlertOptions, AlertRule};
use super::shared::{AlertSnapshot, RuleState, SharedAlerts};
use super::silence::Silence;
use history::past::{Past, PastAtRest};
use notify::StateChange;
use notify::{Delivery, Outbox};
use service::{Level, Log};

/// Where the jobs of jobs are, in the data directory.
const DIRECTORY: &str = "alerts";
/// After this what could not be opened is tried again.
const AGAIN: Duration = Duration::from_secs(10);
/// The states of alerts in [`StateChange`].
const FIRING: &str = "firing";
const OVER: &str = "over";
/// An evaluation of one rule is given up after this.
const MAX_EVALUATION: Duration = Duration::from_secs(5);
/// The most points that an evaluation may have in memory: 64 MB.
const MAX_POINTS: usize = 4_000_000;

/// The thread, as long as this is kept.
#[derive(Debug)]
pub struct AlertWatch {
    changes: Sender<Option<AlertOptions>>,
}

impl AlertWatch {
    /// Begins. The history is that of a data directory that this process has locked.
    pub fn start(options: AlertOptions, history: PathBuf, shared: SharedAlerts) -> std::io::Result<Self> {
        let (changes, inbox) = channel::<Option<AlertOptions>>();
        std::thread::Builder::new().name("alerts".to_owned()).spawn(move || {
            let mut log = Log::open();
            let data = history.parent().unwrap_or(Path::new(".")).to_owned();
            let mut options = options;
            let mut watcher = loop {
                match Watcher::open(&options, &history, &data, &shared, &log) {
                    Ok(watcher) => break watcher,
                    Err(error) => {
                        let place = data.display();
                        log.fault(
                            "alerts",
                            Some(format!("{place}: {error}; nothing is watched for until it can be written")),
                        );
                    }
                }
                match inbox.recv_timeout(AGAIN) {
                    Err(RecvTimeoutError::Disconnected) => return,
                    Ok(new) => options = new.unwrap_or_else(|| options.without_rules()),
                    Err(RecvTimeoutError::Timeout) => {}
                }
            };
            log.fault("alerts", None);
            watcher.run(&inbox, &mut log);
        })?;
        Ok(Self { changes })
    }

    /// Replaces the rules; `None` removes all. Alerts of removed rules end, and their receivers get a notice.
    pub fn reconfigure(&self, options: Option<AlertOptions>) {
        // The thread ends with this process alone.
        let _ = self.changes.send(options);
    }
}

struct Watcher {
    options: AlertOptions,
    history: PathBuf,
    ledger: Ledger,
    outbox: Outbox,
    alerts: Alerts,
    shared: SharedAlerts,
    states: Vec<RuleState>,
    /// Rules that a reload has removed. They name the receivers of the last notices.
    removed: Vec<AlertRule>,
    /// The history between two evaluations.
    past: Option<PastAtRest>,
}

impl Watcher {
    fn open(
        options: &AlertOptions,
        history: &Path,
        data: &Path,
        shared: &SharedAlerts,
        log: &Log,
    ) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let (ledger, finding) = Ledger::take(data).map_err(|error| text(&error))?;
        finding.iter().for_each(|finding| log.write(Level::Warning, finding));
        // Without them notifications are sent again, which is better than not at all.
        let alerts = Alerts::new(ledger.active().unwrap_or_else(|error| {
            log.write(
                Level::Warning,
                &format!("alerts: {error}; notifications of what fires are sent again"),
            );
            Vec::new()
        }));
        let waiting = ledger.deliveries().map_err(|error| text(&error))?;
        let outbox = Outbox::open(data.join(DIRECTORY), options.job_program.clone(), &waiting);
        let outbox = outbox.map_err(|error| text(&error))?;
        let mut watcher = Self {
            options: options.clone(),
            history: history.to_owned(),
            ledger,
            outbox,
            alerts,
            shared: shared.clone(),
            states: Vec::new(),
            removed: Vec::new(),
            past: None,
        };
        watcher.begin_rules();
        Ok(watcher)
    }

    fn begin_rules(&mut self) {
        let state =
            |rule: &AlertRule| RuleState { rule: rule.clone(), evaluated_ms: None, took_s: 0.0, error: None };
        self.states = self.options.rules.iter().map(state).collect();
    }

    fn reconfigure(&mut self, options: Option<AlertOptions>) {
        let new = options.unwrap_or_else(|| self.options.without_rules());
        self.removed.extend(std::mem::replace(&mut self.options, new).rules);
        self.begin_rules();
    }

    fn run(&mut self, inbox: &Inbox<Option<AlertOptions>>, log: &mut Log) {
        let mut due = Instant::now();
        loop {
            if Instant::now() >= due {
                due = Instant::now() + self.options.interval;
                let evaluated = self.evaluate(log);
                log.fault("alerts", evaluated.err().map(|error| format!("alerts: {error}")));
            }
            let now_ms = Timestamp::now().as_millisecond();
            let mut pause = due.saturating_duration_since(Instant::now());
            match self.outbox.advance::<Active>(
                self.ledger.delivery_records(),
                &self.options.receivers,
                now_ms,
            ) {
                Ok((next_ms, events)) => {
                    events.iter().for_each(|event| log.write(Level::Warning, event));
                    log.fault("deliveries", None);
                    let until_next = next_ms.map(|next| u64::try_from(next - now_ms).unwrap_or(0));
                    pause = until_next.map_or(pause, |until| pause.min(Duration::from_millis(until)));
                }
                Err(error) => log.fault("deliveries", Some(error)),
            }
            match inbox.recv_timeout(pause.max(Duration::from_millis(1))) {
                Ok(options) => {
                    self.reconfigure(options);
                    due = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Evaluates all rules, and writes what that changes before any receiver is notified.
    fn evaluate(&mut self, log: &Log) -> Result<(), String> {
        self.keep_ledger(log)?;
        let now_ms = Timestamp::now().as_millisecond();
        let text = |error: store::StoreError| error.to_string();
        let past = PastAtRest::go_on_or_open(self.past.take(), &self.history).map_err(text)?;
        let silences = self.ledger.silences(now_ms).map_err(text)?;
        let before = self.alerts.clone();
        let mut notices = self.alerts.keep_of(&self.options.rules);
        for state in &mut self.states {
            let begun = Instant::now();
            let found = ask(&past, &state.rule, now_ms);
            let advanced = found.and_then(|found| {
                let is_silenced = |labels: &SeriesName| is_silenced(&silences, labels, now_ms);
                self.alerts.advance(&state.rule, now_ms, &found, is_silenced)
            });
            (state.evaluated_ms, state.took_s) = (Some(now_ms), begun.elapsed().as_secs_f64());
            // What cannot be asked stays as it was.
            state.error = advanced.map(|new| notices.extend(new)).err();
        }
        self.past = past.rest().ok();
        let deliveries: Vec<Delivery<Active>> =
            notices.iter().flat_map(|notice| self.deliveries(notice, now_ms)).collect();
        let has_news = self.alerts.all() != before.all() || !deliveries.is_empty();
        let changes = changes(before.all(), self.alerts.all(), now_ms);
        if has_news && let Err(error) = self.ledger.commit(self.alerts.all(), &deliveries, &changes) {
            // Next time it is sent.
            self.alerts = before;
            return Err(text(error));
        }
        self.removed.clear();
        say(log, &changes);
        self.shared.write(AlertSnapshot {
            interval_s: self.options.interval.as_secs_f64(),
            rules: self.states.clone(),
            active: self.alerts.all().to_vec(),
        });
        let failed = self.states.iter().find_map(|state| Some((&state.rule.name, state.error.as_ref()?)));
        failed.map_or(Ok(()), |(name, error)| Err(format!("{name}: {error}")))
    }

    /// Begins another ledger if its file was removed.
    fn keep_ledger(&mut self, log: &Log) -> Result<(), String> {
        if self.ledger.is_in_place() {
            return Ok(());
        }
        let data = self.history.parent().unwrap_or(Path::new("."));
        let (mut ledger, _) = Ledger::take(data).map_err(|error| error.to_string())?;
        ledger.commit(self.alerts.all(), &[], &[]).map_err(|error| error.to_string())?;
        self.ledger = ledger;
        log.write(Level::Warning, "the ledger of alerts was removed, and is begun again");
        Ok(())
    }

    /// A notice for each receiver of its rule.
    fn deliveries(&self, notice: &Notice, now_ms: i64) -> Vec<Delivery<Active>> {
        let name = notice.alert.rule();
        let rule = self.options.rules.iter().chain(&self.removed).find(|rule| rule.name == name);
        let wanted = rule.map_or(&[][..], |rule| &rule.receivers);
        let is_wanted = |name: &String| wanted.is_empty() || wanted.contains(name);
        let receivers = self.options.receivers.iter().filter(|receiver| is_wanted(&receiver.name));
        let wanted = receivers.filter(|receiver| receiver.tells_ends || !notice.is_end);
        wanted.map(|receiver| Delivery::new(receiver, notice.alert.clone(), notice.is_end, now_ms)).collect()
    }
}

/// The series of a rule's expression at a time in milliseconds since 1970.
///
/// # Errors
/// If it cannot be evaluated, or its answer is of another kind.
pub fn ask(past: &Past, rule: &AlertRule, now_ms: i64) -> Result<Vec<(SeriesName, f64)>, String> {
    let query = Query::parse(&rule.expression).map_err(|error| error.to_string())?;
    let deadline = Instant::now() + MAX_EVALUATION;
    let is_interrupted = || Instant::now() >= deadline;
    let limits = Limits { most_points: MAX_POINTS, is_interrupted: &is_interrupted, ..Limits::default() };
    match query.at(past, now_ms, &limits).map_err(|error| error.to_string())? {
        Answer::Vector(series) => Ok(series.into_iter().map(|(name, point)| (name, point.value)).collect()),
        Answer::Scalar(point) => Ok(vec![(SeriesName::default(), point.value)]),
        Answer::Text(_) | Answer::Matrix(_) => Err("its answer is no series with a value each".to_owned()),
    }
}

fn is_silenced(silences: &[(i64, Silence)], labels: &SeriesName, now_ms: i64) -> bool {
    silences.iter().any(|(_, silence)| silence.covers(labels, now_ms))
}

/// Returns the alerts that began to fire, and those that are over.
fn changes(before: &[Active], now: &[Active], now_ms: i64) -> Vec<StateChange> {
    let is_firing = |list: &[Active], one: &Active| {
        list.iter().any(|other| other.labels == one.labels && other.firing_since_ms.is_some())
    };
    let change = |alert: &Active, state: &str| StateChange {
        subject: format!("alert {}", alert.rule()),
        state: state.to_owned(),
        text: alert.text.clone(),
        at_ms: now_ms,
    };
    let firing = |list: &[Active], other: &[Active], state: &str| -> Vec<StateChange> {
        let is_new = |alert: &&Active| alert.firing_since_ms.is_some() && !is_firing(other, alert);
        list.iter().filter(is_new).map(|alert| change(alert, state)).collect()
    };
    [firing(now, before, FIRING), firing(before, now, OVER)].concat()
}

fn say(log: &Log, changes: &[StateChange]) {
    for StateChange { subject, state, text, .. } in changes {
        match state.as_str() {
            FIRING => log.write(Level::Warning, &format!("{subject}: {text}")),
            _ => log.write(Level::Info, &format!("{subject} is {state}: {text}")),
        }
    }
}
