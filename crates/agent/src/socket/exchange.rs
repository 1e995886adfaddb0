//! Between the recorder and the thread that serves clients: which rounds are wanted, and those that are ready.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use facts::task::rounds::Scope;
use facts::unit::Nanos;
use probe::background_job::Notifier;

/// A message that is ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(super) what: What,
    /// A whole frame, shared by all clients that get it.
    pub(super) frame: Arc<[u8]>,
}

/// Which clients a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// All tasks of a scope: for clients that wait for their first round.
    Whole(Scope),
    /// The changes in a scope: for clients that have all the rounds before.
    Round(Scope),
    /// For clients of a scope that asked for it.
    Status(Scope),
}

/// The clients' demand for a scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    /// Clients that follow it.
    pub(super) followers: usize,
    /// Clients that wait for all of its tasks.
    pub(super) waiting: usize,
}

impl Wish {
    /// Returns whether a client waits for all tasks.
    pub(crate) fn is_whole_wanted(self) -> bool {
        self.waiting > 0
    }
}

#[derive(Debug, Default)]
struct State {
    /// Nothing is published any more.
    is_closed: bool,
    /// All connections must be closed, because the interval that they received has changed.
    is_hang_up_wanted: bool,
    interval: Option<Nanos>,
    wishes: HashMap<Scope, Wish>,
    /// Scopes whose clients wait for the status.
    status_wishes: Vec<Scope>,
    published: Vec<Published>,
}

/// The place where both meet.
#[derive(Debug)]
pub(crate) struct Exchange {
    state: Mutex<State>,
    to_server: Notifier,
    to_recorder: Notifier,
}

impl Exchange {
    pub(super) fn new(to_server: Notifier, to_recorder: Notifier) -> Self {
        Self { state: Mutex::default(), to_server, to_recorder }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scopes that clients follow or wait for.
    pub(crate) fn wishes(&self) -> Vec<(Scope, Wish)> {
        self.state().wishes.iter().map(|(scope, wish)| (*scope, *wish)).collect()
    }

    /// The scopes whose clients wait for the status.
    pub(crate) fn status_wishes(&self) -> Vec<Scope> {
        self.state().status_wishes.clone()
    }

    /// Leaves a frame for the clients.
    pub(crate) fn publish(&self, what: What, frame: Vec<u8>) {
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        match what {
            // The server counts those that come after this as waiting again.
            What::Whole(scope) => {
                if let Some(wish) = state.wishes.get_mut(&scope) {
                    wish.followers += wish.waiting;
                    wish.waiting = 0;
                }
            }
            What::Status(scope) => state.status_wishes.retain(|wished| *wished != scope),
            What::Round(_) => {}
        }
        state.published.push(Published { what, frame: frame.into() });
        drop(state);
        self.to_server.notify();
    }

    /// Closes all connections, so that clients connect again.
    pub(crate) fn hang_up(&self) {
        self.state().is_hang_up_wanted = true;
        self.to_server.notify();
    }

    /// Tasks are read in another interval: closes the connections, so that clients learn that, or read the kernel themselves.
    pub(crate) fn set_interval(&self, interval: Nanos) {
        let mut state = self.state();
        (state.is_hang_up_wanted, state.interval) = (true, Some(interval));
        drop(state);
        self.to_server.notify();
    }

    /// The time between two readings of all tasks, if it is not that between two ticks.
    pub(super) fn interval(&self) -> Option<Nanos> {
        self.state().interval
    }

    /// Returns whether the connections are to be closed; `true` once.
    pub(super) fn take_hang_up(&self) -> bool {
        std::mem::take(&mut self.state().is_hang_up_wanted)
    }

    /// Ends the exchange: nothing is published from now on.
    pub(super) fn close(&self) {
        *self.state() = State { is_closed: true, ..State::default() };
    }

    /// A client waits for its first round.
    pub(super) fn wait_for(&self, scope: Scope) {
        self.state().wishes.entry(scope).or_default().waiting += 1;
        self.to_recorder.notify();
    }

    /// A client waits for the status.
    pub(super) fn wait_for_status(&self, scope: Scope) {
        let mut state = self.state();
        if !state.status_wishes.contains(&scope) {
            state.status_wishes.push(scope);
        }
        drop(state);
        self.to_recorder.notify();
    }

    /// A client is gone, or has been left out.
    pub(super) fn leave(&self, scope: Scope) {
        let mut state = self.state();
        if let Some(wish) = state.wishes.get_mut(&scope) {
            // Which of the two it was counted as may just have changed.
            match wish.followers {
                0 => wish.waiting = wish.waiting.saturating_sub(1),
                _ => wish.followers -= 1,
            }
            if wish.followers + wish.waiting == 0 {
                state.wishes.remove(&scope);
            }
        }
    }

    /// Takes what is ready.
    pub(super) fn take(&self) -> Vec<Published> {
        std::mem::take(&mut self.state().published)
    }
}
