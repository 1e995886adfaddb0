//! The state of a check, and how a result changes it. Pure: the time is given.

use serde::{Deserialize, Serialize};

use super::flapping::Flapping;
use super::runner::RunCost;
use super::state::State;
use notify::StateChange;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The state.
    pub state: State,
    /// The first line.
    pub text: String,
    /// The other lines.
    pub long_text: String,
    /// The performance data, as it was written.
    pub figures: String,
    /// When it was found, in milliseconds since 1970.
    pub at_ms: i64,
    /// It was submitted by others.
    pub is_passive: bool,
}

/// The acknowledgement of a problem: there are no notifications of it any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// Its author.
    pub author: String,
    /// The comment.
    pub comment: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// It lasts until the check is OK, not only until the state changes.
    pub is_sticky: bool,
}

/// The last notification of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastNotification {
    /// The state that it named.
    pub state: State,
    /// How many there were since the check was OK.
    pub times: u32,
    /// When it was sent, in milliseconds since 1970.
    pub at_ms: i64,
}

/// The state of a check, with all that must survive a restart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckStatus {
    /// The name of the check.
    pub name: String,
    /// The state by the last result; `None`: there was none yet.
    pub state: Option<State>,
    /// The hard state: it changes when a result was repeated often enough.
    pub hard_state: State,
    /// The state is hard.
    pub is_hard: bool,
    /// How many results in sequence show the problem, until it is hard.
    pub attempt: u32,
    /// When the state changed, in milliseconds since 1970.
    pub since_ms: i64,
    /// When the hard state changed, in milliseconds since 1970.
    pub hard_since_ms: i64,
    /// When the last result came, in milliseconds since 1970.
    pub result_ms: i64,
    /// When the check was OK last, in milliseconds since 1970.
    pub fine_ms: Option<i64>,
    /// The first line of the last result.
    pub text: String,
    /// Its other lines. When the result is written, the ledger alone has them.
    #[serde(skip)]
    pub long_text: String,
    /// It is of a result that is not written yet.
    #[serde(skip)]
    pub(super) is_text_new: bool,
    /// The ledger has a long text.
    pub has_long_text: bool,
    /// Its performance data.
    pub figures: String,
    /// The last result was submitted by others.
    pub is_passive: bool,
    /// The last result is too old.
    pub is_stale: bool,
    /// The record of whether the state changes too often.
    pub flapping: Flapping,
    /// The acknowledgement of the problem.
    pub acknowledgement: Option<Box<Acknowledgement>>,
    /// The last notification; `None`: there was none since the check was OK.
    // Ledgers have its old name.
    #[serde(rename = "told")]
    pub last_notification: Option<LastNotification>,
    /// There was a notification that it flaps.
    pub is_flapping_told: bool,
    /// When it was configured, if it had no result then, or was configured again; in milliseconds since 1970.
    #[serde(default)]
    pub known_ms: Option<i64>,
    /// When it was removed from the configuration, in milliseconds since 1970.
    pub gone_ms: Option<i64>,
    /// The cost of its runs.
    pub cost: TotalCost,
}

/// The cost of all runs of a plugin, and of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TotalCost {
    /// Runs.
    pub runs: u64,
    /// Their sum; a part that is not known is that of the others.
    pub sum: RunCost,
    /// The last one.
    pub last: RunCost,
}

impl TotalCost {
    /// Adds a run.
    pub(crate) fn add(&mut self, run: RunCost) {
        self.runs += 1;
        self.last = run;
        self.sum.add(&run);
    }
}

/// The rules that decide whether a result is hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// So many results in sequence make a problem hard.
    pub(super) attempts: u32,
    /// The check is of a host, which is up or down.
    pub(super) is_of_host: bool,
    /// The check is of a service whose host is down: its problems are hard at once.
    pub(super) is_host_down: bool,
}

/// The changes that a result made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Another state.
    pub(super) is_other_state: bool,
    /// Another hard state.
    pub(super) is_other_hard_state: bool,
}

impl AsRef<str> for CheckStatus {
    /// Its name.
    fn as_ref(&self) -> &str {
        &self.name
    }
}

impl CheckStatus {
    /// That of a check without a result.
    pub(super) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Returns whether the state is not OK, soft or hard.
    pub fn is_problem(&self) -> bool {
        self.state.is_some_and(|state| state != State::Ok)
    }

    /// Orders statuses by how bad they are: the worst has the smallest number.
    pub fn severity(&self) -> u8 {
        match self.state {
            Some(State::Critical) => 0,
            Some(State::Unknown) => 1,
            Some(State::Warning) => 2,
            None => 3,
            Some(State::Ok) => 4,
        }
    }

    /// Returns whether it is repeated at the retry interval.
    pub(super) fn is_retried(&self) -> bool {
        self.is_problem() && !self.is_hard
    }

    /// The change of its hard state that a result made.
    pub(super) fn hard_change(&self, at_ms: i64) -> StateChange {
        StateChange {
            subject: format!("check {}", self.name),
            state: self.state.unwrap_or_default().name().to_owned(),
            text: self.text.clone(),
            at_ms,
        }
    }

    /// Gives the long text back, which is written.
    pub(super) fn forget_text(&mut self) {
        self.has_long_text = self.will_have_text();
        (self.long_text, self.is_text_new) = (String::new(), false);
    }

    /// Returns whether the ledger has a long text when this is written.
    pub(super) fn will_have_text(&self) -> bool {
        if self.is_text_new { !self.long_text.is_empty() } else { self.has_long_text }
    }

