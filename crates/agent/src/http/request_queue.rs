//! A fair queue for requests that take long.
//!
//! A fixed number of requests runs at a time. When a permit is free, a request of root or of the agent's user is next, else one of the client
//! with the fewest running requests, the cheap ones first. One permit is reserved for root and the agent's user. Each other client has a share
//! of a CPU: one that has used more waits. While a client with fewer running requests waits, a request that takes long ends without an answer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facts::unit::{Nanos, Ratio};
use tokio::sync::oneshot;

use super::clients::{ClientKey, Clients, RecallFlag, Requester};

/// The longest time in the queue of the server. On a machine under load the requests of one page wait for one another: if some were refused
/// after a second, they would be asked again and again.
pub(super) const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// The most requests of a client in the queue.
const MAX_QUEUED: usize = 64;
/// The interval in which a queued request looks again for a permit.
const POLL: Duration = Duration::from_millis(100);

/// The queue was full, there was no permit in time, or the client has used its share of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy {
    /// When another attempt may succeed.
    pub(super) retry_after: Duration,
}

/// The queue and the running requests.
#[derive(Debug)]
pub(super) struct RequestQueue {
    /// The longest time in the queue.
    timeout: Duration,
    state: Mutex<State>,
    /// CPU time of requests in nanoseconds.
    cpu_ns: AtomicU64,
}

#[derive(Debug)]
struct State {
    clients: Clients,
    queued: VecDeque<Queued>,
}

#[derive(Debug)]
struct Queued {
    requester: Requester,
    granted: oneshot::Sender<Permit>,
}

impl State {
    /// Removes the next request from the queue: an owner's, else one of the client with the fewest running ones. Of a client's own the cheap ones
    /// come first, which a page needs before all others, then the oldest.
    fn next(&mut self) -> Option<Queued> {
        let permitted =
            self.queued.iter().enumerate().filter(|(_, queued)| self.clients.has_permit(&queued.requester));
        let order = |Requester { key, is_owner, is_cheap, .. }: &Requester| {
            (!is_owner, self.clients.running_of(*key), !is_cheap)
        };
        let (place, _) = permitted.min_by_key(|(_, queued)| order(&queued.requester))?;
        self.queued.remove(place)
    }

    /// Recalls a request if another one could run instead.
    fn recall_longest(&self) {
        let waiting = self.queued.iter().filter(|queued| !queued.granted.is_closed());
        self.clients.recall_longest(waiting.map(|queued| &queued.requester));
    }
}

/// The permission to run a request. Dropping it releases it.
#[derive(Debug)]
pub(super) struct Permit {
    queue: Arc<RequestQueue>,
    key: ClientKey,
    flag: RecallFlag,
}

impl Permit {
    /// Returns the flag that is set when the request is to end.
    pub(super) fn recall_flag(&self) -> RecallFlag {
        self.flag.clone()
    }

    /// Runs the request on the calling thread, counts its CPU time and takes it from what the client has left.
    pub(super) fn run<T>(self, run: impl FnOnce() -> T) -> T {
        self.run_for(|| (run(), Nanos(0)))
    }

    /// Runs a request that has others work for it: `run` returns the CPU time that they took as well.
    pub(super) fn run_for<T>(self, run: impl FnOnce() -> (T, Nanos)) -> T {
        let before = probe::own_thread_cpu_time();
        let (result, of_others) = run();
        let cpu = probe::own_thread_cpu_time().saturating_sub(before) + of_others;
        self.queue.cpu_ns.fetch_add(cpu.0, Ordering::Relaxed);
        self.queue.lock().clients.charge(self.key, Duration::from_nanos(cpu.0));
        result
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.queue.lock().clients.release(self.key, &self.flag);
        self.queue.grant();
    }
}

