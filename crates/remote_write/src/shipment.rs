//! Samples on their way to a receiver, and the series that it refuses.

use std::collections::HashMap;
use std::ops::Range;

use formats::series_name::SeriesName;

use crate::fate::{Fate, Refusal, is_late};
use crate::samples::NextSamples;
use crate::suspects::Suspects;
use crate::whole_refusal::WholeRefusal;

/// The most samples of a request.
const MAX_SAMPLES: usize = 10_000;
/// So many series are refused one by one while nothing is taken: then the trouble is the receiver's, not theirs.
const MAX_ALONE: usize = 20;
/// The most requests of a shipment that may be refused; what is left of these is refused as it is.
const MAX_REFUSED: usize = 1000;
/// So many series of a request are too late one by one while nothing of it is taken: then the answer to it was lost.
const MAX_LATE: usize = 100;

/// Samples of a series of a shipment.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    series: usize,
    samples: Range<usize>,
}

/// A request that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The place of the request that it is a part of, among those that were to be made at first.
    root: usize,
    pieces: Vec<Piece>,
}

/// Samples on their way to a receiver. It stays the same until all are taken or refused, however often that is tried: a request that is made
/// again has the same samples.
#[derive(Debug)]
pub(crate) struct Shipment {
    series: Vec<NextSamples>,
    /// The requests that are to be made, the next one last.
    waiting: Vec<Request>,
    /// Those that were to be made at first, and what became of each.
    first: Vec<Request>,
    fates: Vec<Fate>,
    /// The receiver takes samples of other origins. If it refuses these, the reason is in them, and not in the receiver.
    is_receiver_fine: bool,
    /// After an outage it is to be seen anew for how long it is refused.
    pub(crate) whole_refusal: Option<WholeRefusal>,
    /// Requests that were refused.
    refused_requests: usize,
    pub(crate) requests_count: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) taken_count: u64,
    /// Samples of requests that were taken, which the receiver has not written, as it says, and what it said last.
    pub(crate) unwritten_count: u64,
    pub(crate) unwritten_message: String,
    /// What was refused: the place of the series, how many samples, and what the receiver said. The first of them were not sent.
    refused: Vec<(usize, usize, String)>,
    aside: usize,
}

