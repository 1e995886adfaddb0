//! Sends each notification once: starts a process for each, watches it, and starts another after a failure.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use probe::spawn::{Command, Group, reap_ended};
use store::Records;

use super::delivery::{Delivery, DeliveryRecords, Outcome, Subject, action};
use super::job::{self, Job};
use super::progress::Progress;
use super::receiver::Receiver;

/// Processes at a time.
const MAX_JOBS: usize = 8;
/// The longest pause before a failed notification is tried again, in milliseconds: the first is a second, each other one twice as long as the
/// one before.
pub const MAX_PAUSE_MS: i64 = 300_000;
/// A notification that could not be sent within a day is given up.
const MAX_TRIED_MS: i64 = 86_400_000;
/// A mail that some of its addresses have is tried again for the others for so long. The next notification of its subject waits meanwhile.
const MAX_LEFT_MS: i64 = 600_000;
/// The interval between two polls of a process that runs.
const LOOK_AFTER_MS: i64 = 100;

/// The processes that send notifications, one for each.
#[derive(Debug)]
pub struct Outbox {
    directory: PathBuf,
    job_program: Vec<OsString>,
    /// Process ids by the keys of the deliveries.
    jobs: HashMap<i64, u32>,
    /// The deliveries for which a process was started and has not ended, or ended since the last look.
    started: HashSet<i64>,
}

/// A line for the log.
pub(crate) type Event = String;

