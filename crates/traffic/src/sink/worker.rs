//! One thread of a sink: its listening socket, and the clients that came by it.

use std::io;
use std::sync::atomic::Ordering;

use facts::unit::Nanos;
use probe::sockets;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};

use super::accounts::Accounts;
use super::answer::Conversation;
use super::client::{Client, Reading};
use super::datagrams::Datagrams;
use super::live::Live;
use super::options::SinkOptions;
use super::shared::Shared;
use crate::agenda::{Agenda, Turn};
use crate::event_loop::{EventLoop, Happened};
use command::failure::write_stderr_if_ready;

const LISTENER: usize = usize::MAX - 3;
/// The most bytes that one read takes. Of TCP nothing is copied, and the memory never touched.
const READ_BYTES: usize = 1 << 20;
const ANSWER_BYTES: usize = 64 << 10;
/// The most bytes that may wait unread, of all clients together, so that one wake-up takes much.
const WAITING_BYTES: u64 = 64 << 20;
const MAX_WAITING_OF_ONE: u64 = 128 << 10;
/// Until a client is accepted again for which there was no descriptor.
const ACCEPT_PAUSE: Nanos = Nanos(100_000_000);

/// The results of a thread.
pub(super) struct Done {
    pub(super) accounts: Accounts,
    /// Datagrams that the kernel had no room for.
    pub(super) dropped: u64,
    /// Why it ended by itself.
    pub(super) failure: Option<io::Error>,
}

