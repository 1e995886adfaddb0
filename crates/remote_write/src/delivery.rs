//! Requests to a receiver, and what its answers mean.

use std::time::{Duration, Instant};

use formats::remote_write::{SAMPLES_WRITTEN, Version, encode};
use history::past::metadata;
use http_client::{Client, client_with, described};
use jiff::{SignedDuration, Timestamp};

use crate::fate::Refusal;
use crate::options::ReceiverOptions;
use crate::shipment::Shipment;

/// The most of an answer that is read, in bytes, and of its text that is shown, in letters.
const MAX_ANSWER_BYTES: u64 = 4096;
const MAX_SHOWN: usize = 200;
/// The longest pause that a receiver can ask for.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// A receiver of version 1 may be another one some time later.
const ASKED_AGAIN: Duration = Duration::from_secs(3600);

/// The longest request by which the receiver's clock is read.
const MAX_TO_SET_BY: SignedDuration = SignedDuration::from_secs(1);

/// What is said of samples that a receiver has not written, although it has taken their request.
const UNWRITTEN: &str = "success, but fewer samples were written than there were";

/// Why a request is made again later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Later {
    pub(crate) message: String,
    /// The receiver was not reached, or not by who stands before it: it may have ended, and lost what it had not written.
    pub(crate) is_unreached: bool,
    /// It has refused all of a shipment.
    pub(crate) refuses_all: bool,
    /// As the receiver wants it.
    pub(crate) after: Option<Duration>,
}

/// The meaning of an answer.
enum Answer {
    /// The request is over.
    Taken {
        /// How many samples were written, if the receiver says that.
        written: Option<u64>,
        /// Why the others were not.
        message: String,
    },
    Refused(Refusal),
    /// It does not know this version of the protocol, and has found nothing in the request.
    NotUnderstood,
}

/// What a receiver answers.
struct Reply {
    status: u16,
    /// How many samples it has written, if it says that.
    written: Option<u64>,
    message: String,
    /// The pause that it wants.
    after: Option<Duration>,
}

/// The way to a receiver.
#[derive(Debug)]
pub(crate) struct Delivery {
    client: Client,
    url: String,
    headers: Vec<(String, String)>,
    /// The version of the protocol that the configuration wants, or whichever the receiver takes.
    chosen_version: Option<Version>,
    /// The version that the receiver takes; `None`: it was not asked yet.
    pub(crate) version: Option<Version>,
    /// When it was asked.
    version_at: Option<Instant>,
    /// How far the clock here is ahead of the receiver's, in seconds, by the date of its last answer.
    pub(crate) clock_ahead_s: Option<f64>,
}

impl Delivery {
    pub(crate) fn new(options: &ReceiverOptions) -> Self {
        // A redirect would send credentials elsewhere.
        let client = client_with(options.timeout, 0, &options.tls);
        let (url, headers) = (options.url.clone(), options.headers.clone());
        let version = options.version;
        Self { client, url, headers, chosen_version: version, version, version_at: None, clock_ahead_s: None }
    }

    /// Makes the next request of a shipment, which is divided if the receiver refuses it.
    ///
    /// # Errors
    /// If the receiver cannot be reached or wants it later.
    pub(crate) fn send_next(&mut self, shipment: &mut Shipment) -> Result<(), Later> {
        let refuses_all = |message| Later { message, is_unreached: false, refuses_all: true, after: None };
        let version = self.negotiated()?;
        let Some(request) = shipment.next() else { return Ok(()) };
        let Some(body) = encode(version, shipment.samples(&request), metadata) else {
            let refusal = Refusal { message: "larger than snappy can be".to_owned(), is_too_large: true };
            return shipment.divide(request, &refusal).map_err(refuses_all);
        };
        match self.deliver(version, &body) {
            // Another program is behind the address now, and has understood nothing of it.
            Ok(Answer::NotUnderstood) => {
                shipment.put_back(request);
                (self.version, self.version_at) = (Some(Version::One), Some(Instant::now()));
                Ok(())
            }
            Ok(Answer::Taken { written, message }) => {
                shipment.take(&request, body.len(), written, &message);
                Ok(())
            }
            Ok(Answer::Refused(refusal)) => shipment.divide(request, &refusal).map_err(refuses_all),
            Err(later) => {
                shipment.put_back(request);
                if later.is_unreached {
                    // It may be another one when it is back.
                    self.version = self.chosen_version;
                }
                Err(later)
            }
        }
    }

    /// Returns the version that the receiver takes. It is asked by a request without series, whose answer says whether it was understood.
    ///
    /// # Errors
    /// If it cannot be reached, or wants to be asked later.
    fn negotiated(&mut self) -> Result<Version, Later> {
        let is_fresh = self.version_at.is_none_or(|at| at.elapsed() < ASKED_AGAIN);
        if let Some(version) = self.version.filter(|version| *version == Version::Two || is_fresh) {
            return Ok(version);
        }
        let nothing = encode(Version::Two, std::iter::empty(), metadata).unwrap_or_default();
        let reply = self.post(Version::Two, &nothing)?;
        let version = match reply.status {
            200..300 if reply.written.is_some() => Version::Two,
            // Who is not let in, or is asked to wait, is not answered.
            401 | 403 | 408 | 429 | 502..=504 => return Err(later(reply)),
            _ => Version::One,
        };
        (self.version, self.version_at) = (Some(version), Some(Instant::now()));
        Ok(version)
    }

