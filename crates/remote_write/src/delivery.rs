//! Requests to a receiver, and what its answers mean.

use std::time::Duration;

use formats::remote_write::{SAMPLES_WRITTEN, Version, encode};
use history::past::metadata;
use http_client::{Client, client_with, described};
use jiff::{SignedDuration, Timestamp};

use crate::options::ReceiverOptions;
use crate::shipment::{Refusal, Shipment};

/// The most of an answer that is read, in bytes, and of its text that is shown, in letters.
const MAX_ANSWER_BYTES: u64 = 4096;
const MAX_SHOWN: usize = 200;
/// The longest pause that a receiver can ask for.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The longest request by which the receiver's clock is read.
const MAX_TO_SET_BY: SignedDuration = SignedDuration::from_secs(1);

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
    /// How many samples were written, if the receiver says that.
    Taken(Option<u64>),
    Refused(Refusal),
    /// It does not know this version of the protocol, and has found nothing in the request.
    NotUnderstood,
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
    /// How far the clock here is ahead of the receiver's, in seconds, by the date of its last answer.
    pub(crate) clock_ahead_s: Option<f64>,
}

impl Delivery {
    pub(crate) fn new(options: &ReceiverOptions) -> Self {
        // A redirect would send credentials elsewhere.
        let client = client_with(options.timeout, 0, &options.tls);
        let (url, headers) = (options.url.clone(), options.headers.clone());
        let version = options.version;
        Self { client, url, headers, chosen_version: version, version, clock_ahead_s: None }
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
        match self.post(version, &body) {
            // Another program is behind the address now, and has understood nothing of it.
            Ok(Answer::NotUnderstood) => {
                shipment.put_back(request);
                self.version = Some(Version::One);
                Ok(())
            }
            Ok(Answer::Taken(written)) => {
                shipment.take(&request, body.len(), written);
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
    fn negotiated(&mut self) -> Result<Version, Later> {
        if let Some(version) = self.version {
            return Ok(version);
        }
        let nothing = encode(Version::Two, std::iter::empty(), metadata).unwrap_or_default();
        let version = match self.post(Version::Two, &nothing)? {
            Answer::Taken(_) => Version::Two,
            Answer::Refused(_) | Answer::NotUnderstood => Version::One,
        };
        self.version = Some(version);
        Ok(version)
    }

    fn post(&mut self, version: Version, body: &[u8]) -> Result<Answer, Later> {
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
        let date = response.headers().get("date").and_then(|value| value.to_str().ok());
        self.clock_ahead_s = date.and_then(|date| ahead_s([begun, ended], date)).or(self.clock_ahead_s);
        let status = response.status();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = after.and_then(|text| pause_of(text, ended));
        let after = after.map(|after| after.min(MAX_PAUSE));
        let written = response.headers().get(SAMPLES_WRITTEN).and_then(|value| value.to_str().ok());
        let written = written.and_then(|value| value.trim().parse().ok());
        // Read to its end, so that the connection is used again; the rest of a longer one is not waited for.
        let text =
            response.body_mut().with_config().limit(MAX_ANSWER_BYTES).lossy_utf8(true).read_to_string();
        if status.is_success() {
            return Ok(match version {
                Version::Two if written.is_none() => Answer::NotUnderstood,
                _ => Answer::Taken(written),
            });
        }
        let message = message(status.as_str(), status.canonical_reason(), &text.unwrap_or_default());
        match status.as_u16() {
            // Conflict is Thanos' word for samples that are older than others.
            400 | 409 | 413 | 422 => {
                Ok(Answer::Refused(Refusal { message, is_too_large: status.as_u16() == 413 }))
            }
            415 if version == Version::Two => Ok(Answer::NotUnderstood),
            status => {
                let is_unreached = matches!(status, 502 | 504);
                Err(Later { message, is_unreached, refuses_all: false, after })
            }
        }
    }
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
