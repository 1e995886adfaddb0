//! All checks and their states, for the thread that runs them and for those that show them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::definition::Check;
use super::standing::Standing;
use super::state::State;

/// All checks and how they stand; the places in both are the same.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    pub(crate) checks: Arc<Vec<Check>>,
    pub(crate) standings: Vec<Standing>,
    /// The place of a name.
    places: HashMap<String, usize>,
    pub(crate) counts: Counts,
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Plugins that run.
    pub(crate) running: u64,
    /// Plugins that were started.
    pub(crate) started: u64,
    /// Times that were left out, because the check was late or still ran.
    pub(crate) skipped: u64,
    /// Results that others submitted.
    pub(crate) submitted: u64,
}

impl Roster {
    /// These checks. They stand as they did, or as the last standing of their names says.
    /// Returns what is known of others.
    pub(super) fn reconfigure(&mut self, checks: Arc<Vec<Check>>, last: Vec<Standing>) -> Vec<Standing> {
        let mut known: HashMap<String, Standing> =
            last.into_iter().map(|standing| (standing.name.clone(), standing)).collect();
        for standing in self.standings.drain(..) {
            known.insert(standing.name.clone(), standing);
        }
        self.places.clear();
        for (place, check) in checks.iter().enumerate() {
            let name = check.name.to_string();
            let mut standing = known.remove(&name).unwrap_or_else(|| Standing::new(name.clone()));
            standing.gone_ms = None;
            self.standings.push(standing);
            self.places.insert(name, place);
        }
        self.checks = checks;
        known.into_values().collect()
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Whether a host is down, as far as is known: also if that is not certain yet.
    pub(crate) fn is_down(&self, host: &str) -> bool {
        let standing = self.place(host).map(|place| &self.standings[place]);
        standing.is_some_and(Standing::is_problem)
    }

    /// Whether nothing reaches a host: all of its parents are down, or cannot be reached.
    pub(crate) fn is_unreachable(&self, host: &str) -> bool {
        // Hosts that are each other's parents were refused.
        let Some(place) = self.place(host) else { return false };
        let parents = &self.checks[place].parents;
        !parents.is_empty() && parents.iter().all(|parent| self.is_down(parent))
    }

    /// How many checks are in each state, the number of which is the place; and how many have none.
    pub(crate) fn by_state(&self) -> ([usize; State::ALL.len()], usize) {
        let mut by_state = [0; State::ALL.len()];
        let mut pending = 0;
        for standing in &self.standings {
            match standing.state {
                Some(state) => by_state[usize::from(state.number())] += 1,
                None => pending += 1,
            }
        }
        (by_state, pending)
    }
}

/// Writes how many checks there are of each state, as lines of Prometheus' text format; nothing if there are none.
pub(crate) fn write_states(roster: &Roster, out: &mut String) {
    if roster.checks.is_empty() {
        return;
    }
    let (by_state, pending) = roster.by_state();
    let named = State::ALL.iter().map(|state| state.name().to_lowercase()).zip(by_state);
    for (state, count) in named.chain([("pending".to_owned(), pending)]) {
        let _ = writeln!(out, "whit_checks{{state=\"{state}\"}} {count}");
    }
}

/// Where one thread writes and others read.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedRoster(Arc<Mutex<Roster>>);

impl SharedRoster {
    /// Others wait as long as this is held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Roster> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