/// A thread's.
pub(super) struct Worker<'a> {
    event_loop: EventLoop,
    listener: OwnedFd,
    options: &'a SinkOptions,
    shared: &'a Shared,
    reading: Reading,
    clients: Vec<Option<Client>>,
    free: Vec<usize>,
    agenda: Agenda,
    memory: Vec<u8>,
    finished: Accounts,
    end: Option<Nanos>,
    has_said_full: bool,
    /// When there were no more descriptors: once more then.
    accept_again: Option<Nanos>,
    /// More datagrams wait than were taken.
    is_listener_ready: bool,
    /// Clients may be read late: there are no replies, and no progress is shown.
    is_woken_seldom: bool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        mut event_loop: EventLoop,
        listener: OwnedFd,
        options: &'a SinkOptions,
        shared: &'a Shared,
    ) -> io::Result<Self> {
        event_loop.add(&listener, LISTENER, false)?;
        let read_bytes = if options.answers.is_some() { ANSWER_BYTES } else { READ_BYTES };
        Ok(Self {
            event_loop,
            listener,
            options,
            shared,
            reading: Reading {
                size: options.size,
                delay: options.delay.map(Nanos::from),
                is_tcp: options.address.is_tcp(),
            },
            clients: Vec::new(),
            free: Vec::new(),
            agenda: Agenda::default(),
            memory: vec![0; read_bytes],
            finished: Accounts::default(),
            end: None,
            has_said_full: false,
            accept_again: None,
            is_listener_ready: false,
            is_woken_seldom: options.address.is_tcp()
                && options.answers.is_none()
                && options.delay.is_none()
                && !options.is_live,
        })
    }

    /// Until it is asked to end.
    pub(super) fn run(&mut self, is_live: bool) -> Done {
        let mut failure = None;
        let began = probe::monotonic_now();
        self.end = self.options.duration.map(|duration| began + Nanos::from(duration));
        let mut live = is_live.then(|| Live::new(began));
        let (mut happened, mut due) = (Vec::new(), Vec::new());
        let mut datagrams = Datagrams::default();
        loop {
            let mut until = Nanos::earlier(
                Nanos::earlier(self.agenda.next(), self.end),
                live.as_ref().map(|live| live.next),
            );
            until = Nanos::earlier(until, self.accept_again);
            if self.is_listener_ready {
                until = Some(Nanos(0));
            }
            if let Err(error) = self.event_loop.wait(until, &mut happened) {
                failure = Some(error);
                self.event_loop.stop().request();
                break;
            }
            let now = probe::monotonic_now();
            if self.is_listener_ready {
                self.take_datagrams(&mut datagrams, now);
            }
            if self.accept_again.is_some_and(|again| again <= now) {
                self.accept(now);
            }
            for event in &happened {
                self.handle(event, now, &mut datagrams);
            }
            self.agenda.take_due(now, &mut due);
            for token in &due {
                self.turn(*token, now);
            }
            if let Some(log) = self.options.log() {
                log.flush();
            }
            if let Some(live) = live.as_mut().filter(|live| live.next <= now) {
                live.print(self.shared, now);
            }
            let is_enough = self
                .options
                .clients
                .is_some_and(|clients| self.shared.finished.load(Ordering::Relaxed) >= clients);
            if is_enough || self.end.is_some_and(|end| end <= now) {
                self.event_loop.stop().request();
            }
            if self.event_loop.is_stop_requested() {
                break;
            }
        }
        if live.is_some() {
            write_stderr_if_ready("\r\x1b[K");
        }
        let (accounts, dropped) = self.finish(datagrams);
        Done { accounts, dropped, failure }
    }

    fn handle(&mut self, event: &Happened, now: Nanos, datagrams: &mut Datagrams) {
        match event.token {
            LISTENER if self.options.address.is_udp() => self.take_datagrams(datagrams, now),
            LISTENER => self.accept(now),
            token => {
                if let Some(Some(client)) = self.clients.get_mut(token) {
                    client.is_read_closed |= event.is_read_closed;
                    if event.is_readable || event.is_writable || event.is_read_closed {
                        self.turn(token, now);
                    }
                }
            }
        }
    }

    fn take_datagrams(&mut self, datagrams: &mut Datagrams, now: Nanos) {
        self.is_listener_ready = match self.options.answers {
            Some(_) => datagrams.send_back(&self.listener, &mut self.memory, now, self.shared),
            None => datagrams.take(&self.listener, now, self.shared),
        };
    }

    fn accept(&mut self, now: Nanos) {
        self.accept_again = None;
        loop {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let (socket, address) = match acceptfrom_with(&self.listener, flags) {
                Ok(accepted) => accepted,
                Err(Errno::WOULDBLOCK) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(error) => {
                    // Those that wait are taken when others have gone, of this thread or another.
                    self.accept_again = Some(now + ACCEPT_PAUSE);
                    if !self.has_said_full {
                        self.has_said_full = true;
                        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
                        let limit = limit.map_or("none".to_owned(), |limit| limit.to_string());
                        write_stderr_if_ready(&format!(
                            "whit: no more clients than {}: {error} (limit of descriptors: {limit}; see ulimit -n)\n",
                            self.clients.len() - self.free.len()
                        ));
                    }
                    return;
                }
            };
            let name = address
                .and_then(|address| std::net::SocketAddr::try_from(address).ok())
                .map_or_else(|| "unix".to_owned(), |address| address.to_string());
            let answers = self.options.answers.as_ref();
            let accepted = self.shared.accepted.fetch_add(1, Ordering::Relaxed);
            let conversation = answers.map(|answers| {
                // Answers are whole, and wait for nothing more to be sent.
                if self.options.address.is_tcp() {
                    let _ = rustix::net::sockopt::set_tcp_nodelay(&socket, true);
                }
                Conversation::new(answers, accepted, name.clone())
            });
            let token = self.free.pop().unwrap_or(self.clients.len());
            if self.event_loop.add(&socket, token, conversation.is_some()).is_err() {
                if token < self.clients.len() {
                    self.free.push(token);
                }
                continue;
            }
            let client = Some(Client::new(socket, name, conversation));
            match self.clients.get_mut(token) {
                Some(place) => *place = client,
                None => self.clients.push(client),
            }
        }
    }

    fn turn(&mut self, token: usize, now: Nanos) {
        let Some(Some(client)) = self.clients.get_mut(token) else { return };
        let before = client.account.bytes;
        let turn = client.turn(self.reading, &mut self.memory, now);
        let (bytes, size) = (client.account.bytes, self.reading.size);
        // From its first bytes on, whose time is reported.
        if before == 0 && bytes > 0 && self.is_woken_seldom {
            let clients = (self.clients.len() - self.free.len()).max(1) as u64;
            let low_water = (WAITING_BYTES / clients).clamp(1, MAX_WAITING_OF_ONE);
            if let Some(Some(client)) = self.clients.get(token) {
                // Without it everything works, with more wake-ups.
                let _ = sockets::set_receive_low_water(&client.socket, low_water as u32);
            }
        }
        if bytes > before {
            self.shared.bytes.fetch_add(bytes - before, Ordering::Relaxed);
            self.shared.packets.fetch_add(bytes / size - before / size, Ordering::Relaxed);
        }
        match turn {
            Turn::Quiet => {}
            Turn::Ready => self.agenda.push_ready(token),
            Turn::Paused(until) => self.agenda.push_paused(until, token),
            Turn::Over | Turn::Reconnect => self.forget(token),
        }
    }

    fn forget(&mut self, token: usize) {
        let Some(client) = self.clients.get_mut(token).and_then(Option::take) else { return };
        self.finished.push(client.finish(self.reading.size));
        self.free.push(token);
        self.shared.finished.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes what waits below the low water, and closes.
    fn finish(&mut self, datagrams: Datagrams) -> (Accounts, u64) {
        let now = probe::monotonic_now();
        let mut accounts = std::mem::take(&mut self.finished);
        for mut client in self.clients.drain(..).flatten() {
            if client.conversation.is_none() && self.options.delay.is_none() {
                while client.turn(self.reading, &mut self.memory, now) == Turn::Ready {}
            }
            accounts.push(client.finish(self.reading.size));
        }
        let dropped = if self.options.address.is_udp() {
            datagrams.finish(&mut accounts);
            sockets::dropped(&self.listener).unwrap_or(0)
        } else {
            0
        };
        (accounts, dropped)
    }
}