    /// Takes a result.
    pub(super) fn take(&mut self, finding: Finding, rules: Rules) -> Change {
        let Finding { state, text, long_text, figures, at_ms, is_passive } = finding;
        let state = match (rules.is_of_host, state) {
            (false, state) => state,
            (true, State::Ok | State::Warning) => State::Ok,
            (true, State::Critical | State::Unknown) => State::Critical,
        };
        let before = self.state;
        let was_fine = before.is_none_or(|before| before == State::Ok);
        let was_hard_problem = !was_fine && self.is_hard;
        (self.text, self.long_text, self.figures) = (text, long_text, figures);
        self.is_text_new = true;
        (self.state, self.result_ms, self.is_passive, self.is_stale) =
            (Some(state), at_ms, is_passive, false);
        if state == State::Ok {
            (self.attempt, self.is_hard, self.fine_ms) = (1, true, Some(at_ms));
        } else {
            self.attempt = match (was_fine, was_hard_problem) {
                (true, _) => 1,
                (false, true) => self.attempt,
                (false, false) => self.attempt.saturating_add(1),
            };
            self.is_hard = was_hard_problem || self.attempt >= rules.attempts || rules.is_host_down;
        }
        let is_other_state = before != Some(state);
        if is_other_state {
            self.since_ms = at_ms;
        }
        let is_other_hard_state = self.is_hard && (self.hard_state != state || before.is_none());
        if is_other_hard_state {
            (self.hard_state, self.hard_since_ms) = (state, at_ms);
        }
        let is_over = state == State::Ok && self.is_hard;
        // A problem that becomes certain keeps its state.
        let is_forgotten = |known: &Acknowledgement| is_over || (is_other_state && !known.is_sticky);
        if self.acknowledgement.as_deref().is_some_and(is_forgotten) {
            self.acknowledgement = None;
        }
        self.flapping.add(state);
        Change { is_other_state, is_other_hard_state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { attempts: 3, is_of_host: false, is_host_down: false };

    fn finding(state: State, at_ms: i64) -> Finding {
        Finding { state, at_ms, ..Finding::default() }
    }

    /// The states and their attempts, `!` if they are certain.
    fn walk(states: &[State], rules: Rules) -> Vec<String> {
        let mut status = CheckStatus::new("a".to_owned());
        let mut step = |(at, state): (usize, &State)| {
            status.take(finding(*state, at as i64), rules);
            let mark = if status.is_hard { "!" } else { "" };
            format!("{}{}{mark}", status.state.unwrap().number(), status.attempt)
        };
        states.iter().enumerate().map(&mut step).collect()
    }

    #[test]
    fn what_is_wrong_is_certain_after_some_attempts() {
        use State::{Critical as C, Ok as O, Warning as W};
        assert_eq!(walk(&[O, C, C, C, C, O], RULES), ["01!", "21", "22", "23!", "23!", "01!"]);
        // Another problem goes on counting, and is certain at once if there was one.
        assert_eq!(walk(&[C, W, C, W], RULES), ["21", "12", "23!", "13!"]);
        // It was nothing.
        assert_eq!(walk(&[O, C, O, C], RULES), ["01!", "21", "01!", "21"]);
        assert_eq!(walk(&[C, O], Rules { attempts: 1, ..RULES }), ["21!", "01!"]);
        assert_eq!(walk(&[C], Rules { is_host_down: true, ..RULES }), ["21!"]);
        // A host is up with a warning, and down whatever else.
        assert_eq!(walk(&[W, State::Unknown], Rules { is_of_host: true, ..RULES }), ["01!", "21"]);
    }

    #[test]
    fn an_acknowledgement_outlives_that_its_problem_is_certain() {
        let mut status = CheckStatus::new("a".to_owned());
        for (at_ms, state) in
            [State::Ok, State::Critical, State::Critical, State::Critical].into_iter().enumerate()
        {
            status.take(finding(state, at_ms as i64), RULES);
            if at_ms == 1 {
                status.acknowledgement = Some(Box::new(Acknowledgement {
                    author: String::new(),
                    comment: String::new(),
                    at_ms: 1,
                    is_sticky: false,
                }));
            }
        }
        assert!(status.is_hard && status.acknowledgement.is_some());
        status.take(finding(State::Warning, 9), RULES);
        assert!(status.acknowledgement.is_none());
    }

    #[test]
    fn an_acknowledgement_ends_with_its_problem() {
        let known = |is_sticky| {
            let mut status = CheckStatus::new("a".to_owned());
            let rules = Rules { attempts: 1, ..RULES };
            status.take(finding(State::Warning, 0), rules);
            status.acknowledgement = Some(Box::new(Acknowledgement {
                author: String::new(),
                comment: String::new(),
                at_ms: 0,
                is_sticky,
            }));
            let mut is_known = |state| {
                status.take(finding(state, 1), rules);
                status.acknowledgement.is_some()
            };
            [is_known(State::Warning), is_known(State::Critical), is_known(State::Ok)]
        };
        assert_eq!(known(false), [true, false, false]);
        assert_eq!(known(true), [true, true, false]);
    }

    #[test]
    fn times_are_those_of_changes() {
        let mut status = CheckStatus::new("a".to_owned());
        let rules = Rules { attempts: 2, ..RULES };
        assert!(status.take(finding(State::Ok, 1), rules).is_other_hard_state);
        assert_eq!(status.take(finding(State::Ok, 2), rules), Change::default());
        let change = status.take(finding(State::Critical, 3), rules);
        assert!(change.is_other_state && !change.is_other_hard_state && status.is_retried());
        let change = status.take(finding(State::Critical, 4), rules);
        assert!(!change.is_other_state && change.is_other_hard_state && !status.is_retried());
        assert_eq!((status.since_ms, status.hard_since_ms, status.fine_ms), (3, 4, Some(2)));
    }
}
