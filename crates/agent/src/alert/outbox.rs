//! Sees to it that each receiver is told once: couriers are sent, looked after, and sent again if they came back without success.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use probe::spawn::{Command, Group, reap_ended};
use serde_json::json;

use super::active::Active;
use super::courier::{self, Errand, Job, Progress};
use super::ledger::{Delivery, Ledger, Outcome};
use super::rule::{Receiver, Way};
use crate::answer::rfc3339;
use formats::series_name::SeriesName;

/// Where the jobs of couriers are, in the data directory.
const DIRECTORY: &str = "alerts";
/// Couriers at a time.
const MOST_COURIERS: usize = 8;
/// What failed is tried again after a second, then after twice as long each time, up to this.
const LONGEST_PAUSE_MS: i64 = 300_000;
/// What could not be told within a day is no news.
const LONGEST_TRIED_MS: i64 = 86_400_000;
/// How soon a courier that runs is looked after.
const LOOK_AFTER_MS: i64 = 100;

/// What is to be told.
#[derive(Debug)]
pub(super) struct Outbox {
    directory: PathBuf,
    courier: Vec<OsString>,
    /// Process ids of couriers, by the key of the delivery.
    couriers: HashMap<i64, u32>,
}

/// What happened to a delivery that is worth a line in the log.
pub(super) type Event = String;

impl Outbox {
    /// Of a data directory. What is left there of deliveries that are over is removed.
    pub(super) fn open(data: &Path, courier: Vec<OsString>, ledger: &Ledger) -> io::Result<Self> {
        let directory = data.join(DIRECTORY);
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let waiting = ledger.deliveries().map_err(io::Error::other)?;
        let is_waiting = |name: &str| {
            waiting.iter().any(|(key, delivery)| delivery.outcome.is_none() && key.to_string() == name)
        };
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if !entry.file_name().to_str().is_some_and(is_waiting) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Self { directory, courier, couriers: HashMap::new() })
    }

    /// Goes on with everything that waits. Returns when it is to be called again, in milliseconds since 1970, and what happened.
    pub(super) fn advance(
        &mut self,
        ledger: &mut Ledger,
        receivers: &[Receiver],
        now_ms: i64,
    ) -> Result<(Option<i64>, Vec<Event>), String> {
        self.couriers.retain(|_, pid| reap_ended(pid.cast_signed()).is_none());
        let (mut next, mut events) = (None, Vec::new());
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", DIRECTORY);
        let all = ledger.deliveries().map_err(|error| failed(&error))?;
        // Who is told of the end before the beginning believes that it goes on for ever.
        let mut waiting: Vec<(String, SeriesName)> = Vec::new();
        for (key, mut delivery) in all {
            if delivery.outcome.is_some() {
                continue;
            }
            let subject = (delivery.receiver.clone(), delivery.alert.name());
            if waiting.contains(&subject) {
                continue;
            }
            let receiver = receivers.iter().find(|receiver| receiver.name == delivery.receiver);
            let before = delivery.clone();
            let step = self.step(key, &mut delivery, receiver, now_ms).map_err(|error| failed(&error))?;
            if delivery != before {
                ledger.update(key, &delivery).map_err(|error| failed(&error))?;
                events.extend(event(&delivery));
            }
            // Not before that is written: what is removed is told again.
            if step.is_done_with_file {
                let _ = fs::remove_file(self.path(key));
            }
            next = [next, step.next_ms].into_iter().flatten().min();
            if delivery.outcome.is_none() {
                waiting.push(subject);
            }
        }
        Ok((next, events))
    }

    fn path(&self, key: i64) -> PathBuf {
        self.directory.join(key.to_string())
    }

    fn step(
        &mut self,
        key: i64,
        delivery: &mut Delivery,
        receiver: Option<&Receiver>,
        now_ms: i64,
    ) -> io::Result<Step> {
        let path = self.path(key);
        let look_after = Step { next_ms: Some(now_ms + LOOK_AFTER_MS), is_done_with_file: false };
        if self.couriers.contains_key(&key) {
            return Ok(look_after);
        }
        let progress = match progress(&path)? {
            // One of an agent that is gone.
            Some(None) => return Ok(look_after),
            Some(Some(progress)) => progress,
            None if delivery.next_ms > now_ms => {
                return Ok(Step { next_ms: Some(delivery.next_ms), is_done_with_file: false });
            }
            None => Progress::Waiting,
        };
        let mut end = |outcome: Outcome, reason: String| {
            (delivery.outcome, delivery.reason) = (Some(outcome), reason);
            Ok(Step { next_ms: None, is_done_with_file: true })
        };
        match progress {
            Progress::Delivered => end(Outcome::Delivered, String::new()),
            Progress::Unknown(reason) => end(Outcome::Unknown, reason),
            Progress::Interrupted => end(Outcome::Unknown, "its courier was killed".to_owned()),
            Progress::Failed(reason) if now_ms - delivery.created_ms > LONGEST_TRIED_MS => {
                end(Outcome::GivenUp, reason)
            }
            Progress::Failed(reason) => {
                let pause_ms = 1000_i64.saturating_mul(1 << delivery.attempts.min(20)).min(LONGEST_PAUSE_MS);
                delivery.reason = reason;
                delivery.attempts += 1;
                delivery.next_ms = now_ms + pause_ms;
                Ok(Step { next_ms: Some(delivery.next_ms), is_done_with_file: true })
            }
            Progress::Waiting => {
                let Some(receiver) = receiver else {
                    // It may come back with the next configuration.
                    if now_ms - delivery.created_ms > LONGEST_TRIED_MS {
                        return end(Outcome::GivenUp, "there is no such receiver any more".to_owned());
                    }
                    return Ok(Step { next_ms: Some(now_ms + LONGEST_PAUSE_MS), is_done_with_file: false });
                };
                if self.couriers.len() < MOST_COURIERS {
                    if !path.exists() {
                        write_job(&path, &job(delivery, receiver))?;
                    }
                    let pid = self.send(&path)?;
                    self.couriers.insert(key, pid);
                }
                Ok(look_after)
            }
        }
    }

    /// Starts a courier, which lives on when this process is killed.
    fn send(&self, path: &Path) -> io::Result<u32> {
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let mut words = self.courier.clone();
        words.push(path.into());
        Command {
            words,
            streams: [Some(null.as_fd()), Some(null.as_fd()), None],
            group: Group::Session,
            ..Command::default()
        }
        .start()
    }
}