impl Outbox {
    /// Keeps the files of jobs in a directory. Files of deliveries that are over are removed.
    pub fn open<T: Subject>(
        directory: PathBuf,
        job_program: Vec<OsString>,
        waiting: &[(i64, Delivery<T>)],
    ) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let is_waiting = |name: &str| {
            waiting.iter().any(|(key, delivery)| delivery.outcome.is_none() && key.to_string() == name)
        };
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if !entry.file_name().to_str().is_some_and(is_waiting) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Self { directory, job_program, jobs: HashMap::new(), started: HashSet::new() })
    }

    /// Goes on with everything that waits. Returns when it is to be called again, in milliseconds since 1970, and what happened.
    pub fn advance<T: Subject>(
        &mut self,
        (records, deliveries): (&mut Records, DeliveryRecords),
        receivers: &[Receiver],
        now_ms: i64,
    ) -> Result<(Option<i64>, Vec<Event>), String> {
        self.jobs.retain(|_, pid| reap_ended(pid.cast_signed()).is_none());
        let (mut next, mut events) = (None, Vec::new());
        let all = deliveries.all::<T>(records);
        let all = all.map_err(|error| format!("the notifications: {error}"))?;
        // Those of one subject go out in order: otherwise a recovery could arrive before its problem.
        let mut waiting: Vec<(String, String)> = Vec::new();
        for (key, mut delivery) in all {
            if delivery.outcome.is_some() {
                continue;
            }
            let subject = (delivery.receiver.clone(), delivery.subject.key());
            if waiting.contains(&subject) {
                continue;
            }
            let receiver = receivers.iter().find(|receiver| receiver.name == delivery.receiver);
            let before = delivery.clone();
            let step = self.step(key, &mut delivery, receiver, now_ms);
            let step = step.map_err(|error| format!("{}: {error}", self.directory.display()))?;
            if delivery != before {
                let updated = deliveries.update(records, key, &delivery);
                updated.map_err(|error| format!("the notifications: {error}"))?;
                events.extend(event(&delivery));
            }
            // Not before the outcome is written: a delivery without a file is sent again.
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

    fn step<T: Subject>(
        &mut self,
        key: i64,
        delivery: &mut Delivery<T>,
        receiver: Option<&Receiver>,
        now_ms: i64,
    ) -> io::Result<Step> {
        let path = self.path(key);
        let look_after = Step { next_ms: Some(now_ms + LOOK_AFTER_MS), is_done_with_file: false };
        if self.jobs.contains_key(&key) {
            return Ok(look_after);
        }
        let progress = match progress(&path)? {
            // A process that an earlier agent started is still at work.
            Some(None) => return Ok(look_after),
            // Started at once, it would end in the same way again and again.
            Some(Some(Progress::Waiting)) if self.started.remove(&key) => {
                Progress::Failed("its process ended before it began".to_owned())
            }
            Some(Some(progress)) => progress,
            // The next attempt is not due. Beyond the longest pause the clock was set back, and it is.
            None if (now_ms + 1..=now_ms + MAX_PAUSE_MS).contains(&delivery.next_ms) => {
                return Ok(Step { next_ms: Some(delivery.next_ms), is_done_with_file: false });
            }
            None => Progress::Waiting,
        };
        self.started.remove(&key);
        let is_old = now_ms - delivery.created_ms > MAX_TRIED_MS;
        match progress {
            Progress::Delivered => end(delivery, Outcome::Delivered, String::new()),
            Progress::Unknown(reason) => end(delivery, Outcome::Unknown, reason),
            Progress::Interrupted => end(delivery, Outcome::Unknown, "its process was killed".to_owned()),
            Progress::DeliveredInPart { later, reason } => {
                let begun_ms = *delivery.partly_ms.get_or_insert(now_ms);
                if later.is_empty() || now_ms - begun_ms > MAX_LEFT_MS {
                    return end(delivery, Outcome::Delivered, reason);
                }
                delivery.left_to = later;
                again(delivery, reason, now_ms)
            }
            // Some of its addresses have it.
            Progress::Failed(reason)
                if delivery.partly_ms.is_some_and(|begun_ms| now_ms - begun_ms > MAX_LEFT_MS) =>
            {
                end(delivery, Outcome::Delivered, reason)
            }
            Progress::Failed(reason) if is_old && delivery.partly_ms.is_none() => {
                end(delivery, Outcome::GivenUp, reason)
            }
            Progress::Failed(reason) => again(delivery, reason, now_ms),
            Progress::Waiting => {
                let Some(receiver) = receiver else {
                    if is_old {
                        return end(
                            delivery,
                            Outcome::GivenUp,
                            "there is no such receiver any more".to_owned(),
                        );
                    }
                    // Another configuration may have it again.
                    return Ok(Step { next_ms: Some(now_ms + MAX_PAUSE_MS), is_done_with_file: false });
                };
                if self.jobs.len() < MAX_JOBS {
                    if !path.exists() {
                        write_job(&path, &job(delivery, receiver))?;
                    }
                    let pid = self.send(&path)?;
                    self.jobs.insert(key, pid);
                    self.started.insert(key);
                }
                Ok(look_after)
            }
        }
    }

    /// Starts the process of a job, which lives on when this process is killed.
    fn send(&self, path: &Path) -> io::Result<u32> {
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let mut words = self.job_program.clone();
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

/// Sends a notification at once, and waits for its end.
///
/// # Errors
/// Why the receiver does not have it, or may not have it.
pub fn send_now<T: Subject>(receiver: &Receiver, subject: T, now_ms: i64) -> Result<(), String> {
    let delivery = Delivery::new(receiver, subject, false, now_ms);
    job::carry_out(&job(&delivery, receiver)).map_err(|error| error.to_string())
}

/// The next step of a delivery.
struct Step {
    next_ms: Option<i64>,
    is_done_with_file: bool,
}

fn end<T: Subject>(delivery: &mut Delivery<T>, outcome: Outcome, reason: String) -> io::Result<Step> {
    (delivery.outcome, delivery.reason) = (Some(outcome), reason);
    Ok(Step { next_ms: None, is_done_with_file: true })
}

/// Plans the next attempt: later each time.
fn again<T: Subject>(delivery: &mut Delivery<T>, reason: String, now_ms: i64) -> io::Result<Step> {
    let pause_ms = 1000_i64.saturating_mul(1 << delivery.attempts.min(20)).min(MAX_PAUSE_MS);
    delivery.reason = reason;
    delivery.attempts += 1;
    delivery.next_ms = now_ms + pause_ms;
    Ok(Step { next_ms: Some(delivery.next_ms), is_done_with_file: true })
}

/// Reads how far a job came: `None` if there is none, `Some(None)` if it runs.
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
fn event<T: Subject>(delivery: &Delivery<T>) -> Option<Event> {
    let Delivery { receiver, reason, subject, .. } = delivery;
    let title = subject.title();
    match delivery.outcome {
        Some(Outcome::Delivered) if reason.is_empty() => None,
        Some(Outcome::Delivered) => {
            Some(format!("not all addresses of {receiver} have the notification of {title}: {reason}"))
        }
        Some(Outcome::Unknown) => {
            Some(format!("it is not known whether {receiver} has the notification of {title}: {reason}; it is not sent again"))
        }
        Some(Outcome::GivenUp) => Some(format!("{receiver} did not get the notification of {title}: {reason}")),
        None if delivery.partly_ms.is_some() => (delivery.attempts == 1).then(|| {
            format!("some addresses of {receiver} do not have the notification of {title}; it is tried again: {reason}")
        }),
        None => (delivery.attempts == 1).then(|| {
            format!("the notification of {title} could not be sent to {receiver}, which is tried again for a day: {reason}")
        }),
    }
}

fn job<T: Subject>(delivery: &Delivery<T>, receiver: &Receiver) -> Job {
    Job {
        id: delivery.id.clone(),
        action: action(delivery, &receiver.way),
        timeout_ms: receiver.timeout.as_millis() as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::delivery::{Letter, Variables};
    use crate::receiver::Way;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Text(String);

    impl Subject for Text {
        fn key(&self) -> String {
            self.0.clone()
        }

        fn title(&self) -> String {
            self.0.clone()
        }

        fn letter(_: &Delivery<Self>) -> Letter {
            Letter { line: String::new(), text: String::new() }
        }

        fn document(_: &Delivery<Self>) -> serde_json::Value {
            serde_json::Value::Null
        }

        fn variables(_: &Delivery<Self>) -> Variables {
            Variables::default()
        }
    }

    const DELIVERIES: DeliveryRecords = DeliveryRecords(0..1000);

    /// A delivery that waits, its receiver, and an outbox whose jobs are done by a program.
    fn waiting(directory: &Path, job_program: &str) -> (Records, Receiver, Outbox) {
        fs::create_dir_all(directory).unwrap();
        let mut records = Records::open(&directory.join("records")).unwrap();
        let receiver = Receiver {
            name: "ann".to_owned(),
            way: Way::Command(vec!["true".to_owned()]),
            timeout: Duration::from_secs(1),
            tells_ends: true,
        };
        let delivery = Delivery::new(&receiver, Text("full".to_owned()), false, 0);
        DELIVERIES.update(&mut records, 1, &delivery).unwrap();
        let outbox =
            Outbox::open(directory.join("jobs"), vec![job_program.into()], &[(1, delivery)]).unwrap();
        (records, receiver, outbox)
    }

    /// A process that ends before it has done anything is a failed attempt: the next one comes after a pause.
    #[test]
    fn a_process_that_does_not_begin_is_tried_again_later() {
        let directory = std::env::temp_dir().join(format!("whit-outbox-{}", std::process::id()));
        let (mut records, receiver, mut outbox) = waiting(&directory, "/bin/false");
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut look = |now_ms| {
            let known = (&mut records, DELIVERIES);
            let (next_ms, events) =
                outbox.advance::<Text>(known, std::slice::from_ref(&receiver), now_ms).unwrap();
            let attempts = DELIVERIES.all::<Text>(&records).unwrap()[0].1.attempts;
            (next_ms, events.len(), attempts)
        };
        assert_eq!(look(0), (Some(LOOK_AFTER_MS), 0, 0));
        let failed = loop {
            let looked = look(5);
            if looked.2 > 0 || Instant::now() > deadline {
                break looked;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(failed, (Some(1005), 1, 1));
        // Not before that.
        assert_eq!(look(900), (Some(1005), 0, 1));
        fs::remove_dir_all(&directory).unwrap();
    }

    /// The addresses that have a mail have it once, whatever becomes of the others.
    #[test]
    fn what_some_addresses_have_is_tried_for_the_others_alone() {
        let directory = std::env::temp_dir().join(format!("whit-outbox-part-{}", std::process::id()));
        let (mut records, receiver, mut outbox) = waiting(&directory, "/bin/true");
        let mut ended = |progress: Progress, now_ms: i64| {
            fs::write(directory.join("jobs/1"), format!("{{}}\nbegun\n{}", progress.line())).unwrap();
            let known = (&mut records, DELIVERIES);
            let (_, events) = outbox.advance::<Text>(known, std::slice::from_ref(&receiver), now_ms).unwrap();
            let Delivery { outcome, left_to, .. } = DELIVERIES.all::<Text>(&records).unwrap()[0].1.clone();
            (outcome, left_to, events.len())
        };
        let left = vec!["b@c".to_owned()];
        let in_part = Progress::DeliveredInPart { later: left.clone(), reason: "450".to_owned() };
        assert_eq!(ended(in_part, 1000), (None, left.clone(), 1));
        let failed = || Progress::Failed("450".to_owned());
        assert_eq!(ended(failed(), 5000), (None, left.clone(), 0));
        // It is over after ten minutes, and one line says who does not have it.
        assert_eq!(ended(failed(), 1001 + MAX_LEFT_MS), (Some(Outcome::Delivered), left, 1));
        fs::remove_dir_all(&directory).unwrap();
    }
}
