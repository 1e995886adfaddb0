//! One thread of a sender, and its connections.

use command::failure::without_error_numbers;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use facts::unit::Nanos;
use rustix::net::{getpeername, sockopt};

use super::connection::{Answer, Connection, Schedule};
use super::options::SendOptions;
use super::sent::Sent;
use super::stream::Stream;
use crate::address::Patience;
use crate::agenda::{Agenda, Turn};
use crate::event_loop::EventLoop;
use crate::render::push_live;
use command::failure::{Failure, write_stderr_if_ready};

/// The bytes that go out at once, where that is possible.
const BURST_BYTES: usize = 256 << 10;
/// The kernel cuts no more datagrams from one piece than this, nor a longer piece.
const SEGMENTS: usize = 64;
const DATAGRAM_BYTES: usize = 65_507;
/// Between the connections' beginnings and the first packet, so that all are there.
const HEAD_START: Nanos = Nanos(1_000_000);

/// Until a server that went away is looked for again.
const RECONNECT_PAUSE: Nanos = Nanos(100_000_000);

/// A thread's.
pub(super) struct Worker<'a> {
    event_loop: EventLoop,
    options: &'a SendOptions,
    schedule: Schedule,
    connections: Vec<Option<Connection>>,
    living: usize,
    agenda: Agenda,
    content: Vec<u8>,
    memory: Vec<u8>,
    sent: Sent,
    packets: &'a AtomicU64,
    /// Datagrams are cut from one piece.
    is_cut_by_kernel: bool,
}

fn is_uncuttable(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::MSGSIZE | Errno::IO))
}

impl<'a> Worker<'a> {
    /// With every `threads`th of the connections.
    pub(super) fn new(
        mut event_loop: EventLoop,
        options: &'a SendOptions,
        places: Range<usize>,
        threads: usize,
        packets: &'a AtomicU64,
    ) -> Result<Self, Failure> {
        let size = options.size;
        let is_one = options.request.is_some() || options.answer == Answer::Datagram;
        let mut burst = if is_one { 1 } else { (BURST_BYTES / size).max(1) };
        let mut connections = Vec::new();
        let begin = probe::monotonic_now() + HEAD_START;
        let interval_ns = options.rate.map(|rate| 1e9 * options.connections as f64 / rate);
        let mut sent = Sent::new()?;
        let mut patience = Patience::default();
        for place in places.step_by(threads) {
            // What does not divide evenly goes to the first.
            let (all, count) = (options.connections as u64, options.count);
            let quota = count.map_or(u64::MAX, |count| count / all + u64::from((place as u64) < count % all));
            sent.connections += 1;
            let socket = match options.address.connect(&mut patience) {
                Ok(socket) => socket,
                Err(error) => {
                    sent.failed += 1;
                    sent.failure.get_or_insert(without_error_numbers(&error.to_string()).into_owned());
                    continue;
                }
            };
            if options.address.is_udp() && options.answer == Answer::None {
                let is_cut = u16::try_from(size)
                    .is_ok_and(|size| probe::sockets::set_udp_segment(&socket, size).is_ok());
                burst = if is_cut { SEGMENTS.min(DATAGRAM_BYTES / size).max(1) } else { 1 };
            }
            event_loop.add(&socket, connections.len(), true).map_err(Failure::of_system)?;
            // Spread evenly over the interval.
            let offset = interval_ns.map_or(0.0, |interval| interval * place as f64 / all as f64);
            let stream = Stream::new(socket, options.tls.as_ref()).map_err(Failure::of_system)?;
            connections.push(Some(Connection::new(stream, quota, begin + Nanos(offset as u64))));
        }
        Ok(Self {
            event_loop,
            options,
            schedule: Schedule {
                size,
                interval_ns,
                answer: options.answer,
                burst,
                // A time limit ends it in any case, and a peer that takes nothing is what is measured then.
                patience: (options.duration.is_none() || options.answer == Answer::Datagram)
                    .then(|| Nanos::from(options.patience)),
            },
            living: connections.len(),
            connections,
            agenda: Agenda::default(),
            content: options.request.clone().unwrap_or_else(|| vec![b'1'; burst * size]),
            memory: vec![0; 64 << 10],
            sent,
            packets,
            is_cut_by_kernel: options.address.is_udp() && burst > 1,
        })
    }