/// Tells a receiver at once, and waits until it is told.
///
/// # Errors
/// Why it does not know, or may not know.
pub fn tell(receiver: &Receiver, alert: &Active) -> Result<(), String> {
    let delivery = Delivery::new(receiver, alert, false, alert.since_ms);
    courier::carry_out(&job(&delivery, receiver)).map_err(|error| error.to_string())
}

/// What is next for a delivery.
struct Step {
    next_ms: Option<i64>,
    is_done_with_file: bool,
}

/// How far a courier came: `None` if there was none, `Some(None)` if it is under way.
fn progress(path: &Path) -> io::Result<Option<Option<Progress>>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if file.try_lock().is_err() {
        return Ok(Some(None));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(Some(Progress::of(&text))))
}

/// All of it or nothing.
fn write_job(path: &Path, job: &Job) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(format!("{}\n", serde_json::to_string(job)?).as_bytes())?;
    file.sync_data()?;
    fs::rename(new, path)
}

/// The line of the log.
fn event(delivery: &Delivery) -> Option<Event> {
    let Delivery { receiver, reason, alert, .. } = delivery;
    let name = alert.rule();
    match delivery.outcome {
        Some(Outcome::Delivered) => None,
        Some(Outcome::Unknown) => {
            Some(format!("whether {receiver} knows of the alert \"{name}\" is not known: {reason}; it is not told again"))
        }
        Some(Outcome::GivenUp) => Some(format!("{receiver} was not told of the alert \"{name}\": {reason}")),
        None => (delivery.attempts == 1).then(|| {
            format!("{receiver} could not be told of the alert \"{name}\", which is tried again for a day: {reason}")
        }),
    }
}

fn state(delivery: &Delivery) -> &'static str {
    if delivery.is_end { "resolved" } else { "firing" }
}

fn job(delivery: &Delivery, receiver: &Receiver) -> Job {
    let alert = &delivery.alert;
    let errand = match &receiver.way {
        Way::Webhook(url) => Errand::Post { url: url.clone(), body: body(delivery) },
        Way::Command(words) => {
            let fields = [
                ("{name}", alert.rule()),
                ("{state}", state(delivery)),
                ("{text}", alert.text.as_str()),
                ("{value}", alert.value.as_str()),
            ];
            let variables = [
                ("WHIT_ALERT_ID", delivery.id.clone()),
                ("WHIT_ALERT_NAME", alert.rule().to_owned()),
                ("WHIT_ALERT_STATE", state(delivery).to_owned()),
                ("WHIT_ALERT_TEXT", alert.text.clone()),
                ("WHIT_ALERT_VALUE", alert.value.clone()),
                ("WHIT_ALERT_SINCE", rfc3339(alert.since_ms)),
                ("WHIT_ALERT_LABELS", json!(alert.labels).to_string()),
            ];
            Errand::Command {
                words: words.iter().map(|word| fill(word, &fields)).collect(),
                // A variable cannot contain it.
                environment: variables
                    .map(|(name, value)| (name.to_owned(), value.replace('\0', "")))
                    .to_vec(),
            }
        }
    };
    Job { id: delivery.id.clone(), errand, timeout_ms: receiver.timeout.as_millis() as u64 }
}

/// A word with the fields of an alert; what these contain is not looked at again.
fn fill(word: &str, fields: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let field = fields.iter().find(|(field, _)| rest.starts_with(field));
        let (written, length) = field.map_or(("{", 1), |(field, value)| (*value, field.len()));
        out.push_str(written);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out.replace('\0', "")
}

/// What Alertmanager's webhooks are sent, version 4: many receivers know it.
/// <https://prometheus.io/docs/alerting/latest/configuration/#webhook_config>
fn body(delivery: &Delivery) -> String {
    let alert = &delivery.alert;
    let annotations = json!({ "summary": alert.text, "value": alert.value });
    let ends_at =
        if delivery.is_end { rfc3339(delivery.created_ms) } else { "0001-01-01T00:00:00Z".to_owned() };
    json!({
        "version": "4",
        "groupKey": delivery.id,
        "truncatedAlerts": 0,
        "status": state(delivery),
        "receiver": delivery.receiver,
        "groupLabels": {},
        "commonLabels": alert.labels,
        "commonAnnotations": annotations,
        "externalURL": "",
        "alerts": [{
            "status": state(delivery),
            "labels": alert.labels,
            "annotations": annotations,
            "startsAt": rfc3339(alert.since_ms),
            "endsAt": ends_at,
            "generatorURL": "",
            "fingerprint": delivery.id,
        }],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_once() {
        let fields = [("{name}", "a {text}"), ("{text}", "b")];
        assert_eq!(fill("{name}: {text}, {other} {", &fields), "a {text}: b, {other} {");
    }
}
