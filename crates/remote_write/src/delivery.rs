//! Requests to a receiver, and what its answers mean.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use formats::remote_write;
use formats::series_name::SeriesName;
use http_client::{Client, client, described};

use crate::options::ReceiverOptions;
use crate::samples::NextSamples;

/// The most samples of a request.
const MOST_SAMPLES: usize = 10_000;
/// The most of an answer that is read, in bytes, and of its text that is shown, in letters.
const MOST_ANSWER_BYTES: u64 = 4096;
const MOST_SHOWN: usize = 200;
/// The longest pause that a receiver can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A series that was refused in so many shipments one after another is set aside for a time.
const MOST_REFUSALS: u32 = 3;
const ASIDE: Duration = Duration::from_secs(600);

/// Why a request is made again later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Later {
    pub(crate) message: String,
    /// The receiver was not reached: it may have ended, and lost what it had not written.
    pub(crate) is_unreached: bool,
    /// As the receiver wants it.
    pub(crate) after: Option<Duration>,
}

/// Samples of a series of a shipment.
#[derive(Clone, Debug)]
struct Piece {
    series: usize,
    samples: Range<usize>,
}

/// Samples on their way to a receiver. It stays the same until all are taken or refused, however often that is tried: a request that is made
/// again has the same samples.
#[derive(Debug)]
pub(crate) struct Shipment {
    series: Vec<NextSamples>,
    /// The requests that are to be made, the next one last.
    waiting: Vec<Vec<Piece>>,
    pub(crate) requests_count: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) taken_count: u64,
    /// What was refused: the place of the series, how many samples, and what the receiver said.
    refused: Vec<(usize, usize, String)>,
}

impl Shipment {
    /// Series that were refused before go in a request of their own, so that they hold up no other; those that are set aside do not go.
    pub(crate) fn new(series: Vec<NextSamples>, suspects: &Suspects) -> Self {
        let (mut usual, mut others, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (place, one) in series.iter().enumerate() {
            let piece = Piece { series: place, samples: 0..one.samples.len() };
            match suspects.known.get(&one.name) {
                None => usual.push(piece),
                Some(suspect) if suspect.is_aside() => {
                    refused.push((place, one.samples.len(), suspect.message.clone()));
                }
                Some(_) => others.push(piece),
            }
        }
        let mut waiting = requests_of(others);
        waiting.extend(requests_of(usual));
        Self { series, waiting, requests_count: 0, sent_bytes: 0, taken_count: 0, refused }
    }

    /// Returns whether all are taken or refused.
    pub(crate) fn is_over(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The refused series, each with the number of its samples and what the receiver said.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&SeriesName, u64, &str)> {
        self.refused
            .iter()
            .map(|(place, count, message)| (&self.series[*place].name, *count as u64, message.as_str()))
    }

    /// Divides a request that was refused; one of one sample is over.
    fn divide(&mut self, pieces: Vec<Piece>, message: &str) {
        let [first, last] = match &pieces[..] {
            [one] if one.samples.len() < 2 => {
                self.refused.push((one.series, one.samples.len(), message.to_owned()));
                return;
            }
            [one] => {
                let middle = one.samples.start + one.samples.len() / 2;
                let part = |samples| vec![Piece { series: one.series, samples }];
                [part(one.samples.start..middle), part(middle..one.samples.end)]
            }
            _ => {
                let (first, last) = pieces.split_at(pieces.len() / 2);
                [first.to_vec(), last.to_vec()]
            }
        };
        // The earlier samples first.
        self.waiting.extend([last, first]);
    }
}

/// Divides pieces into requests, the first one last.
fn requests_of(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut requests: Vec<Vec<Piece>> = Vec::new();
    let mut count = MOST_SAMPLES;
    for piece in pieces {
        count += piece.samples.len();
        match requests.last_mut() {
            Some(last) if count <= MOST_SAMPLES => last.push(piece),
            _ => {
                count = piece.samples.len();
                requests.push(vec![piece]);
            }
        }
    }
    requests.reverse();
    requests
}

/// Series that a receiver refused.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    known: HashMap<SeriesName, Suspect>,
}

#[derive(Debug)]
struct Suspect {
    /// Shipments in which it was refused, one after another.
    refusals: u32,
    refused_at: Instant,
    message: String,
}

impl Suspect {
    /// After a time it is tried again.
    fn is_aside(&self) -> bool {
        self.refusals >= MOST_REFUSALS && self.refused_at.elapsed() < ASIDE
    }
}

impl Suspects {
    /// Learns from a shipment that is over.
    pub(crate) fn learn(&mut self, shipment: &Shipment) {
        let refused: HashMap<usize, &str> =
            shipment.refused.iter().map(|(place, _, message)| (*place, message.as_str())).collect();
        for (place, NextSamples { name, .. }) in shipment.series.iter().enumerate() {
            match (refused.get(&place), self.known.get_mut(name)) {
                (None, None) => {}
                (None, Some(_)) => {
                    self.known.remove(name);
                }
                // It was not sent.
                (Some(_), Some(suspect)) if suspect.is_aside() => {}
                (Some(message), known) => {
                    let refusals = 1 + known.map_or(0, |suspect| suspect.refusals);
                    let (refused_at, message) = (Instant::now(), (*message).to_owned());
                    self.known.insert(name.clone(), Suspect { refusals, refused_at, message });
                }
            }
        }
    }
}

/// The meaning of an answer.
enum Answer {
    Taken,
    /// Something about the samples is wrong.
    Refused(String),
}

/// The way to a receiver.
#[derive(Debug)]
pub(crate) struct Delivery {
    client: Client,
    url: String,
    headers: Vec<(String, String)>,
}

