//! One connection: what came over it, and what waits to go back.

use std::io;

use facts::unit::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

use super::accounts::{Account, Answered};
use super::answer::{Conversation, Next};
use crate::agenda::Turn;

/// Reads of one turn, so that a client that never pauses leaves time for the others.
const READS_A_TURN: usize = 16;
/// The most bytes of answers that may wait to go out before nothing more is read.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// How long data of a peer that does not close its side is still read.
const MAX_LINGER: Nanos = Nanos(2 * Nanos::SECOND.0);

/// A connection.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: OwnedFd,
    pub(super) account: Account,
    /// The answers to the client, where there are any.
    pub(super) conversation: Option<Conversation>,
    /// Not read before.
    resume: Option<Nanos>,
    /// The bytes of the current packet that have been read.
    partial: u64,
    pub(super) is_read_closed: bool,
    output: Vec<u8>,
    sent: usize,
    /// To be ended when all has gone out.
    is_ending: bool,
    lingers_until: Option<Nanos>,
}

/// How streams are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) size: u64,
    pub(super) delay: Option<Nanos>,
    pub(super) is_tcp: bool,
}

impl Client {
    pub(super) fn new(socket: OwnedFd, name: String, conversation: Option<Conversation>) -> Self {
        Self {
            socket,
            account: Account { name, ..Account::default() },
            conversation,
            resume: None,
            partial: 0,
            is_read_closed: false,
            output: Vec::new(),
            sent: 0,
            is_ending: false,
            lingers_until: None,
        }
    }

    /// Reads what is there, and answers.
    pub(super) fn turn(&mut self, reading: Reading, memory: &mut [u8], now: Nanos) -> Turn {
        match self.try_turn(reading, memory, now) {
            Ok(turn) => turn,
            Err(error) => {
                self.account.is_aborted = error.kind() != io::ErrorKind::BrokenPipe;
                Turn::Over
            }
        }
    }

