//! A fair queue for requests that take long.
//!
//! A fixed number of requests runs at a time. When a permit is free, a request of root or of the agent's user is next, else one of the client
//! with the fewest running requests. One permit is reserved for root and the agent's user. A request is cancelled at its deadline, and when its client disconnects.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facts::task::rounds::Scope;
use tokio::sync::oneshot;

/// Permits for all clients.
const PERMITS: usize = 2;
/// One more permit for root and the agent's user.
const RESERVED: usize = 1;
/// The most requests that run at a time.
pub(super) const MOST_RUNNING: usize = PERMITS + RESERVED;
/// The longest time in the queue of the server.
pub(super) const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// The most requests of a client in the queue.
const MOST_QUEUED: usize = 64;

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
}

/// The queue was full, or there was no permit in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// The queue and the running requests.
#[derive(Debug)]
pub(super) struct RequestQueue {
    /// The longest time in the queue.
    timeout: Duration,
    state: Mutex<State>,
    /// CPU time of requests in nanoseconds.
    cpu_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    running: HashMap<ClientKey, usize>,
    running_total: usize,
    queued: VecDeque<Queued>,
}

#[derive(Debug)]
struct Queued {
    requester: Requester,
    granted: oneshot::Sender<()>,
}

impl State {
    fn has_permit(&self, requester: &Requester) -> bool {
        self.running_total < if requester.is_owner { MOST_RUNNING } else { PERMITS }
    }

    fn acquire(&mut self, key: ClientKey) {
        self.running_total += 1;
        *self.running.entry(key).or_default() += 1;
    }

    fn release(&mut self, key: ClientKey) {
        self.running_total = self.running_total.saturating_sub(1);
        if let Some(count) = self.running.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&key);
            }
        }
    }

    /// Removes the next request from the queue: an owner's, else the oldest of the client with the fewest running ones.
    fn next(&mut self) -> Option<Queued> {
        let permitted =
            self.queued.iter().enumerate().filter(|(_, queued)| self.has_permit(&queued.requester));
        let running = |queued: &Queued| self.running.get(&queued.requester.key).copied().unwrap_or(0);
        let (place, _) = permitted.min_by_key(|(_, queued)| (!queued.requester.is_owner, running(queued)))?;
        self.queued.remove(place)
    }

    /// Grants free permits to queued requests.
    fn grant(&mut self) {
        while let Some(Queued { requester, granted }) = self.next() {
            self.acquire(requester.key);
            // Fails if the request was cancelled.
            if granted.send(()).is_err() {
                self.release(requester.key);
            }
        }
    }
}

/// The permission to run a request. Dropping it releases it.
#[derive(Debug)]
pub(super) struct Permit {
    queue: Arc<RequestQueue>,
    key: ClientKey,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.release(self.key);
        state.grant();
    }
}

impl RequestQueue {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, state: Mutex::default(), cpu_ns: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// If the queue is full, or after the timeout.
    pub(super) async fn permit(self: &Arc<Self>, requester: Requester) -> Result<Permit, Busy> {
        let key = requester.key;
        let permit = || Permit { queue: Arc::clone(self), key };
        let granted = {
            let mut state = self.lock();
            let is_first = state.queued.iter().all(|queued| !state.has_permit(&queued.requester));
            if is_first && state.has_permit(&requester) {
                state.acquire(key);
                return Ok(permit());
            }
            state.queued.retain(|queued| !queued.granted.is_closed());
            if state.queued.iter().filter(|queued| queued.requester.key == key).count() >= MOST_QUEUED {
                return Err(Busy);
            }
            let (granted, receiver) = oneshot::channel();
            state.queued.push_back(Queued { requester, granted });
            receiver
        };
        let mut waiting = Waiting { granted, queue: self, key, is_taken: false };
        match tokio::time::timeout(self.timeout, &mut waiting.granted).await {
            Ok(Ok(())) => {
                waiting.is_taken = true;
                Ok(permit())
            }
            _ => Err(Busy),
        }
    }

