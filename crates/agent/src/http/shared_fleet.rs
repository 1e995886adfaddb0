//! The fleet of the agent's configuration, whose store is asked once for all pages.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use fleet::{Fleet, FleetOptions};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::{Refusal, refusal};

/// An answer is kept for so long: the number of pages does not change what the store is asked.
const FRESH: Duration = Duration::from_secs(5);
/// After this nothing more is asked for an answer.
pub(super) const LONGEST: Duration = Duration::from_secs(15);

/// The fleet of this agent's configuration.
#[derive(Debug, Default)]
pub(super) struct SharedFleet {
    fleet: Option<Fleet>,
    /// The last answer, and when it was made. Locked while the store is asked.
    last: Mutex<Option<(Instant, Arc<Value>)>>,
}

impl SharedFleet {
    pub(super) fn new(options: Option<&FleetOptions>) -> Self {
        Self { fleet: options.map(Fleet::new), last: Mutex::default() }
    }

    /// Returns whether a fleet is configured.
    pub(super) fn is_on(&self) -> bool {
        self.fleet.is_some()
    }

    pub(super) fn fleet(&self) -> Result<&Fleet, Refusal> {
        let message = "no store is configured: [fleet] in the agent's configuration";
        self.fleet.as_ref().ok_or_else(|| refusal(StatusCode::NOT_FOUND, "not_found", message))
    }

    /// Asks the store, or takes the last answer. One request asks at a time.
    pub(super) fn ask(&self) -> Result<Arc<Value>, Refusal> {
        let fleet = self.fleet()?;
        let mut last = match self.last.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(error)) => PoisonError::into_inner(error),
            Err(TryLockError::WouldBlock) => {
                let message = "the store is being asked already";
                return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, "busy", message));
            }
        };
        if let Some((at, answer)) = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            let _ = at;
            return Ok(Arc::clone(answer));
        }
        let at_ms = Timestamp::now().as_millisecond();
        let snapshot = fleet.at(at_ms, Instant::now() + LONGEST).map_err(of_store)?;
        let answer =
            json!({ "at_ms": snapshot.at_ms, "machines": snapshot.machines, "faults": snapshot.faults });
        let answer = Arc::new(answer);
        *last = Some((Instant::now(), Arc::clone(&answer)));
        Ok(answer)
    }
}

fn of_store(message: String) -> Refusal {
    refusal(StatusCode::BAD_GATEWAY, "store", &message)
}
