//! One connection: what it still has to send, and when.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

use facts::unit::Nanos;
use hdrhistogram::Histogram;
use rustix::io::Errno;

use super::response::{Response, ResponseReader};
use super::stream::Stream;
use crate::agenda::Turn;
use text::units::Span;

/// Bursts of one turn.
const BURSTS_A_TURN: usize = 16;

/// When packets are due, and how they go out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// The bytes of a packet.
    pub(super) size: usize,
    /// The interval of this connection's packets; none: as fast as they are taken.
    pub(super) interval_ns: Option<f64>,
    pub(super) answer: Answer,
    /// Packets that may go out at once.
    pub(super) burst: usize,
    /// How long a peer may take and return nothing; none: until the end.
    pub(super) patience: Option<Nanos>,
}

/// The answer that is waited for after each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    None,
    /// The packet again.
    Echo,
    /// The datagram again, which has its number in its first bytes. It may be lost.
    Datagram,
    /// A response of HTTP; one to HEAD has no body.
    Http {
        has_body: bool,
    },
}

/// The bytes of a datagram's number.
pub(crate) const NUMBER_BYTES: usize = 8;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: Stream,
    /// The connection is established, and the handshake of TLS is over.
    pub(super) is_connected: bool,
    /// Packets to be sent.
    quota: u64,
    /// When the first is due.
    begin: Nanos,
    /// Packets that have been given out to bursts.
    planned: u64,
    burst_left: usize,
    /// The place of the burst's first packet, and how many are in it.
    burst: (u64, u64),
    echo_left: usize,
    /// A response is waited for.
    awaits_response: bool,
    reader: ResponseReader,
    /// Datagrams that did not come back.
    pub(super) lost: u64,
    /// How many responses had which status.
    pub(super) statuses: BTreeMap<u16, u64>,
    /// When it will be asked again.
    armed: Option<Nanos>,
    /// Since when the peer has taken and returned nothing, and whether it was asked to be looked at again for that.
    pub(super) stalled: Option<(Nanos, bool)>,
    pub(super) bytes: u64,
    pub(super) first: Option<Nanos>,
    /// When the last packet was taken, or what came in return.
    pub(super) last: Option<Nanos>,
    /// Before the last piece of what is answered went out.
    sent_at: Option<Nanos>,
    /// Since when there is no connection to a server that was there before.
    pub(super) lost_at: Option<Nanos>,
    /// When it is looked for again.
    pub(super) next_attempt: Option<Nanos>,
}

impl Connection {
    pub(super) fn new(stream: Stream, quota: u64, begin: Nanos) -> Self {
        Self {
            stream,
            is_connected: false,
            quota,
            begin,
            planned: 0,
            burst_left: 0,
            burst: (0, 0),
            echo_left: 0,
            awaits_response: false,
            reader: ResponseReader::default(),
            lost: 0,
            statuses: BTreeMap::new(),
            armed: None,
            stalled: None,
            bytes: 0,
            first: None,
            last: None,
            sent_at: None,
            lost_at: None,
            next_attempt: None,
        }
    }