    /// Returns the CPU time that requests took.
    pub(super) fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }

    /// Runs a request on the calling thread and counts its CPU time.
    pub(super) fn count<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = probe::own_thread_cpu_time();
        let result = run();
        let cpu = probe::own_thread_cpu_time().saturating_sub(before);
        self.cpu_ns.fetch_add(cpu.0, Ordering::Relaxed);
        result
    }
}

/// A request in the queue. If it is dropped while it is granted a permit, the permit is released.
struct Waiting<'q> {
    granted: oneshot::Receiver<()>,
    queue: &'q RequestQueue,
    key: ClientKey,
    is_taken: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.granted.close();
        if !self.is_taken && self.granted.try_recv().is_ok() {
            let mut state = self.queue.lock();
            state.release(self.key);
            state.grant();
        }
    }
}

/// The deadline of a request, and whether its client has disconnected.
#[derive(Clone, Debug)]
pub(super) struct Cancellation {
    deadline: Instant,
    is_disconnected: Arc<AtomicBool>,
}

impl Cancellation {
    /// Sets a deadline.
    pub(super) fn after(timeout: Duration) -> Self {
        Self { deadline: Instant::now() + timeout, is_disconnected: Arc::default() }
    }

    /// Returns whether the request is to be given up.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_disconnected.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Returns a guard that cancels the request when it is dropped, as the future of a disconnected client is.
    pub(super) fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(Arc::clone(&self.is_disconnected))
    }
}

/// Cancels a request when it is dropped.
#[derive(Debug)]
pub(super) struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requester(uid: u32) -> Requester {
        Requester { key: ClientKey::User(uid), scope: Scope::User(uid), is_owner: uid == 0 }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn a_client_waits_behind_its_own_requests() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(QUEUE_TIMEOUT));
            let first = queue.permit(requester(1)).await.unwrap();
            let second = queue.permit(requester(1)).await.unwrap();
            let enqueue = |uid| {
                let queue = Arc::clone(&queue);
                tokio::spawn(async move { queue.permit(requester(uid)).await })
            };
            let more: Vec<_> = (0..3).map(|_| enqueue(1)).collect();
            tokio::task::yield_now().await;
            let other = enqueue(2);
            tokio::task::yield_now().await;
            assert!(!other.is_finished());
            drop(queue.permit(requester(0)).await.unwrap());
            drop(first);
            let other = other.await.unwrap().unwrap();
            assert!(more.iter().all(|one| !one.is_finished()));
            drop(second);
            drop(other);
            for one in more {
                drop(one.await.unwrap().unwrap());
            }
            assert_eq!(queue.lock().running_total, 0);
        });
    }

    #[test]
    fn a_request_that_times_out_or_is_dropped_keeps_no_permit() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(Duration::from_millis(10)));
            let held = [queue.permit(requester(1)).await.unwrap(), queue.permit(requester(2)).await.unwrap()];
            assert_eq!(queue.permit(requester(3)).await.unwrap_err(), Busy);
            let dropped = tokio::spawn({
                let queue = Arc::clone(&queue);
                async move { queue.permit(requester(4)).await.map(drop) }
            });
            tokio::task::yield_now().await;
            dropped.abort();
            drop(held);
            assert!(dropped.await.is_err());
            let permit = queue.permit(requester(5)).await.unwrap();
            assert_eq!(queue.lock().running_total, 1);
            drop(permit);
        });
    }

    #[test]
    fn a_disconnected_client_cancels_its_request() {
        let cancellation = Cancellation::after(Duration::from_secs(60));
        let guard = cancellation.cancel_on_drop();
        assert!(!cancellation.is_cancelled());
        drop(guard);
        assert!(cancellation.is_cancelled());
        assert!(Cancellation::after(Duration::ZERO).is_cancelled());
    }
}
