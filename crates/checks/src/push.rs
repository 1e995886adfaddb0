//! Results for the agent of another machine, where passive checks take them: what NRPE and NSCA are for with Nagios.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use form_urlencoded::Serializer;
use http_client::{Client, client, described};

use super::state::State;
use super::status::CheckStatus;
use service::Log;

/// Results of one request, and the bytes of their outputs: the other agent accepts requests of a few megabytes. What comes within this
/// time is sent together.
const MAX_RESULTS: usize = 500;
const MAX_BATCH_BYTES: usize = 256 * 1024;
/// Longer outputs are cut.
const MAX_OUTPUT_BYTES: usize = 32 * 1024;
const TOGETHER: Duration = Duration::from_secs(1);
/// Where the other agent takes them.
const SUBMIT: &str = "/api/v1/checks/submit";
/// An attempt takes no longer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// After an attempt that failed.
const MIN_WAIT: Duration = Duration::from_secs(5);
const MAX_WAIT: Duration = Duration::from_secs(300);

/// Where results are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushOptions {
    /// The other agent: `http://192.0.2.1:9140`.
    pub url: String,
    /// Its token.
    pub token: Option<String>,
    /// The host of checks there that are this machine's here.
    pub host: String,
}

/// The thread that sends, as long as this is kept.
#[derive(Debug)]
pub(super) struct Push {
    options: PushOptions,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// The last result of each check that was not sent: bounded by the number of checks.
#[derive(Debug, Default)]
struct Waiting {
    results: BTreeMap<String, (State, String)>,
    is_over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Push {
    /// Begins.
    ///
    /// # Errors
    /// If no thread can be made.
    pub(super) fn start(options: PushOptions) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (of_thread, own) = (Arc::clone(&shared), options.clone());
        std::thread::Builder::new().name("push".to_owned()).spawn(move || send_all(&of_thread, &own))?;
        Ok(Self { options, shared })
    }

    pub(super) fn options(&self) -> &PushOptions {
        &self.options
    }

    /// Takes the last result of a check of a host.
    pub(super) fn take(&self, host: &str, status: &CheckStatus) {
        let Some(state) = status.state else { return };
        // A check of this machine is one of the host that it is there.
        let name = match host.is_empty() {
            true => format!("{}/{}", self.options.host, status.name),
            false => status.name.clone(),
        };
        let figures = if status.figures.is_empty() { "" } else { "|" };
        let mut output = format!("{}{figures}{}", status.text, status.figures);
        if !status.long_text.is_empty() {
            output.push('\n');
            output.push_str(&status.long_text);
        }
        output.truncate(output.floor_char_boundary(MAX_OUTPUT_BYTES));
        self.shared.lock().results.insert(name, (state, output));
        self.shared.changed.notify_one();
    }
}

impl Drop for Push {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
    }
}

fn send_all(shared: &Shared, options: &PushOptions) {
    let mut log = Log::open();
    // A redirect would turn the request into one without its results.
    let client = client(TIMEOUT, 0);
    let mut wait = MIN_WAIT;
    loop {
        let mut waiting = shared.lock();
        while waiting.results.is_empty() && !waiting.is_over {
            waiting = shared.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.is_over {
            return;
        }
        drop(waiting);
        std::thread::sleep(TOGETHER);
        let batch: Vec<(String, (State, String))> = {
            let mut waiting = shared.lock();
            let mut left = MAX_BATCH_BYTES;
            let has_room = |(_, (_, output)): &(&String, &(State, String))| {
                let has_room = left > 0;
                left = left.saturating_sub(output.len());
                has_room
            };
            let names =
                waiting.results.iter().take(MAX_RESULTS).take_while(has_room).map(|(name, _)| name.clone());
            let names: Vec<String> = names.collect();
            names.into_iter().filter_map(|name| waiting.results.remove_entry(&name)).collect()
        };
        match send(&client, options, &batch) {
            Ok(finding) => {
                wait = MIN_WAIT;
                log.fault("pushed results", finding.map(|finding| format!("{}: {finding}", options.url)));
            }
            Err(error) => {
                log.fault("pushed results", Some(format!("{}: {error}; it is tried again", options.url)));
                let mut waiting = shared.lock();
                for (name, result) in batch {
                    // A newer result may have come.
                    waiting.results.entry(name).or_insert(result);
                }
                let (waiting, _) = shared
                    .changed
                    .wait_timeout_while(waiting, wait, |waiting| !waiting.is_over)
                    .unwrap_or_else(PoisonError::into_inner);
                drop(waiting);
                wait = (wait * 2).min(MAX_WAIT);
            }
        }
    }
}

/// Sends results. Returns what the other agent says of them.
fn send(
    client: &Client,
    options: &PushOptions,
    batch: &[(String, (State, String))],
) -> Result<Option<String>, String> {
    let mut form = Serializer::new(String::new());
    for (name, (state, output)) in batch {
        form.append_pair("name", name).append_pair("state", state.name()).append_pair("output", output);
    }
    let url = format!("{}{SUBMIT}", options.url.trim_end_matches('/'));
    let mut request = client.post(url).header("Content-Type", "application/x-www-form-urlencoded");
    if let Some(token) = &options.token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut reply = request.send(form.finish()).map_err(|error| described(&error))?;
    if reply.status().is_redirection() {
        let location = reply.headers().get("Location").and_then(|location| location.to_str().ok());
        let other = location.map_or("nowhere", |location| location.strip_suffix(SUBMIT).unwrap_or(location));
        return Err(format!("it redirects to {other}: name that address"));
    }
    let text = reply.body_mut().with_config().limit(1 << 20).read_to_string().unwrap_or_default();
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    match reply.status().as_u16() {
        // Others of the batch were taken.
        200 => {
            Ok(answer["data"]["unknown"].as_array().filter(|unknown| !unknown.is_empty()).map(|unknown| {
                format!("it has no passive check {} ({} of {} names)", unknown[0], unknown.len(), batch.len())
            }))
        }
        404 if answer["errorType"] == "not_found" => Ok(Some(answer["error"].to_string())),
        // It would not accept them later either.
        status @ (400 | 413) => {
            Ok(Some(format!("it refused {} results with {status}: {}", batch.len(), answer["error"])))
        }
        status => Err(format!("it answered with {status} {}", answer["error"].as_str().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_redirect_is_not_followed_and_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream
                .write_all(
                    b"HTTP/1.1 301 Moved Permanently\r\nLocation: https://elsewhere/api/v1/checks/submit\r\nContent-Length: 0\r\n\r\n",
                )
                .unwrap();
        });
        let options = PushOptions { url, token: None, host: "here".to_owned() };
        let batch = [("here/load".to_owned(), (State::Ok, "fine".to_owned()))];
        let error = send(&client(TIMEOUT, 0), &options, &batch).unwrap_err();
        server.join().unwrap();
        assert_eq!(error, "it redirects to https://elsewhere: name that address");
    }
}
