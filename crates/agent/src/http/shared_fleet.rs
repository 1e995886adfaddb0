//! The fleet of the agent's configuration, whose store is asked once for all pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use fleet::{Asked, Fleet, FleetOptions};
use jiff::Timestamp;
use query::Answer;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::reply::{Refusal, blocking, refusal};

/// An answer is kept for so long: the number of pages does not change what the store is asked.
const FRESH: Duration = Duration::from_secs(5);
/// After this nothing more is asked for an answer, and the longest that one question may take.
const LONGEST: Duration = Duration::from_secs(15);
const LONGEST_QUESTION: Duration = Duration::from_secs(10);

/// The last answer of the store, and when it was made.
type LastAnswer = Option<(Instant, Result<Arc<Value>, String>)>;

/// The fleet of this agent's configuration.
#[derive(Debug, Default)]
pub(super) struct SharedFleet {
    fleet: Option<Arc<Fleet>>,
    /// Locked while the store is asked: others wait for the same answer, and occupy no thread.
    last: Arc<Mutex<LastAnswer>>,
    /// Locked while one machine is asked about.
    of_machine: Arc<Mutex<()>>,
}

impl SharedFleet {
    pub(super) fn new(options: Option<&FleetOptions>) -> Self {
        let fleet = options.map(|options| Arc::new(Fleet::new(options, LONGEST_QUESTION)));
        Self { fleet, ..Self::default() }
    }

    /// Returns whether a fleet is configured.
    pub(super) fn is_on(&self) -> bool {
        self.fleet.is_some()
    }

    fn fleet(&self) -> Result<Arc<Fleet>, Refusal> {
        let message = "no store is configured: [fleet] in the agent's configuration";
        self.fleet.clone().ok_or_else(|| refusal(StatusCode::NOT_FOUND, "not_found", message))
    }

    /// Returns all machines, by the last answer if it is fresh.
    pub(super) async fn machines(&self) -> Result<Arc<Value>, Refusal> {
        let fleet = self.fleet()?;
        let mut last = Arc::clone(&self.last).lock_owned().await;
        let fresh = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, answer)| answer.clone());
        let answer = match fresh {
            Some(answer) => answer,
            None => {
                // It stays locked also if the page does not wait for the answer any more: one question at a time.
                let ask = move || {
                    let answer = machines(&fleet);
                    *last = Some((Instant::now(), answer.clone()));
                    answer
                };
                blocking(ask).await?
            }
        };
        answer.map_err(|message| refusal(StatusCode::BAD_GATEWAY, "store", message))
    }

    /// Returns the answers to expressions about one machine.
    pub(super) async fn of_machine(
        &self,
        machine: String,
        expressions: Vec<String>,
        asked: Asked,
    ) -> Result<Vec<Result<Answer, String>>, Refusal> {
        let fleet = self.fleet()?;
        let turn = Arc::clone(&self.of_machine).lock_owned().await;
        let ask = move || {
            let _turn = turn;
            fleet.of_machine(&machine, &expressions, asked, Instant::now() + LONGEST)
        };
        blocking(ask).await
    }
}

fn machines(fleet: &Fleet) -> Result<Arc<Value>, String> {
    let snapshot = fleet.at(Timestamp::now().as_millisecond(), Instant::now() + LONGEST)?;
    let answer = json!({ "at_ms": snapshot.at_ms, "machines": snapshot.machines, "faults": snapshot.faults });
    Ok(Arc::new(answer))
}
