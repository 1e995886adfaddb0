//! The process that does one job: a notification for one receiver. It outlives an agent that is killed, so that what it has begun is
//! ended and its end is known. Its file is locked as long as it runs, and contains the job and how far it came.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use facts::unit::Nanos;
use http_client::{Error, client, described, is_unreached, is_without_tls};
use probe::clock_now;
use probe::signals::Signal;
use probe::spawn::{Ending, Process};
use probe::wait::Waiter;
use serde::{Deserialize, Serialize};

use super::mail;
use super::progress::{BEGUN, Progress};
use super::receiver::MailOptions;

/// One notification for one receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The id, which is the same if it is sent twice, so that a receiver can recognize it.
    pub(super) id: String,
    // Jobs of the version before have its old name.
    #[serde(alias = "errand")]
    pub(super) action: Action,
    pub(super) timeout_ms: u64,
}

/// How a receiver gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Command { words: Vec<String>, environment: Vec<(String, String)> },
    Post { url: String, body: String },
    Mail { options: MailOptions, subject: String, text: String },
}

/// Does the job in a file, unless another process does it or has done it.
///
/// # Errors
/// If the file cannot be read or written.
pub fn run(path: &Path) -> io::Result<()> {
    // The end of the agent's processes leaves this one to finish.
    let mut waiter = Waiter::open(&[Signal::Terminate, Signal::Interrupt, Signal::Hangup])?;
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    if file.try_lock().is_err() {
        return Ok(());
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let job = text.lines().next().and_then(|line| serde_json::from_str::<Job>(line).ok());
    let Some(job) = job.filter(|_| Progress::of(&text) == Progress::Waiting) else { return Ok(()) };
    note(&mut file, &format!("{BEGUN}\n"))?;
    let progress = progress_of(&job, &mut waiter);
    note(&mut file, &progress.line())
}

/// Does a job at once.
///
/// # Errors
/// Why the receiver does not know, or may not know.
pub(super) fn carry_out(job: &Job) -> io::Result<()> {
    match progress_of(job, &mut Waiter::open(&[])?) {
        Progress::Delivered => Ok(()),
        Progress::DeliveredInPart { reason, .. } | Progress::Failed(reason) | Progress::Unknown(reason) => {
            Err(io::Error::other(reason))
        }
        Progress::Waiting | Progress::Interrupted => Err(io::Error::other("it was not done")),
    }
}

fn progress_of(job: &Job, waiter: &mut Waiter) -> Progress {
    match &job.action {
        Action::Command { words, environment } => {
            run_command(words, environment, Duration::from_millis(job.timeout_ms), waiter)
        }
        Action::Post { url, body } => post(url, body, job),
        Action::Mail { options, subject, text } => {
            mail::send(options, [subject, text], &job.id, Duration::from_millis(job.timeout_ms))
        }
    }
}

/// Appends a line that is there after a power cut, too.
fn note(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(line.as_bytes())?;
    file.sync_data()
}

fn run_command(
    words: &[String],
    environment: &[(String, String)],
    timeout: Duration,
    waiter: &mut Waiter,
) -> Progress {
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut process = match Process::start(words, &environment) {
        Ok(process) => process,
        Err(error) => return Progress::Failed(format!("{}: {error}", words[0])),
    };
    let deadline = clock_now().boottime + Nanos::from(timeout);
    // Short at first: most are done at once.
    let mut pause = Nanos(1_000_000);
    loop {
        if let Some(ended) = process.ended() {
            return match ended.ending {
                Ending::Exited(0) => Progress::Delivered,
                Ending::Exited(status) => Progress::Failed(format!("exit status {status}")),
                Ending::Signaled(signal) => Progress::Unknown(format!("ended by signal {signal}")),
                Ending::Unknown => Progress::Unknown("its exit status is not known".to_owned()),
            };
        }
        if clock_now().boottime >= deadline {
            process.kill();
            return Progress::Unknown(format!("killed after {} s", timeout.as_secs_f64()));
        }
        let _ = waiter.wait(Some(pause), &mut Vec::new());
        while waiter.next_signal().is_some() {}
        pause = Nanos((pause.0 * 2).min(50_000_000));
    }
}

/// The words of rustls for a certificate that it does not accept: nothing was sent.
const UNTRUSTED: &str = "invalid peer certificate";

fn post(url: &str, body: &str, job: &Job) -> Progress {
    let request = client(Duration::from_millis(job.timeout_ms), 0).post(url);
    let request = request.header("content-type", "application/json").header("idempotency-key", &job.id);
    match request.send(body) {
        Ok(response) if response.status().is_success() => Progress::Delivered,
        Ok(response) => Progress::Failed(format!("{url}: {}", response.status())),
        Err(error) => {
            let reason = format!("{url}: {}", described(&error));
            if was_not_sent(&error) { Progress::Failed(reason) } else { Progress::Unknown(reason) }
        }
    }
}

/// Returns whether the receiver cannot have got the request.
fn was_not_sent(error: &Error) -> bool {
    match error {
        error if is_without_tls(error) || is_unreached(error) => true,
        Error::Io(error) => error.to_string().contains(UNTRUSTED),
        Error::ConnectProxyFailed(_)
        | Error::InvalidProxyUrl
        | Error::BadUri(_)
        | Error::Tls(_)
        | Error::Http(_) => true,
        _ => false,
    }
}
