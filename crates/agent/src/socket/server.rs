//! The thread that serves clients.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use probe::background_job::Notifier;
use probe::sockets;
use probe::wait::{Waiter, Watch};
use sampling::agent_protocol::{Hello, Reply, Request};

use super::client::{Client, Closed, Stage};
use super::exchange::{Exchange, What};
use service::Privileged;

/// Clients in all, of them those that only root gets, and those of one user who is not root.
const MAX_CLIENTS: usize = 1024;
const RESERVED_CLIENTS: usize = 32;
const MAX_CLIENTS_OF_USER: usize = 64;
/// Connections that are accepted at one wake-up.
const ACCEPTED_AT_A_TIME: usize = 16;
/// After a connection that could not be accepted.
const AFTER_FAILURE: Duration = Duration::from_millis(50);
/// Reads of one client at one wake-up.
const MAX_TURNS: u32 = 8;

const LISTENER: u64 = 0;
const EXCHANGE: u64 = 1;
const STOP: u64 = 2;
const FIRST_CLIENT: u64 = 3;

struct Server {
    listener: UnixListener,
    exchange: Arc<Exchange>,
    privileged: Privileged,
    hello: Hello,
    waiter: Waiter,
    clients: HashMap<u64, Client>,
    next_token: u64,
}

/// Starts the thread, which ends when `stop` is notified.
///
/// # Errors
/// If there are no more threads or descriptors.
pub(super) fn start(
    listener: UnixListener,
    exchange: Arc<Exchange>,
    privileged: Privileged,
    hello: Hello,
    woken: Notifier,
    stop: Notifier,
) -> io::Result<()> {
    let mut waiter = Waiter::open(&[])?;
    waiter.watch(LISTENER, Watch::Readable(listener.as_fd()))?;
    waiter.watch(EXCHANGE, Watch::Readable(woken.as_fd()))?;
    waiter.watch(STOP, Watch::Readable(stop.as_fd()))?;
    let clients = HashMap::new();
    let mut server =
        Server { listener, exchange, privileged, hello, waiter, clients, next_token: FIRST_CLIENT };
    thread::Builder::new().name("socket".to_owned()).spawn(move || {
        // Kept, since it is what the event loop waits for.
        let _stop = stop;
        // It ends with the agent, or if the kernel refuses to wait; the agent records on.
        while server.turn(&woken).unwrap_or(false) {}
        server.exchange.close();
    })?;
    Ok(())
}

impl Server {
    /// Waits for something and handles it. Returns whether it goes on.
    fn turn(&mut self, woken: &Notifier) -> io::Result<bool> {
        let mut ready = Vec::new();
        self.waiter.wait(None, &mut ready)?;
        for happened in ready {
            match happened.token {
                STOP => return Ok(false),
                LISTENER => self.accept(),
                EXCHANGE => {
                    woken.drain();
                    if self.exchange.take_hang_up() {
                        let tokens: Vec<u64> = self.clients.keys().copied().collect();
                        tokens.into_iter().for_each(|token| self.close(token));
                    }
                    self.publish();
                }
                token => self.serve(token, happened.is_readable || happened.is_closed, happened.is_writable),
            }
        }
        Ok(true)
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_A_TIME {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Without descriptors it would be ready all the time.
                    if error.kind() != io::ErrorKind::WouldBlock {
                        thread::sleep(AFTER_FAILURE);
                    }
                    return;
                }
            };
            let Ok(peer) = sockets::peer(&stream) else { continue };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let mut client = Client::new(stream, peer.uid, self.privileged.scope(peer.uid, Some(peer.gid)));
            let of_user = self.clients.values().filter(|other| other.uid == peer.uid).count();
            let most = if peer.uid == 0 { MAX_CLIENTS } else { MAX_CLIENTS - RESERVED_CLIENTS };
            let is_full = self.clients.len() >= most;
            if is_full || (peer.uid != 0 && of_user >= MAX_CLIENTS_OF_USER) {
                // It may not even have room for this; then it is closed without.
                let _ = client.refuse("too many connections");
                continue;
            }
            let interval = self.exchange.interval().unwrap_or(self.hello.interval);
            let hello = Reply::Hello(Hello { scope: client.scope, interval, ..self.hello });
            if client.queue(hello.encode().into()).is_err() {
                continue;
            }
            let watch = Watch::Edges { descriptor: client.stream.as_fd(), with_room: true };
            if self.waiter.watch(self.next_token, watch).is_ok() {
                self.clients.insert(self.next_token, client);
                self.next_token += 1;
            }
        }
    }

    fn serve(&mut self, token: u64, is_readable: bool, is_writable: bool) {
        let Some(client) = self.clients.get_mut(&token) else { return };
        let mut served = if is_writable { client.write() } else { Ok(()) };
        // Edge-triggered: until nothing is left.
        let mut turns = 0;
        while is_readable && served.is_ok() {
            turns += 1;
            match client.read() {
                // No client has so much to ask.
                _ if turns > MAX_TURNS => served = Err(Closed),
                Err(Closed) => served = Err(Closed),
                Ok(requests) if requests.is_empty() => break,
                Ok(requests) => {
                    requests.into_iter().for_each(|request| answer(client, &self.exchange, request))
                }
            }
        }
        if served.is_err() {
            self.close(token);
        }
    }

    /// Sends what the recorder has left.
    fn publish(&mut self) {
        let mut closed = Vec::new();
        for published in self.exchange.take() {
            for (token, client) in &mut self.clients {
                let is_for = match published.what {
                    What::Whole(scope) => client.stage == Stage::Waiting && client.scope == scope,
                    What::Round(scope) => client.stage == Stage::Following && client.scope == scope,
                    What::Status(scope) => client.scope == scope && std::mem::take(&mut client.wants_status),
                };
                if !is_for {
                    continue;
                }
                if let What::Whole(_) = published.what {
                    client.stage = Stage::Following;
                }
                if client.queue(Arc::clone(&published.frame)).is_err() {
                    closed.push(*token);
                }
            }
            for token in closed.drain(..) {
                self.close(token);
            }
        }
    }

    fn close(&mut self, token: u64) {
        if let Some(client) = self.clients.remove(&token)
            && client.stage != Stage::Idle
        {
            self.exchange.leave(client.scope);
        }
    }
}

fn answer(client: &mut Client, exchange: &Exchange, request: Request) {
    match request {
        Request::Tasks if client.stage == Stage::Idle => {
            client.stage = Stage::Waiting;
            exchange.wait_for(client.scope);
        }
        // It gets them already.
        Request::Tasks => {}
        Request::Status => {
            client.wants_status = true;
            exchange.wait_for_status(client.scope);
        }
    }
}