impl RequestQueue {
    /// Creates a queue in which a request waits for at most `timeout`. `share` is each client's part of a CPU.
    pub(super) fn new(timeout: Duration, share: Ratio) -> Self {
        let state = State { clients: Clients::new(share), queued: VecDeque::new() };
        Self { timeout, state: Mutex::new(state), cpu_ns: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// If the queue is full, after the timeout, or if the client has used so much CPU time that it would have to wait for longer.
    pub(super) async fn permit(self: &Arc<Self>, requester: Requester) -> Result<Permit, Busy> {
        let mut granted = self.enqueue(requester)?;
        let deadline = Instant::now() + self.timeout;
        self.grant();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match tokio::time::timeout(left.min(POLL), &mut granted).await {
                Ok(Ok(permit)) => return Ok(permit),
                Err(_) if Instant::now() < deadline => {
                    // Its client, or another one, may have CPU time again.
                    self.grant();
                    self.lock().recall_longest();
                }
                _ => {
                    granted.close();
                    let retry_after = self.timeout.max(self.lock().clients.credit_wait(&requester));
                    return granted.try_recv().map_err(|_| Busy { retry_after });
                }
            }
        }
    }

    fn enqueue(&self, requester: Requester) -> Result<oneshot::Receiver<Permit>, Busy> {
        let mut state = self.lock();
        state.queued.retain(|queued| !queued.granted.is_closed());
        let credit_wait = state.clients.credit_wait(&requester);
        if credit_wait > self.timeout {
            return Err(Busy { retry_after: credit_wait });
        }
        let of_client = state.queued.iter().filter(|queued| queued.requester.key == requester.key);
        if of_client.count() >= MAX_QUEUED {
            return Err(Busy { retry_after: self.timeout });
        }
        let (granted, receiver) = oneshot::channel();
        state.queued.push_back(Queued { requester, granted });
        Ok(receiver)
    }

    /// Grants free permits to queued requests.
    fn grant(self: &Arc<Self>) {
        loop {
            let mut state = self.lock();
            let Some(Queued { requester, granted }) = state.next() else { return };
            let flag = state.clients.acquire(&requester);
            drop(state);
            // If the request has been given up, its permit is dropped, which releases it.
            let _ = granted.send(Permit { queue: Arc::clone(self), key: requester.key, flag });
        }
    }

    /// Returns the CPU time that requests took.
    pub(super) fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use facts::task::rounds::Scope;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::http::clients::RECALLED_AFTER;

    fn requester(uid: u32) -> Requester {
        Requester { key: ClientKey::User(uid), scope: Scope::User(uid), is_owner: uid == 0, is_cheap: false }
    }

    fn enqueue(queue: &Arc<RequestQueue>, requester: Requester) -> JoinHandle<Result<Permit, Busy>> {
        let queue = Arc::clone(queue);
        tokio::spawn(async move { queue.permit(requester).await })
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn a_client_waits_behind_its_own_requests() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(QUEUE_TIMEOUT, Ratio(0.1)));
            let first = queue.permit(requester(1)).await.unwrap();
            let second = queue.permit(requester(1)).await.unwrap();
            let more: Vec<_> = (0..3).map(|_| enqueue(&queue, requester(1))).collect();
            tokio::task::yield_now().await;
            let other = enqueue(&queue, requester(2));
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
            assert_eq!(queue.lock().clients.running.len(), 0);
        });
    }

    #[test]
    fn cheap_requests_of_a_client_come_before_its_others() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(QUEUE_TIMEOUT, Ratio(0.1)));
            let first = queue.permit(requester(1)).await.unwrap();
            let second = queue.permit(requester(1)).await.unwrap();
            let long = enqueue(&queue, requester(1));
            tokio::task::yield_now().await;
            let cheap = enqueue(&queue, requester(1).of_cheap());
            tokio::task::yield_now().await;
            drop(first);
            drop(cheap.await.unwrap().unwrap());
            drop(second);
            drop(long.await.unwrap().unwrap());
        });
    }

    #[test]
    fn a_request_that_times_out_or_is_dropped_keeps_no_permit() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(Duration::from_millis(10), Ratio(0.1)));
            let held = [queue.permit(requester(1)).await.unwrap(), queue.permit(requester(2)).await.unwrap()];
            let busy = queue.permit(requester(3)).await.unwrap_err();
            assert_eq!(busy.retry_after, Duration::from_millis(10));
            let dropped = tokio::spawn({
                let queue = Arc::clone(&queue);
                async move { queue.permit(requester(4)).await.map(drop) }
            });
            tokio::task::yield_now().await;
            dropped.abort();
            drop(held);
            assert!(dropped.await.is_err());
            let permit = queue.permit(requester(5)).await.unwrap();
            assert_eq!(queue.lock().clients.running.len(), 1);
            drop(permit);
        });
    }

    /// Runs requests of some users, lets them have run for long, and returns whose are recalled while another user waits.
    async fn recalled(running: &[u32], waiting: u32) -> Vec<u32> {
        let queue = Arc::new(RequestQueue::new(Duration::from_millis(150), Ratio(0.1)));
        let mut permits = Vec::new();
        for uid in running {
            permits.push((*uid, queue.permit(requester(*uid)).await.unwrap()));
        }
        // None has run for long.
        queue.permit(requester(waiting)).await.unwrap_err();
        assert!(permits.iter().all(|(_, permit)| !permit.recall_flag().is_set()));
        queue.lock().clients.running.iter_mut().for_each(|running| running.began -= RECALLED_AFTER);
        let recalled = || -> Vec<u32> {
            permits.iter().filter(|(_, permit)| permit.recall_flag().is_set()).map(|(uid, _)| *uid).collect()
        };
        // On a busy machine a wait may be over before the queue has looked.
        for _ in 0..3 {
            if recalled().is_empty() {
                queue.permit(requester(waiting)).await.unwrap_err();
            }
        }
        let recalled = recalled();
        drop(permits);
        drop(queue.permit(requester(waiting)).await.unwrap());
        assert!(queue.lock().clients.running.is_empty());
        recalled
    }

    #[test]
    fn a_long_request_is_recalled_while_another_client_waits() {
        runtime().block_on(async {
            assert_eq!(recalled(&[0, 1, 2], 3).await, [1]);
            assert_eq!(recalled(&[1, 2, 0], 3).await, [1]);
            // Not for a client that has as many.
            assert_eq!(recalled(&[1, 2], 1).await, Vec::<u32>::new());
            assert_eq!(recalled(&[1, 1], 1).await, Vec::<u32>::new());
            assert_eq!(recalled(&[1, 1], 2).await, [1]);
        });
    }

    #[test]
    fn a_free_permit_is_taken_before_one_is_recalled() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(QUEUE_TIMEOUT, Ratio(1.0)));
            let held = queue.permit(requester(1)).await.unwrap();
            queue.lock().clients.running[0].began -= RECALLED_AFTER;
            queue.lock().clients.charge(ClientKey::User(2), Duration::from_millis(1300));
            drop(queue.permit(requester(2)).await.unwrap());
            assert!(!held.recall_flag().is_set());
        });
    }

    #[test]
    fn root_takes_its_own_permit_first() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(Duration::from_millis(10), Ratio(0.1)));
            let _of_root =
                [queue.permit(requester(0)).await.unwrap(), queue.permit(requester(0)).await.unwrap()];
            let _other = queue.permit(requester(1)).await.unwrap();
            queue.permit(requester(2)).await.unwrap_err();
        });
    }

    #[test]
    fn a_client_that_has_used_its_share_waits() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(QUEUE_TIMEOUT, Ratio(0.01)));
            let charge = |uid, seconds| {
                queue.lock().clients.charge(ClientKey::User(uid), Duration::from_secs(seconds));
            };
            charge(0, 100);
            charge(1, 100);
            let busy = queue.permit(requester(1)).await.unwrap_err();
            assert!((30..=60).contains(&busy.retry_after.as_secs()), "{busy:?}");
            drop(queue.permit(requester(1).of_cheap()).await.unwrap());
            drop(queue.permit(requester(2)).await.unwrap());
            // Root is counted, and does not wait.
            drop(queue.permit(requester(0)).await.unwrap());
            assert_eq!(queue.lock().clients.running.len(), 0);
        });
    }

    #[test]
    fn a_queued_request_runs_when_there_is_cpu_time_again() {
        runtime().block_on(async {
            let queue = Arc::new(RequestQueue::new(QUEUE_TIMEOUT, Ratio(10.0)));
            queue.lock().clients.charge(ClientKey::User(1), Duration::from_secs(6));
            drop(queue.permit(requester(1)).await.unwrap());
        });
    }
}