impl Shipment {
    /// Series that were refused before go in a request of their own, so that they hold up no other; those that are set aside do not go.
    pub(crate) fn new(series: Vec<NextSamples>, suspects: &Suspects) -> Self {
        let (mut usual, mut others, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (place, one) in series.iter().enumerate() {
            let piece = Piece { series: place, samples: 0..one.samples.len() };
            match suspects.get(&one.name) {
                None => usual.push(piece),
                Some(suspect) if suspect.is_aside() => {
                    refused.push((place, one.samples.len(), suspect.message.clone()));
                }
                Some(_) => others.push(piece),
            }
        }
        let mut requests = requests_of(others);
        requests.extend(requests_of(usual));
        let first: Vec<Request> =
            requests.into_iter().enumerate().map(|(root, pieces)| Request { root, pieces }).collect();
        Self {
            series,
            fates: vec![Fate::default(); first.len()],
            waiting: first.clone(),
            first,
            is_receiver_fine: false,
            whole_refusal: None,
            refused_requests: 0,
            requests_count: 0,
            sent_bytes: 0,
            taken_count: 0,
            unwritten_count: 0,
            unwritten_message: String::new(),
            aside: refused.len(),
            refused,
        }
    }

    /// Takes out the next request; `None`: there is none.
    pub(crate) fn next(&mut self) -> Option<Request> {
        self.waiting.pop()
    }

    /// The series of a request, each with its samples.
    pub(crate) fn samples<'s>(
        &'s self,
        request: &'s Request,
    ) -> impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])> {
        request.pieces.iter().map(|piece| {
            let NextSamples { name, samples } = &self.series[piece.series];
            (name, &samples[piece.samples.clone()])
        })
    }

    /// Counts a request that was taken, of so many bytes. `written` is how many of its samples the receiver has written, if it says that, and
    /// `message` why the others were not.
    pub(crate) fn take(&mut self, request: &Request, bytes: usize, written: Option<u64>, message: &str) {
        self.requests_count += 1;
        self.sent_bytes += bytes as u64;
        self.fates[request.root].is_taken = true;
        let sent = request.pieces.iter().map(|piece| piece.samples.len() as u64).sum::<u64>();
        let taken = written.map_or(sent, |written| written.min(sent));
        self.taken_count += taken;
        self.unwritten_count += sent - taken;
        if taken < sent {
            message.clone_into(&mut self.unwritten_message);
        }
    }

    /// Puts back a request that is to be made again.
    pub(crate) fn put_back(&mut self, request: Request) {
        // Whether it takes others, and refuses these for long, is to be seen anew after an outage.
        (self.is_receiver_fine, self.whole_refusal) = (false, None);
        self.waiting.push(request);
    }

    /// Takes note that the receiver takes samples of others. That counts when this shipment was refused for long enough.
    pub(crate) fn set_receiver_fine(&mut self) {
        self.is_receiver_fine = self.whole_refusal.is_none_or(|refusal| refusal.is_for_long());
    }

    /// Returns whether it was refused as a whole for the first time.
    pub(crate) fn is_newly_refused(&self) -> bool {
        self.whole_refusal.is_some_and(|one| one.is_first())
    }

    /// Returns whether it may be tried again after it was refused as a whole.
    pub(crate) fn may_be_tried(&self) -> bool {
        self.whole_refusal.is_none_or(|one| one.may_be_tried())
    }

    /// Returns whether the receiver takes samples of others.
    pub(crate) fn is_receiver_fine(&self) -> bool {
        self.is_receiver_fine
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

    /// Lets suspects learn from a shipment that is over.
    pub(crate) fn teach(&self, suspects: &mut Suspects) {
        // Where nothing was taken it is not about single series, unless others' are. What goes out again may be late, and not what follows.
        if self.taken_count == 0 && !self.is_receiver_fine {
            return;
        }
        let refused: HashMap<usize, &str> =
            self.refused.iter().map(|(place, _, message)| (*place, message.as_str())).collect();
        let series = self.series.iter().enumerate();
        suspects.learn(series.map(|(place, one)| (&one.name, refused.get(&place).copied())));
    }

    /// Divides a request that was refused. A series that stands alone is refused; one that is too large is divided itself.
    ///
    /// # Errors
    /// If all is refused: then it is the receiver's trouble, and the shipment begins again.
    pub(crate) fn divide(&mut self, request: Request, answer: &Refusal) -> Result<(), String> {
        self.refused_requests += 1;
        let Request { root, pieces } = request;
        // The receiver had so much of it that the answer to it must have been lost: what is left of it is refused without being divided.
        let Fate { is_taken, late, .. } = self.fates[root];
        let is_known = !is_taken && late >= MAX_LATE && is_late(&answer.message);
        let halves = match &pieces[..] {
            [one] if answer.is_too_large && one.samples.len() > 1 => {
                let middle = one.samples.start + one.samples.len() / 2;
                let part = |samples| vec![Piece { series: one.series, samples }];
                Some([part(one.samples.start..middle), part(middle..one.samples.end)])
            }
            [_] => None,
            _ => {
                let (first, last) = pieces.split_at(pieces.len() / 2);
                Some([first.to_vec(), last.to_vec()])
            }
        };
        match halves.filter(|_| !is_known && self.refused_requests <= MAX_REFUSED) {
            // The earlier samples first.
            Some(halves) => {
                self.waiting.extend(halves.into_iter().rev().map(|pieces| Request { root, pieces }))
            }
            None => self.refuse(root, &pieces, &answer.message),
        }
        let in_vain: usize = self.fates.iter().map(|fate| fate.refused - fate.late).sum();
        if self.taken_count > 0 || self.is_receiver_fine || in_vain < MAX_ALONE {
            return Ok(());
        }
        self.whole_refusal = Some(WholeRefusal::after(self.whole_refusal));
        self.refused.truncate(self.aside);
        self.fates.fill(Fate::default());
        self.unwritten_count = 0;
        (self.waiting, self.refused_requests) = (self.first.clone(), 0);
        Err(format!("it refuses everything: {}", answer.message))
    }

    fn refuse(&mut self, root: usize, pieces: &[Piece], message: &str) {
        let fate = &mut self.fates[root];
        fate.refused += pieces.len();
        fate.late += if is_late(message) { pieces.len() } else { 0 };
        let refused = pieces.iter().map(|piece| (piece.series, piece.samples.len(), message.to_owned()));
        self.refused.extend(refused);
    }
}