    /// Sends what is due, from memory whose content is of no matter.
    pub(super) fn turn(
        &mut self,
        schedule: &Schedule,
        content: &[u8],
        memory: &mut [u8],
        latency_ns: &mut Histogram<u64>,
    ) -> io::Result<Turn> {
        for _ in 0..BURSTS_A_TURN {
            if self.echo_left > 0 && !self.receive_echo(schedule, memory, latency_ns)? {
                match self.wait_for_peer(schedule) {
                    Err(error)
                        if schedule.answer == Answer::Datagram && error.kind() == ErrorKind::TimedOut =>
                    {
                        (self.lost, self.echo_left, self.stalled) = (self.lost + 1, 0, None);
                    }
                    turn => return turn,
                }
            }
            if self.awaits_response {
                match self.receive_response(schedule, memory, latency_ns)? {
                    None => return self.wait_for_peer(schedule),
                    Some(response) if response.is_last => return Ok(Turn::Reconnect),
                    Some(_) => {}
                }
            }
            if self.burst_left == 0 {
                match self.plan(schedule) {
                    None => return Ok(Turn::Over),
                    // This deadline has been reported: the socket gets its turn then.
                    Some(due) if due > Nanos(0) && self.armed == Some(due) => return Ok(Turn::Quiet),
                    Some(due) if due > Nanos(0) => {
                        self.armed = Some(due);
                        return Ok(Turn::Paused(due));
                    }
                    Some(_) => {}
                }
            }
            let content = match schedule.answer {
                Answer::Datagram => {
                    memory[..NUMBER_BYTES].copy_from_slice(&self.burst.0.to_le_bytes());
                    &memory[..schedule.size]
                }
                // The rest of a request is its end.
                _ => &content[content.len() - self.burst_left.min(content.len())..],
            };
            let is_answered = schedule.answer != Answer::None;
            // Before it goes out: a sender that waits for a CPU afterwards would make its peer faster than it is.
            let began = (is_answered || self.first.is_none()).then(probe::monotonic_now);
            let length = match self.stream.send(content) {
                Ok(length) => length,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return self.wait_for_peer(schedule),
                    ErrorKind::Interrupted => continue,
                    // The device's queue is full: once more, later.
                    _ if Errno::from_io_error(&error) == Some(Errno::NOBUFS) => {
                        return Ok(Turn::Paused(probe::monotonic_now() + Nanos(100_000)));
                    }
                    _ => return Err(error),
                },
            };
            self.stalled = None;
            self.bytes += length as u64;
            self.burst_left -= length.min(self.burst_left);
            self.first = self.first.or(began);
            (self.sent_at, self.last) = (began, began);
            let is_whole = self.burst_left == 0;
            match schedule.answer {
                Answer::Echo | Answer::Datagram if is_whole => self.echo_left = schedule.size,
                Answer::Http { .. } if is_whole => self.awaits_response = true,
                Answer::None => {
                    let now = probe::monotonic_now();
                    self.last = Some(now);
                    if is_whole && schedule.interval_ns.is_some() {
                        self.record(schedule, now, latency_ns);
                    }
                }
                _ => {}
            }
        }
        Ok(Turn::Ready)
    }

    /// Until the peer takes or returns something, or its time is over.
    pub(super) fn wait_for_peer(&mut self, schedule: &Schedule) -> io::Result<Turn> {
        let Some(patience) = schedule.patience else { return Ok(Turn::Quiet) };
        let now = probe::monotonic_now();
        let (since, is_armed) = *self.stalled.get_or_insert((now, false));
        if since + patience <= now {
            let what = match () {
                () if !self.is_connected => "made no connection",
                () if self.is_waiting() => "returned nothing",
                () => "took nothing",
            };
            let message = format!("the peer {what} for {} (see --timeout)", Span(patience));
            return Err(io::Error::new(ErrorKind::TimedOut, message));
        }
        self.stalled = Some((since, true));
        Ok(if is_armed { Turn::Quiet } else { Turn::Paused(since + patience) })
    }

    /// Makes the next burst. None where there is none, zero where it is due now.
    fn plan(&mut self, schedule: &Schedule) -> Option<Nanos> {
        let left = self.quota - self.planned;
        if left == 0 {
            return None;
        }
        let mut count = if schedule.answer != Answer::None { 1 } else { (schedule.burst as u64).min(left) };
        if let Some(interval_ns) = schedule.interval_ns {
            let (due, now) = (self.due(self.planned, interval_ns), probe::monotonic_now());
            if due > now {
                return Some(due);
            }
            // A connection that is late sends everything that was due.
            let late = ((now.0 - due.0) as f64 / interval_ns) as u64 + 1;
            count = count.min(late);
        }
        self.burst = (self.planned, count);
        self.planned += count;
        self.burst_left = count as usize * schedule.size;
        Some(Nanos(0))
    }

    fn due(&self, place: u64, interval_ns: f64) -> Nanos {
        self.begin + Nanos((place as f64 * interval_ns) as u64)
    }

    /// Waits for the echo. Whether it is whole.
    fn receive_echo(
        &mut self,
        schedule: &Schedule,
        memory: &mut [u8],
        latency_ns: &mut Histogram<u64>,
    ) -> io::Result<bool> {
        while self.echo_left > 0 {
            // Of a datagram that is longer than what is looked for, the rest would be lost.
            let limit = if schedule.answer == Answer::Datagram {
                memory.len()
            } else {
                self.echo_left.min(memory.len())
            };
            match self.stream.receive(&mut memory[..limit]) {
                Ok(length) if schedule.answer == Answer::Datagram => {
                    // An earlier one may come when it is not waited for any more.
                    let is_own =
                        length == schedule.size && memory[..NUMBER_BYTES] == self.burst.0.to_le_bytes();
                    if is_own {
                        (self.echo_left, self.stalled) = (0, None);
                    }
                }
                Ok(0) => {
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, "it ended before its echo came"));
                }
                Ok(length) => {
                    self.echo_left -= length;
                    self.stalled = None;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let now = probe::monotonic_now();
        self.last = Some(now);
        self.record(schedule, now, latency_ns);
        Ok(true)
    }

    /// Waits for the response; `None` if it is not whole.
    fn receive_response(
        &mut self,
        schedule: &Schedule,
        memory: &mut [u8],
        latency_ns: &mut Histogram<u64>,
    ) -> io::Result<Option<Response>> {
        loop {
            let response = match self.stream.receive(memory) {
                Ok(0) => match self.reader.close() {
                    Some(response) => Some(response),
                    None => {
                        let error = ErrorKind::UnexpectedEof;
                        return Err(io::Error::new(error, "it ended before its answer was whole"));
                    }
                },
                Ok(length) => {
                    self.stalled = None;
                    self.reader.take(&memory[..length], schedule.answer == Answer::Http { has_body: true })?
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if let Some(response) = response {
                self.awaits_response = false;
                *self.statuses.entry(response.status).or_default() += 1;
                let now = probe::monotonic_now();
                self.record(schedule, now, latency_ns);
                self.last = Some(now);
                return Ok(Some(response));
            }
        }
    }

    /// Goes on over another stream.
    pub(super) fn reconnect(&mut self, stream: Stream) {
        self.stream = stream;
        self.reader = ResponseReader::default();
        // What was asked over the other one is answered, or has failed.
        self.awaits_response = false;
        self.burst_left = 0;
        self.stalled = None;
        self.armed = None;
    }

    /// Returns true if something in return is waited for.
    pub(super) fn is_waiting(&self) -> bool {
        self.awaits_response || self.echo_left > 0
    }

    /// Returns true if something in return is missing at the end. A response that was asked for within the last second is not: it was not
    /// given the time, if others came before.
    pub(super) fn is_overdue(&self, schedule: &Schedule, now: Nanos) -> bool {
        let had_time = self.sent_at.is_none_or(|sent_at| sent_at + Nanos::SECOND <= now);
        let is_cut_off =
            matches!(schedule.answer, Answer::Http { .. }) && !self.statuses.is_empty() && !had_time;
        self.is_waiting() && !is_cut_off
    }

    /// Returns true if there is nothing more to be sent.
    pub(super) fn is_done(&self) -> bool {
        self.planned >= self.quota
    }

    /// From when each packet of the burst should have gone out: what was held up by those before it waited, too. Without a
    /// rate from when it did.
    fn record(&self, schedule: &Schedule, now: Nanos, latency_ns: &mut Histogram<u64>) {
        let (first, count) = self.burst;
        for place in first..first + count {
            let began = match schedule.interval_ns {
                Some(interval_ns) => self.due(place, interval_ns),
                None => self.sent_at.unwrap_or(now),
            };
            latency_ns.saturating_record(now.saturating_sub(began).0.max(1));
        }
    }
}
