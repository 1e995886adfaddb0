//! All checks and their states, for the thread that runs them and for those that show them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::definition::Check;
use super::state::State;
use super::status::CheckStatus;

/// All checks and how they stand; the indices in both are the same.
#[derive(Debug, Default)]
pub struct CheckRegistry {
    /// The checks, in the order of the configuration.
    pub checks: Arc<Vec<Check>>,
    /// The status of each.
    pub statuses: Vec<CheckStatus>,
    /// Indices by names.
    indices: HashMap<String, usize>,
    /// By index: those whose problems a problem of it explains.
    explained: HashMap<usize, Vec<usize>>,
    /// What was done so far.
    pub counts: Counts,
}

/// Counts of runs and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Plugins that run.
    pub running: u64,
    /// Plugins that were started.
    pub started: u64,
    /// Runs that were left out, because the check was late or still ran.
    pub skipped: u64,
    /// Results that others submitted.
    pub submitted: u64,
}

impl CheckRegistry {
    /// Creates the registry of these checks, with their last statuses.
    pub fn new(checks: Arc<Vec<Check>>, last: Vec<CheckStatus>) -> Self {
        let mut registry = Self::default();
        registry.reconfigure(checks, last);
        registry
    }

    /// Replaces the checks. Each keeps its status, or gets the last one of its name. Returns the statuses of checks that are not configured any more.
    pub(super) fn reconfigure(
        &mut self,
        checks: Arc<Vec<Check>>,
        last: Vec<CheckStatus>,
    ) -> Vec<CheckStatus> {
        let mut known: HashMap<String, CheckStatus> =
            last.into_iter().map(|status| (status.name.clone(), status)).collect();
        for status in self.statuses.drain(..) {
            known.insert(status.name.clone(), status);
        }
        self.indices.clear();
        for (place, check) in checks.iter().enumerate() {
            let name = check.name.to_string();
            let mut status = known.remove(&name).unwrap_or_else(|| CheckStatus::new(name.clone()));
            status.gone_ms = None;
            self.statuses.push(status);
            self.indices.insert(name, place);
        }
        self.explained = HashMap::new();
        for (place, check) in checks.iter().enumerate() {
            for other in check.explanations().filter_map(|name| self.indices.get(name)) {
                self.explained.entry(*other).or_default().push(place);
            }
        }
        self.checks = checks;
        known.into_values().collect()
    }

    /// Returns the index of a check by its name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// The checks whose problems a problem of this one explains.
    pub(super) fn explained_by(&self, place: usize) -> &[usize] {
        self.explained.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a host is down, as far as is known: also if that is not certain yet.
    pub fn is_down(&self, host: &str) -> bool {
        let status = self.index_of(host).map(|place| &self.statuses[place]);
        status.is_some_and(CheckStatus::is_problem)
    }

    /// Returns whether nothing reaches a host: all of its parents are down. One that is not reached is down as well, by its own check.
    pub fn is_unreachable(&self, host: &str) -> bool {
        let Some(place) = self.index_of(host) else { return false };
        let parents = &self.checks[place].parents;
        !parents.is_empty() && parents.iter().all(|parent| self.is_down(parent))
    }

    /// Counts the checks in each state, at the index of the state's number, and those that have none yet.
    pub fn by_state(&self) -> ([usize; State::ALL.len()], usize) {
        let mut by_state = [0; State::ALL.len()];
        let mut pending = 0;
        for status in &self.statuses {
            match status.state {
                Some(state) => by_state[usize::from(state.number())] += 1,
                None => pending += 1,
            }
        }
        (by_state, pending)
    }
}

/// Writes how many checks there are of each state, as lines of Prometheus' text format; nothing if there are none.
pub fn write_states(registry: &CheckRegistry, out: &mut String) {
    if registry.checks.is_empty() {
        return;
    }
    let (by_state, pending) = registry.by_state();
    let named = State::ALL.iter().map(|state| state.name().to_lowercase()).zip(by_state);
    for (state, count) in named.chain([("pending".to_owned(), pending)]) {
        let _ = writeln!(out, "whit_checks{{state=\"{state}\"}} {count}");
    }
}

/// The registry. One thread writes it, others read it.
#[derive(Clone, Debug, Default)]
pub struct SharedChecks(Arc<Mutex<CheckRegistry>>);

impl SharedChecks {
    /// Locks the registry. Others wait as long as the guard lives.
    pub fn lock(&self) -> MutexGuard<'_, CheckRegistry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