impl Delivery {
    pub(crate) fn new(options: &ReceiverOptions) -> Self {
        // A redirect would send credentials elsewhere.
        let client = client(options.timeout, 0);
        Self { client, url: options.url.clone(), headers: options.headers.clone() }
    }

    /// Makes the next request of a shipment, which is divided if the receiver refuses it.
    ///
    /// # Errors
    /// If the receiver cannot be reached or wants it later.
    pub(crate) fn send_next(&self, shipment: &mut Shipment) -> Result<(), Later> {
        let Some(pieces) = shipment.waiting.pop() else { return Ok(()) };
        let series = pieces.iter().map(|piece| {
            let NextSamples { name, samples } = &shipment.series[piece.series];
            (name, &samples[piece.samples.clone()])
        });
        let Some(body) = remote_write::encode(series) else {
            shipment.divide(pieces, "larger than snappy can be");
            return Ok(());
        };
        match self.post(&body) {
            Ok(Answer::Taken) => {
                shipment.requests_count += 1;
                shipment.sent_bytes += body.len() as u64;
                shipment.taken_count += pieces.iter().map(|piece| piece.samples.len() as u64).sum::<u64>();
                Ok(())
            }
            Ok(Answer::Refused(message)) => {
                shipment.divide(pieces, &message);
                Ok(())
            }
            Err(later) => {
                shipment.waiting.push(pieces);
                Err(later)
            }
        }
    }

    fn post(&self, body: &[u8]) -> Result<Answer, Later> {
        let mut request = self.client.post(&self.url);
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in remote_write::HEADERS.into_iter().chain(own) {
            request = request.header(name, value);
        }
        let unreached =
            |error: &http_client::Error| Later { message: described(error), is_unreached: true, after: None };
        let mut response = request.send(body).map_err(|error| unreached(&error))?;
        let status = response.status();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let after = after.map(|after| after.min(LONGEST_PAUSE));
        // Read to its end, so that the connection is used again; the rest of a longer one is not waited for.
        let text =
            response.body_mut().with_config().limit(MOST_ANSWER_BYTES).lossy_utf8(true).read_to_string();
        if status.is_success() {
            return Ok(Answer::Taken);
        }
        let message = message(status.as_str(), status.canonical_reason(), &text.unwrap_or_default());
        match status.as_u16() {
            // Conflict is Thanos' word for samples that are older than others.
            400 | 409 | 413 | 422 => Ok(Answer::Refused(message)),
            _ => Err(Later { message, is_unreached: false, after }),
        }
    }
}

/// What a receiver said, in a line.
fn message(status: &str, reason: Option<&str>, text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let line: String = line.chars().filter(|letter| !letter.is_control()).take(MOST_SHOWN).collect();
    let reason = if line.is_empty() { reason.unwrap_or_default() } else { &line };
    format!("status {status}: {reason}").trim_end_matches([':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, count: usize) -> NextSamples {
        let samples = (0..count).map(|at_ms| (at_ms as i64, 1.0)).collect();
        NextSamples { name: SeriesName::new(name), samples }
    }

    /// Sends a shipment to a receiver that takes no sample of these series, and at most so many in a request.
    fn send(shipment: &mut Shipment, bad: &[&str], most: usize) -> usize {
        let mut requests = 0;
        while let Some(pieces) = shipment.waiting.pop() {
            requests += 1;
            let count: usize = pieces.iter().map(|piece| piece.samples.len()).sum();
            let is_bad = |piece: &Piece| bad.contains(&shipment.series[piece.series].name.metric());
            if count > most || pieces.iter().any(is_bad) {
                shipment.divide(pieces, "status 400: bad");
            } else {
                shipment.taken_count += count as u64;
            }
        }
        requests
    }

    #[test]
    fn the_bad_series_stands_alone_and_all_else_is_taken() {
        let all: Vec<NextSamples> = (0..100).map(|number| series(&format!("m{number}"), 4)).collect();
        let mut suspects = Suspects::default();
        let mut shipment = Shipment::new(all.clone(), &suspects);
        let requests = send(&mut shipment, &["m37"], usize::MAX);
        assert_eq!((shipment.taken_count, shipment.refused().count()), (99 * 4, 4));
        assert!(requests < 30, "{requests}");
        suspects.learn(&shipment);
        // It is alone from now on.
        let mut shipment = Shipment::new(all.clone(), &suspects);
        assert_eq!(send(&mut shipment, &["m37"], usize::MAX), 1 + 7);
        suspects.learn(&shipment);
        let mut shipment = Shipment::new(all.clone(), &suspects);
        send(&mut shipment, &["m37"], usize::MAX);
        suspects.learn(&shipment);
        // Then it is set aside.
        let mut shipment = Shipment::new(all.clone(), &suspects);
        assert_eq!(send(&mut shipment, &["m37"], usize::MAX), 1);
        let refused: Vec<_> = shipment.refused().collect();
        assert_eq!((refused[0].0.metric(), refused[0].1, refused[0].2), ("m37", 4, "status 400: bad"));
        // One that is taken again is like all others.
        suspects.known.values_mut().for_each(|suspect| suspect.refusals = 1);
        let mut shipment = Shipment::new(all, &suspects);
        send(&mut shipment, &[], usize::MAX);
        suspects.learn(&shipment);
        assert!(suspects.known.is_empty());
    }

    #[test]
    fn a_request_has_no_more_than_a_receiver_takes() {
        let all = vec![series("a", 6_000), series("b", 6_000), series("c", 1)];
        let mut shipment = Shipment::new(all, &Suspects::default());
        assert_eq!(shipment.waiting.len(), 2);
        send(&mut shipment, &[], 1000);
        assert!(shipment.is_over());
        assert_eq!((shipment.taken_count, shipment.refused().count()), (12_001, 0));
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