    /// Sends samples.
    fn deliver(&mut self, version: Version, body: &[u8]) -> Result<Answer, Later> {
        let reply = self.post(version, body)?;
        // Those of version 1 have no such header, or one that says nothing.
        let written = reply.written.filter(|_| version == Version::Two);
        match reply.status {
            200..300 if version == Version::Two && written.is_none() => Ok(Answer::NotUnderstood),
            200..300 => Ok(Answer::Taken { written, message: UNWRITTEN.to_owned() }),
            415 if version == Version::Two => Ok(Answer::NotUnderstood),
            // Conflict is Thanos' word for samples that are older than others.
            400 | 409 | 413 | 422 => {
                let (message, is_too_large) = (reply.message, reply.status == 413);
                // The receiver does not say which samples were written, and would refuse them if the request were made again.
                Ok(match written.is_some_and(|written| written > 0) && !is_too_large {
                    true => Answer::Taken { written, message },
                    false => Answer::Refused(Refusal { message, is_too_large }),
                })
            }
            415 => {
                // It may take version 2 alone.
                self.version = self.chosen_version;
                Err(later(reply))
            }
            _ => Err(later(reply)),
        }
    }

    fn post(&mut self, version: Version, body: &[u8]) -> Result<Reply, Later> {
        let mut request = self.client.post(&self.url);
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in version.headers().into_iter().chain(own) {
            request = request.header(name, value);
        }
        let unreached = |error: &http_client::Error| {
            let message = described(error);
            Later { message, is_unreached: true, refuses_all: false, after: None }
        };
        let begun = Timestamp::now();
        let mut response = request.send(body).map_err(|error| unreached(&error))?;
        let ended = Timestamp::now();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let ahead_s = header("date").and_then(|date| ahead_s([begun, ended], date));
        let status = response.status();
        let after = header("retry-after").and_then(|text| pause_of(text, ended));
        let after = after.map(|after| after.min(MAX_PAUSE));
        let written = header(SAMPLES_WRITTEN).and_then(|value| value.trim().parse().ok());
        self.clock_ahead_s = ahead_s.or(self.clock_ahead_s);
        // Read to its end, so that the connection is used again; the rest of a longer one is not waited for.
        let text =
            response.body_mut().with_config().limit(MAX_ANSWER_BYTES).lossy_utf8(true).read_to_string();
        let message = message(status.as_str(), status.canonical_reason(), &text.unwrap_or_default());
        Ok(Reply { status: status.as_u16(), written, message, after })
    }
}

/// An answer after which a request is made again.
fn later(reply: Reply) -> Later {
    let is_unreached = matches!(reply.status, 502 | 504);
    Later { message: reply.message, is_unreached, refuses_all: false, after: reply.after }
}

/// How far a clock is ahead of that of an answer's date, in seconds: the answer was made between two instants, and a date has no fraction.
fn ahead_s(instants: [Timestamp; 2], date: &str) -> Option<f64> {
    // The answer was made at some instant of the request: in a long one that is not known well enough.
    if instants[1].duration_since(instants[0]) > MAX_TO_SET_BY {
        return None;
    }
    let date = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let [from_s, to_s] =
        instants.map(|instant| (instant.as_millisecond() - date.as_millisecond()) as f64 / 1000.0);
    Some((from_s + to_s) / 2.0 - 0.5)
}

/// What a receiver said, in a line.
fn message(status: &str, reason: Option<&str>, text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let line: String = line.chars().filter(|letter| !letter.is_control()).take(MAX_SHOWN).collect();
    let reason = if line.is_empty() { reason.unwrap_or_default() } else { &line };
    format!("status {status}: {reason}").trim_end_matches([':', ' ']).to_owned()
}

/// Returns the pause that a header `Retry-After` asks for, in seconds or up to a date (RFC 9110, 10.2.3).
fn pause_of(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_in_seconds_or_up_to_a_date() {
        let now = "2024-05-01T10:00:07Z".parse().unwrap();
        assert_eq!(pause_of(" 30 ", now), Some(Duration::from_secs(30)));
        assert_eq!(pause_of("Wed, 01 May 2024 10:02:07 GMT", now), Some(Duration::from_secs(120)));
        assert_eq!(pause_of("Wed, 01 May 2024 10:00:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(pause_of("soon", now), None);
    }

    #[test]
    fn the_date_of_an_answer_is_a_clock() {
        let instants =
            ["2024-05-01T10:00:07.200Z", "2024-05-01T10:00:07.400Z"].map(|text| text.parse().unwrap());
        let ahead_s = |date| ahead_s(instants, date).map(|ahead_s| (ahead_s * 10.0).round() / 10.0);
        assert_eq!(ahead_s("Wed, 01 May 2024 10:00:07 GMT"), Some(-0.2));
        assert_eq!(ahead_s("Wed, 01 May 2024 09:59:57 GMT"), Some(9.8));
        assert_eq!(ahead_s("today"), None);
    }

    #[test]
    fn a_message_is_a_line() {
        assert_eq!(
            message("400", Some("Bad Request"), "\nout of\x1b[1m order\nmore"),
            "status 400: out of[1m order"
        );
        assert_eq!(message("500", Some("Internal Server Error"), ""), "status 500: Internal Server Error");
        assert_eq!(message("599", None, ""), "status 599");
    }
}