/// Divides pieces into requests, the first one last.
fn requests_of(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut requests: Vec<Vec<Piece>> = Vec::new();
    let mut count = MAX_SAMPLES;
    for piece in pieces {
        count += piece.samples.len();
        match requests.last_mut() {
            Some(last) if count <= MAX_SAMPLES => last.push(piece),
            _ => {
                count = piece.samples.len();
                requests.push(vec![piece]);
            }
        }
    }
    requests.reverse();
    requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suspects::MAX_REFUSALS;

    fn series(name: &str, count: usize) -> NextSamples {
        let samples = (0..count).map(|at_ms| (at_ms as i64, 1.0)).collect();
        NextSamples { name: SeriesName::new(name), samples }
    }

    const LATE_MESSAGE: &str = "status 400: out of order sample";

    /// Sends a shipment to a receiver that takes no sample of these series, and at most so many in a request. Returns how many requests it was
    /// asked.
    fn send(shipment: &mut Shipment, bad: &[&str], most: usize, message: &str) -> Result<usize, String> {
        send_by(shipment, most, |name| (bad.contains(&name) || bad == ["*"]).then_some(message))
    }

    /// Sends a shipment to a receiver that has a fault to find with some series, and takes at most so many samples in a request.
    fn send_by<'m>(
        shipment: &mut Shipment,
        most: usize,
        fault: impl Fn(&str) -> Option<&'m str>,
    ) -> Result<usize, String> {
        let mut requests = 0;
        while let Some(request) = shipment.waiting.pop() {
            requests += 1;
            let pieces = &request.pieces;
            let count: usize = pieces.iter().map(|piece| piece.samples.len()).sum();
            let is_too_large = count > most;
            let found = pieces.iter().find_map(|piece| fault(shipment.series[piece.series].name.metric()));
            match found.or(is_too_large.then_some("too large")) {
                Some(message) => {
                    shipment.divide(request, &Refusal { message: message.to_owned(), is_too_large })?;
                }
                None => shipment.take(&request, 1, None, ""),
            }
        }
        Ok(requests)
    }

    fn many(count: usize, samples: usize) -> Vec<NextSamples> {
        (0..count).map(|number| series(&format!("m{number}"), samples)).collect()
    }

    #[test]
    fn the_bad_series_stands_alone_and_all_else_is_taken() {
        let send = |shipment: &mut Shipment| send(shipment, &["m37"], usize::MAX, "bad").unwrap();
        let mut suspects = Suspects::default();
        let mut shipment = Shipment::new(many(100, 4), &suspects);
        let requests = send(&mut shipment);
        assert_eq!((shipment.taken_count, shipment.refused().count()), (99 * 4, 1));
        assert!(requests < 20, "{requests}");
        shipment.teach(&mut suspects);
        assert_eq!(suspects.first(), Some(("m37".to_owned(), "bad")));
        // It is alone from now on.
        for _ in 0..2 {
            let mut shipment = Shipment::new(many(100, 4), &suspects);
            assert_eq!(send(&mut shipment), 2);
            shipment.teach(&mut suspects);
        }
        // Then it is set aside.
        let mut shipment = Shipment::new(many(100, 4), &suspects);
        assert_eq!(send(&mut shipment), 1);
        let refused: Vec<_> = shipment.refused().collect();
        assert_eq!((refused[0].0.metric(), refused[0].1, refused[0].2), ("m37", 4, "bad"));
        // One that is taken again is like all others.
        suspects.known.values_mut().for_each(|suspect| suspect.refusals = 1);
        let mut shipment = Shipment::new(many(100, 4), &suspects);
        super::tests::send(&mut shipment, &[], usize::MAX, "").unwrap();
        shipment.teach(&mut suspects);
        assert!(suspects.known.is_empty());
    }

    #[test]
    fn a_receiver_that_refuses_everything_is_in_trouble() {
        let mut suspects = Suspects::default();
        let mut shipment = Shipment::new(many(100, 4), &suspects);
        assert_eq!(
            send(&mut shipment, &["*"], usize::MAX, "closed").unwrap_err(),
            "it refuses everything: closed"
        );
        // Nothing is lost.
        shipment.teach(&mut suspects);
        assert!(suspects.known.is_empty() && shipment.refused().count() == 0);
        assert_eq!(send(&mut shipment, &[], usize::MAX, ""), Ok(1));
        assert_eq!(shipment.taken_count, 400);
        // One that has all of it already says so.
        let mut shipment = Shipment::new(many(500, 4), &suspects);
        let requests = send(&mut shipment, &["*"], usize::MAX, LATE_MESSAGE).unwrap();
        assert!(requests < 2 * MAX_LATE + 20, "{requests}");
        assert_eq!((shipment.taken_count, shipment.refused().count()), (0, 500));
        // Few series of many samples are in several requests.
        let mut shipment = Shipment::new(many(2 * MAX_ALONE - 10, 600), &suspects);
        assert_eq!(shipment.waiting.len(), 2);
        assert!(send(&mut shipment, &["*"], usize::MAX, "closed").is_err());
        assert_eq!(shipment.refused().count(), 0);
    }

    #[test]
    fn a_late_series_hides_no_trouble_of_the_receiver() {
        let mut shipment = Shipment::new(many(100, 4), &Suspects::default());
        let outcome = send_by(&mut shipment, usize::MAX, |name| match name {
            "m0" => Some(LATE_MESSAGE),
            _ => Some("too many series"),
        });
        assert_eq!(outcome.unwrap_err(), "it refuses everything: too many series");
        assert_eq!((shipment.waiting.len(), shipment.refused().count()), (1, 0));
    }

    #[test]
    fn what_a_receiver_has_already_says_nothing_of_the_next_request() {
        let mut shipment = Shipment::new(many(400, 50), &Suspects::default());
        assert_eq!(shipment.waiting.len(), 2);
        let had: Vec<String> = (0..200).map(|number| format!("m{number}")).collect();
        let had: Vec<&str> = had.iter().map(String::as_str).collect();
        let requests = send(&mut shipment, &had, usize::MAX, LATE_MESSAGE).unwrap();
        assert_eq!((shipment.taken_count, shipment.refused().count()), (200 * 50, 200));
        assert!(requests < 2 * MAX_LATE + 20, "{requests}");
        // Nor of the rest of the same one.
        let mut shipment = Shipment::new(many(100, 4), &Suspects::default());
        let mut late = had[..MAX_ALONE + 1].to_vec();
        late.push("m24");
        send(&mut shipment, &late, usize::MAX, LATE_MESSAGE).unwrap();
        assert_eq!(shipment.taken_count, 4 * (100 - late.len() as u64));
    }

    #[test]
    fn a_receiver_that_takes_others_is_in_no_trouble() {
        let mut suspects = Suspects::default();
        for _ in 0..MAX_REFUSALS {
            let mut shipment = Shipment::new(many(100, 4), &suspects);
            assert!(shipment.may_be_tried());
            assert!(send(&mut shipment, &["*"], usize::MAX, "too many labels").is_err());
            assert!(!shipment.may_be_tried());
            // A limit of the receiver may be raised.
            shipment.set_receiver_fine();
            assert!(!shipment.is_receiver_fine());
            assert!(send(&mut shipment, &["*"], usize::MAX, "too many labels").is_err());
            shipment.whole_refusal.as_mut().unwrap().let_time_pass();
            shipment.set_receiver_fine();
            send(&mut shipment, &["*"], usize::MAX, "too many labels").unwrap();
            assert_eq!((shipment.taken_count, shipment.refused().count()), (0, 100));
            shipment.teach(&mut suspects);
        }
        // All are set aside for a time.
        assert!(Shipment::new(many(100, 4), &suspects).is_over());
    }

    #[test]
    fn a_request_has_no_more_than_a_receiver_takes() {
        let all = vec![series("a", 6_000), series("b", 6_000), series("c", 1)];
        let mut shipment = Shipment::new(all, &Suspects::default());
        assert_eq!(shipment.waiting.len(), 2);
        send(&mut shipment, &[], 1000, "too large").unwrap();
        assert!(shipment.is_over());
        assert_eq!((shipment.taken_count, shipment.refused().count()), (12_001, 0));
    }
}