    /// Runs on a thread other than the one that receives signals.
    pub(super) fn run(mut self) -> Result<Sent, Failure> {
        let sent = self.run_here(false);
        self.event_loop.stop().worker_ended();
        sent
    }

    /// Waits for the others, still listening for signals.
    pub(super) fn wait_for_others(&mut self) -> Result<(), Failure> {
        let mut happened = Vec::new();
        while self.event_loop.stop().has_others() && !self.event_loop.is_stop_requested() {
            self.event_loop.wait(None, &mut happened).map_err(Failure::of_system)?;
        }
        Ok(())
    }

    /// Until all is sent, or it is time to end.
    pub(super) fn run_here(&mut self, is_live: bool) -> Result<Sent, Failure> {
        let began = probe::monotonic_now();
        let end = self.options.duration.map(|duration| began + Nanos::from(duration));
        let mut live = is_live.then_some((began + Nanos::SECOND, 0));
        let (mut happened, mut due) = (Vec::new(), Vec::new());
        while self.living > 0 {
            let until = Nanos::earlier(Nanos::earlier(self.agenda.next(), end), live.map(|(next, _)| next));
            self.event_loop.wait(until, &mut happened).map_err(Failure::of_system)?;
            let now = probe::monotonic_now();
            for event in &happened {
                self.turn(event.token);
            }
            self.agenda.take_due(now, &mut due);
            for token in &due {
                self.turn(*token);
            }
            if let Some((next, last)) = live.as_mut().filter(|(next, _)| *next <= now) {
                let packets = self.packets.load(Ordering::Relaxed);
                let mut line = "\r".to_owned();
                let fresh = packets.saturating_sub(*last);
                push_live(&mut line, packets, fresh, fresh * self.options.size as u64);
                write_stderr_if_ready(&line);
                (*next, *last) = (now + Nanos::SECOND, packets);
            }
            if end.is_some_and(|end| end <= now) {
                self.event_loop.stop().request();
            }
            if self.event_loop.is_stop_requested() {
                break;
            }
        }
        if live.is_some() {
            write_stderr_if_ready("\r\x1b[K");
        }
        if self.living > 0 {
            // Its time is over, or a signal ends it: packets that were not accepted until then count as well.
            let now = probe::monotonic_now();
            self.sent.first.get_or_insert(began);
            self.sent.last = Some(now);
        }
        for token in 0..self.connections.len() {
            self.finish(token, None);
        }
        let empty = Sent::new()?;
        Ok(std::mem::replace(&mut self.sent, empty))
    }

    fn turn(&mut self, token: usize) {
        let Some(Some(connection)) = self.connections.get_mut(token) else { return };
        if !connection.is_connected && !self.establish(token) {
            return;
        }
        let Some(Some(connection)) = self.connections.get_mut(token) else { return };
        let before = connection.bytes;
        let turn =
            connection.turn(&self.schedule, &self.content, &mut self.memory, &mut self.sent.latency_ns);
        let size = self.schedule.size as u64;
        self.packets.fetch_add(connection.bytes / size - before / size, Ordering::Relaxed);
        match turn {
            Ok(Turn::Quiet) => {}
            Ok(Turn::Ready) => self.agenda.push_ready(token),
            Ok(Turn::Paused(until)) => self.agenda.push_paused(until, token),
            Ok(Turn::Over) => self.finish(token, None),
            Ok(Turn::Reconnect) => self.reconnect(token),
            Err(error) if self.is_cut_by_kernel && is_uncuttable(&error) => {
                // Longer than what the way there takes in one piece: let the network cut it.
                self.is_cut_by_kernel = false;
                self.schedule.burst = 1;
                for other in self.connections.iter().flatten() {
                    let _ = probe::sockets::set_udp_segment(&other.stream.socket, 0);
                }
                self.agenda.push_ready(token);
            }
            // An answer that was cut or reset is a failed request; the others go over another connection.
            Err(error)
                if matches!(self.schedule.answer, Answer::Http { .. }) && self.is_established(token) =>
            {
                self.sent.failed_requests += 1;
                self.sent.failure.get_or_insert(without_error_numbers(&error.to_string()).into_owned());
                self.reconnect(token);
            }
            Err(error) => self.finish(token, Some(error)),
        }
    }

