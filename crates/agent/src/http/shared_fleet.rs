//! The fleet of the agent's configuration, whose store is asked once for all pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use fleet::{Asked, Fleet, FleetOptions};
use history::why::{Findings, Window};
use jiff::Timestamp;
use query::Answer;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::reply::{Refusal, blocking, refusal};

/// Answers about the present and about the last hour are kept for so long: the number of pages does not change what the store is asked.
const FRESH_PRESENT: Duration = Duration::from_secs(5);
const FRESH_PAST: Duration = Duration::from_secs(60);
/// After this nothing more is asked for an answer, and the longest that one question may take.
const LONGEST: Duration = Duration::from_secs(15);
const MAX_QUESTION: Duration = Duration::from_secs(10);

/// The last answer of the store to a question, and when it was made.
type LastAnswer = Option<(Instant, Result<Arc<Value>, String>)>;

/// An answer for all pages. Locked while the store is asked: others wait for the same answer, and occupy no thread.
#[derive(Debug, Default)]
struct KeptAnswer(Arc<Mutex<LastAnswer>>);

impl KeptAnswer {
    /// Returns the last answer if it is fresh, otherwise a new one.
    async fn get(
        &self,
        fresh: Duration,
        ask: impl FnOnce() -> Result<Value, String> + Send + 'static,
    ) -> Result<Arc<Value>, Refusal> {
        let mut last = Arc::clone(&self.0).lock_owned().await;
        let known = last.as_ref().filter(|(at, _)| at.elapsed() < fresh).map(|(_, answer)| answer.clone());
        let answer = match known {
            Some(answer) => answer,
            None => {
                // It stays locked also if the page does not wait for the answer any more: one question at a time.
                let ask_and_keep = move || {
                    let answer = ask().map(Arc::new);
                    *last = Some((Instant::now(), answer.clone()));
                    answer
                };
                blocking(ask_and_keep).await?
            }
        };
        answer.map_err(of_store)
    }
}

/// What the store says of itself.
fn of_store(message: String) -> Refusal {
    refusal(StatusCode::BAD_GATEWAY, "store", message)
}

/// The fleet of this agent's configuration.
#[derive(Debug, Default)]
pub(super) struct SharedFleet {
    fleet: Option<Arc<Fleet>>,
    present: KeptAnswer,
    past: KeptAnswer,
    /// Locked while one machine is asked about: for plots, for what its programs did, and for reasons.
    of_machine: Arc<Mutex<()>>,
    uses: Arc<Mutex<()>>,
    reasons: Arc<Mutex<()>>,
}

impl SharedFleet {
    pub(super) fn new(options: Option<&FleetOptions>) -> Self {
        let fleet = options.map(|options| Arc::new(Fleet::new(options, MAX_QUESTION)));
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

    /// Returns all machines, as of now.
    pub(super) async fn machines(&self) -> Result<Arc<Value>, Refusal> {
        let fleet = self.fleet()?;
        self.present.get(FRESH_PRESENT, move || machines(&fleet)).await
    }

    /// Returns how busy all machines were in the last hour.
    pub(super) async fn past(&self) -> Result<Arc<Value>, Refusal> {
        let fleet = self.fleet()?;
        let ask = move || Ok(json!(fleet.past(Timestamp::now().as_millisecond())?));
        self.past.get(FRESH_PAST, ask).await
    }

    /// Returns what the programs and the units of one machine did before an instant in milliseconds since 1970.
    pub(super) async fn uses(&self, machine: String, at_ms: i64) -> Result<Value, Refusal> {
        let fleet = self.fleet()?;
        let uses = in_turn(&self.uses, move |deadline| fleet.uses(&machine, at_ms, deadline)).await?;
        uses.map(|uses| json!(uses)).map_err(of_store)
    }

    /// Examines a window of one machine, reading no more than so many samples.
    pub(super) async fn why(
        &self,
        machine: String,
        window: Window,
        most_points: usize,
    ) -> Result<Findings, Refusal> {
        let fleet = self.fleet()?;
        let ask = move |deadline| fleet.why(&machine, window, deadline, most_points);
        in_turn(&self.reasons, ask).await?.map_err(of_store)
    }

    /// Returns the answers to expressions about one machine.
    pub(super) async fn of_machine(
        &self,
        machine: String,
        expressions: Vec<String>,
        asked: Asked,
    ) -> Result<Vec<Result<Answer, String>>, Refusal> {
        let fleet = self.fleet()?;
        in_turn(&self.of_machine, move |deadline| fleet.of_machine(&machine, &expressions, asked, deadline))
            .await
    }
}

/// Asks the store when it is this question's turn. The turn lasts until the store has answered, also if the page is gone.
async fn in_turn<T: Send + 'static>(
    turn: &Arc<Mutex<()>>,
    ask: impl FnOnce(Instant) -> T + Send + 'static,
) -> Result<T, Refusal> {
    let turn = Arc::clone(turn).lock_owned().await;
    let ask_in_turn = move || {
        let _turn = turn;
        ask(Instant::now() + LONGEST)
    };
    blocking(ask_in_turn).await
}

fn machines(fleet: &Fleet) -> Result<Value, String> {
    let snapshot = fleet.at(Timestamp::now().as_millisecond(), Instant::now() + LONGEST)?;
    Ok(json!({ "at_ms": snapshot.at_ms, "machines": snapshot.machines, "faults": snapshot.faults }))
}
