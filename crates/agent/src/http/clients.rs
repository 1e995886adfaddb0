//! The clients of requests that take long: what each runs, and what it has used.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use facts::task::rounds::Scope;
use facts::unit::Ratio;

/// Permits for all clients.
const PERMITS: usize = 2;
/// One more permit for root and the agent's user.
const RESERVED: usize = 1;
/// The most requests that run at a time.
pub(super) const MAX_RUNNING: usize = PERMITS + RESERVED;
/// A request that has run for longer is recalled if another client waits for its permit.
pub(super) const RECALLED_AFTER: Duration = Duration::from_millis(500);
/// The CPU time that a client can use at once after a rest, in seconds.
const BURST_S: f64 = 1.0;
/// A client that has used more waits for a minute at most.
const MAX_CREDIT_WAIT_S: f64 = 60.0;
/// If there are more clients, those without debts are removed.
const MAX_RESTED: usize = 1000;

/// A client, between which permits and connections are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ClientKey {
    /// A user of this machine.
    User(u32),
    /// An address; all clients of a proxy have one.
    Address(Option<IpAddr>),
}

/// The client of a request, and its permissions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requester {
    pub(super) key: ClientKey,
    pub(super) scope: Scope,
    /// Root or the agent's user, who may use the reserved permit.
    pub(super) is_owner: bool,
    /// The request takes little CPU time, and is answered also if the client has used its share.
    pub(super) is_cheap: bool,
}

impl Requester {
    /// Returns the same for a request that takes little CPU time.
    pub(super) fn of_cheap(self) -> Self {
        Self { is_cheap: true, ..self }
    }
}

/// All clients, and the requests that run.
#[derive(Debug)]
pub(super) struct Clients {
    /// The share of a CPU of each client.
    share: f64,
    known: HashMap<ClientKey, Client>,
    pub(super) running: Vec<Running>,
}

/// Says whether a request is to end soon, without an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct RecallFlag(Arc<AtomicBool>);

impl RecallFlag {
    /// Returns whether it is.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request that runs.
#[derive(Debug)]
pub(super) struct Running {
    key: ClientKey,
    is_owner: bool,
    pub(super) began: Instant,
    flag: RecallFlag,
}

/// The use of the API by one client.
#[derive(Debug)]
struct Client {
    running: usize,
    /// Seconds of CPU time that were left at an instant; below 0 if more was used.
    credit_s: f64,
    credited_at: Instant,
}

impl Client {
    fn new() -> Self {
        Self { running: 0, credit_s: BURST_S, credited_at: Instant::now() }
    }

    /// Returns the CPU time in seconds that is left now.
    fn credit_s(&self, share: f64) -> f64 {
        (self.credit_s + share * self.credited_at.elapsed().as_secs_f64()).min(BURST_S)
    }
}

impl Clients {
    /// None yet. Each will have so much of a CPU.
    pub(super) fn new(share: Ratio) -> Self {
        Self { share: share.0, known: HashMap::new(), running: Vec::new() }
    }

    /// Returns whether a request may run now.
    pub(super) fn has_permit(&self, requester: &Requester) -> bool {
        match requester.is_owner {
            true => self.running.len() < MAX_RUNNING,
            false => {
                // Root and the agent's user take their own permit first.
                let reserved = self.running.iter().filter(|running| running.is_owner).count().min(RESERVED);
                self.running.len() - reserved < PERMITS && self.credit_wait(requester).is_zero()
            }
        }
    }

    fn credit_s(&self, key: ClientKey) -> f64 {
        self.known.get(&key).map_or(BURST_S, |client| client.credit_s(self.share))
    }

    /// Returns how long a client has to wait because of what it has used.
    pub(super) fn credit_wait(&self, requester: &Requester) -> Duration {
        let is_free = requester.is_owner || requester.is_cheap;
        let missing_s = if is_free { 0.0 } else { -self.credit_s(requester.key) };
        Duration::try_from_secs_f64(missing_s.max(0.0) / self.share).unwrap_or(Duration::MAX)
    }

    /// Counts a request that runs from now on.
    pub(super) fn acquire(&mut self, requester: &Requester) -> RecallFlag {
        let flag = RecallFlag::default();
        let Requester { key, is_owner, .. } = *requester;
        self.running.push(Running { key, is_owner, began: Instant::now(), flag: flag.clone() });
        self.known.entry(key).or_insert_with(Client::new).running += 1;
        flag
    }

    /// Returns how many requests of a client run.
    pub(super) fn running_of(&self, key: ClientKey) -> usize {
        self.known.get(&key).map_or(0, |client| client.running)
    }

    /// Counts it no more.
    pub(super) fn release(&mut self, key: ClientKey, flag: &RecallFlag) {
        self.running.retain(|running| !Arc::ptr_eq(&running.flag.0, &flag.0));
        if let Some(client) = self.known.get_mut(&key) {
            client.running = client.running.saturating_sub(1);
        }
        if self.known.len() > MAX_RESTED {
            let share = self.share;
            self.known.retain(|_, client| client.running > 0 || client.credit_s(share) < BURST_S);
        }
    }

    /// Recalls a request that has run for long if another client waits that has fewer running ones: of the client with most running
    /// requests the one that has run longest. Those of root and of the agent's user are left alone.
    pub(super) fn recall_longest<'w>(&self, waiting: impl Iterator<Item = &'w Requester>) {
        let waiting = waiting.filter(|requester| self.credit_wait(requester).is_zero());
        let running_of: Vec<usize> = waiting.map(|requester| self.running_of(requester.key)).collect();
        let recalled = self.running.iter().filter(|running| running.flag.is_set()).count();
        let Some(fewest) = running_of.iter().min().filter(|_| recalled < running_of.len()) else { return };
        let is_long = |running: &&Running| {
            let is_others = !running.is_owner && self.running_of(running.key) > *fewest;
            is_others && !running.flag.is_set() && running.began.elapsed() >= RECALLED_AFTER
        };
        let candidates = self.running.iter().filter(is_long);
        let first = candidates.min_by_key(|running| (Reverse(self.running_of(running.key)), running.began));
        if let Some(running) = first {
            running.flag.0.store(true, Ordering::Relaxed);
        }
    }

    /// Takes CPU time from what a client has left.
    pub(super) fn charge(&mut self, key: ClientKey, cpu: Duration) {
        let share = self.share;
        let client = self.known.entry(key).or_insert_with(Client::new);
        let credit_s = client.credit_s(share) - cpu.as_secs_f64();
        client.credit_s = credit_s.max(-share * MAX_CREDIT_WAIT_S);
        client.credited_at = Instant::now();
    }
}