    /// Goes on with what comes before the first packet: the connection, and the handshake of TLS. Returns whether it is over.
    fn establish(&mut self, token: usize) -> bool {
        let Some(Some(connection)) = self.connections.get_mut(token) else { return false };
        if let Some(next) = connection.next_attempt {
            if next <= probe::monotonic_now() {
                connection.next_attempt = None;
                self.reconnect(token);
            }
            return false;
        }
        let shaken = match sockopt::socket_error(&connection.stream.socket) {
            // It may be looked at before it is connected.
            Ok(Ok(())) if getpeername(&connection.stream.socket).is_err() => Ok(false),
            Ok(Ok(())) => connection.stream.shake_hands(),
            Ok(Err(error)) | Err(error) => Err(error.into()),
        };
        match shaken {
            Ok(true) => {
                (connection.is_connected, connection.lost_at, connection.stalled) = (true, None, None);
                return true;
            }
            Ok(false) => match connection.wait_for_peer(&self.schedule) {
                Ok(Turn::Paused(until)) => self.agenda.push_paused(until, token),
                Ok(_) => {}
                Err(error) => self.finish(token, Some(error)),
            },
            // What the server says in TLS, it says again.
            Err(error) if error.kind() == ErrorKind::InvalidData => self.finish(token, Some(error)),
            Err(error) => self.look_again(token, error),
        }
        false
    }

    /// A server that was there may come again, as after a restart: connections that were established are made anew, for as long as
    /// a peer has time to answer.
    fn look_again(&mut self, token: usize, error: io::Error) {
        let Some(Some(connection)) = self.connections.get_mut(token) else { return };
        let now = probe::monotonic_now();
        let until = connection.lost_at.map(|lost_at| lost_at + Nanos::from(self.options.patience));
        if until.is_none_or(|until| until <= now) {
            return self.finish(token, Some(error));
        }
        connection.next_attempt = Some(now + RECONNECT_PAUSE);
        self.agenda.push_paused(now + RECONNECT_PAUSE, token);
    }

    fn is_established(&self, token: usize) -> bool {
        self.connections.get(token).is_some_and(|place| place.as_ref().is_some_and(|one| one.is_connected))
    }

    /// Makes another connection in the place of one that the peer closes.
    fn reconnect(&mut self, token: usize) {
        let Some(Some(connection)) = self.connections.get_mut(token) else { return };
        if connection.is_done() {
            return self.finish(token, None);
        }
        if std::mem::take(&mut connection.is_connected) {
            connection.lost_at = Some(probe::monotonic_now());
        }
        match self.options.address.connect(&mut Patience::default()) {
            Ok(socket) => {
                let added = self.event_loop.add(&socket, token, true);
                match added.and_then(|()| Stream::new(socket, self.options.tls.as_ref())) {
                    Ok(stream) => connection.reconnect(stream),
                    Err(error) => self.finish(token, Some(error)),
                }
            }
            Err(error) => self.look_again(token, error),
        }
    }

    fn finish(&mut self, token: usize, error: Option<io::Error>) {
        let Some(mut connection) = self.connections.get_mut(token).and_then(Option::take) else { return };
        self.living -= 1;
        let sent = &mut self.sent;
        sent.bytes += connection.bytes;
        let is_overdue = error.is_none() && connection.is_overdue(&self.schedule, probe::monotonic_now());
        sent.unanswered += connection.lost + u64::from(is_overdue);
        sent.packets += connection.bytes / self.schedule.size as u64;
        for (status, count) in &connection.statuses {
            *sent.statuses.entry(*status).or_default() += count;
        }
        sent.first = Nanos::earlier(sent.first, connection.first);
        // Until it was given up: what was waited for took its time, too.
        let given_up = connection.is_waiting().then(probe::monotonic_now);
        sent.last = sent.last.max(connection.last).max(given_up);
        // A refusal of the last datagrams has come by now, where the host is near.
        let refused = || sockopt::socket_error(&connection.stream.socket).ok()?.err();
        let is_udp = self.options.address.is_udp();
        let error = error.or_else(|| if is_udp { refused().map(Into::into) } else { None });
        // A connection that was never established is a failure, however long it was waited for.
        let is_missing = !connection.is_connected && connection.first.is_none() && !is_udp;
        let missing = || io::Error::new(ErrorKind::TimedOut, "there was no connection until the end");
        let error = error.or_else(|| is_missing.then(missing));
        if let Some(error) = error {
            sent.failed += 1;
            sent.failure.get_or_insert(without_error_numbers(&error.to_string()).into_owned());
        }
        connection.stream.close();
    }
}