    fn try_turn(&mut self, reading: Reading, memory: &mut [u8], now: Nanos) -> io::Result<Turn> {
        // Its deadline is set; it is polled then.
        if self.resume.is_some_and(|resume| resume > now) {
            return Ok(Turn::Quiet);
        }
        self.resume = None;
        if self.conversation.is_some() {
            return self.converse(memory, now);
        }
        for _ in 0..READS_A_TURN {
            // With a delay one packet at a time, which is then worked on.
            let limit = match reading.delay {
                Some(_) => {
                    usize::try_from(reading.size - self.partial).unwrap_or(usize::MAX).min(memory.len())
                }
                None => memory.len(),
            };
            let length = match probe::sockets::discard(&self.socket, &mut memory[..limit], reading.is_tcp) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Turn::Quiet),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if length == 0 {
                return Ok(Turn::Over);
            }
            self.count(length, now);
            if let Some(delay) = reading.delay {
                self.partial += length as u64;
                if self.partial == reading.size {
                    self.partial = 0;
                    // From now on: what was waited for before this connection's turn shortens no pause.
                    let until = probe::monotonic_now() + delay;
                    self.resume = Some(until);
                    return Ok(Turn::Paused(until));
                }
            } else if length < limit && !self.is_read_closed {
                // A short read has emptied it: epoll(7).
                return Ok(Turn::Quiet);
            }
        }
        Ok(Turn::Ready)
    }

    fn count(&mut self, length: usize, now: Nanos) {
        self.account.bytes += length as u64;
        self.account.first.get_or_insert(now);
        self.account.last = Some(now);
    }

    fn converse(&mut self, memory: &mut [u8], mut now: Nanos) -> io::Result<Turn> {
        for _ in 0..READS_A_TURN {
            // All answers that are due go out together: requests may come without waiting for each.
            let mut resume = None;
            while self.output.len() < MAX_WAITING_BYTES && !self.is_ending {
                let Some(conversation) = &mut self.conversation else { return Ok(Turn::Over) };
                match conversation.next(&mut self.output, now) {
                    Next::Read => break,
                    Next::Write => {}
                    Next::WriteAndEnd => self.is_ending = true,
                    Next::Reset => {
                        self.flush()?;
                        rustix::net::sockopt::set_socket_linger(
                            &self.socket,
                            Some(std::time::Duration::ZERO),
                        )?;
                        return Ok(Turn::Over);
                    }
                    Next::Wait(until) => {
                        resume = Some(until);
                        break;
                    }
                }
            }
            if !self.output.is_empty() {
                // Until the last answer: it is a part of what is measured.
                self.account.last = self.account.last.max(Some(now));
            }
            let is_full = self.output.len() >= MAX_WAITING_BYTES;
            if !self.flush()? {
                return Ok(Turn::Quiet);
            }
            if self.is_ending {
                return self.linger(memory, now);
            }
            if let Some(until) = resume {
                self.resume = Some(until);
                return Ok(Turn::Paused(until));
            }
            if is_full {
                continue;
            }
            let length = match recv(&self.socket, &mut *memory, RecvFlags::DONTWAIT) {
                Ok((length, _)) => length,
                Err(Errno::WOULDBLOCK) => return Ok(Turn::Quiet),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if length == 0 {
                // What it asked for is still its own.
                self.is_ending = true;
                continue;
            }
            if let Some(conversation) = &mut self.conversation {
                conversation.receive(&memory[..length]);
            }
            // A slow answer is slow from the time on when its request was here.
            now = probe::monotonic_now();
            self.count(length, now);
        }
        Ok(Turn::Ready)
    }

    /// Says that this was all, and hears the peer out: who closes on words unheard resets the connection, and what was said last
    /// may be lost.
    fn linger(&mut self, memory: &mut [u8], now: Nanos) -> io::Result<Turn> {
        let until = match self.lingers_until {
            Some(until) => until,
            None => {
                shutdown(&self.socket, Shutdown::Write)?;
                self.resume = None;
                *self.lingers_until.insert(now + MAX_LINGER)
            }
        };
        if until <= now {
            return Ok(Turn::Over);
        }
        for _ in 0..READS_A_TURN {
            match recv(&self.socket, &mut *memory, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Ok(Turn::Over),
                Ok((length, _)) => self.count(length, now),
                Err(Errno::WOULDBLOCK) => return Ok(Turn::Paused(until)),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Turn::Ready)
    }

    /// Sends what waits. Whether little enough is left to go on.
    fn flush(&mut self) -> io::Result<bool> {
        while self.sent < self.output.len() {
            match send(&self.socket, &self.output[self.sent..], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(length) => self.sent += length,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => {
                    self.output.drain(..self.sent);
                    self.sent = 0;
                    return Ok(self.output.len() < MAX_WAITING_BYTES && !self.is_ending);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.output.clear();
        self.sent = 0;
        Ok(true)
    }

    /// Returns the account of the connection, in packets of this size.
    pub(super) fn finish(mut self, size: u64) -> Account {
        self.account.packets = self.account.bytes / size;
        self.account.incomplete_bytes = self.account.bytes % size;
        self.account.incomplete_packets = u64::from(self.account.incomplete_bytes > 0);
        self.account.answers = self.conversation.map(|conversation| Answered {
            answers: conversation.answers_given,
            faults: conversation.faults_made,
        });
        self.account
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::super::answer::{Answers, Kind};
    use super::super::fault::{Fault, Faults};
    use super::*;

    const DELAY: Nanos = Nanos(3_600_000_000_000);

    /// Until when a client is left alone whose round began long before it sent four bytes.
    fn resumed_at(delay: Option<Nanos>, answers: Option<Answers>) -> Nanos {
        let (own, peer) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None).unwrap();
        send(&peer, b"four", SendFlags::empty()).unwrap();
        let conversation = answers.map(|answers| Conversation::new(&Arc::new(answers), 0, String::new()));
        let mut client = Client::new(own, String::new(), conversation);
        match client.turn(Reading { size: 4, delay, is_tcp: false }, &mut [0; 100], Nanos(0)) {
            Turn::Paused(until) => until,
            turn => panic!("{turn:?}"),
        }
    }

    #[test]
    fn a_pause_begins_when_its_packet_was_read() {
        let before = probe::monotonic_now();
        assert!(resumed_at(Some(DELAY), None) >= before + DELAY);
        let faults = Faults(vec![(1.0, Fault::Slow(DELAY))]);
        assert!(resumed_at(None, Some(Answers { kind: Kind::Echo, log: None, faults })) >= before + DELAY);
    }
}
