//! States that change all the time: <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/flapping.html>.

use serde::{Deserialize, Serialize};

use super::state::State;

/// States that are looked back at.
const STATES: u32 = 21;
/// A state has so many bits.
const BITS: u32 = 2;
/// The weight of the oldest change, and of the newest.
const WEIGHTS: (f64, f64) = (0.75, 1.25);
/// From this part of changes on it flaps, and below that no more.
const FLAPS_FROM: f64 = 0.20;
const CALM_BELOW: f64 = 0.05;

/// The last states, and whether they change too often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flapping {
    /// The newest in the lowest bits.
    states: u64,
    known: u32,
    is_flapping: bool,
}

impl Flapping {
    /// Returns whether the state changes too often.
    pub fn is_flapping(self) -> bool {
        self.is_flapping
    }

    /// Adds a state. Returns whether it began or ceased to flap.
    pub(super) fn add(&mut self, state: State) -> bool {
        // Before the first one all was as it is.
        let fill = if self.known == 0 { STATES } else { 1 };
        for _ in 0..fill {
            self.states = (self.states << BITS | u64::from(state.number())) & ((1 << (STATES * BITS)) - 1);
        }
        self.known = (self.known + 1).min(STATES);
        let changes = self.changes();
        let is_flapping = if self.is_flapping { changes >= CALM_BELOW } else { changes >= FLAPS_FROM };
        std::mem::replace(&mut self.is_flapping, is_flapping) != is_flapping
    }

    /// The part of the last states that differ from the one before them; newer ones count for more.
    pub fn changes(self) -> f64 {
        let state = |age: u32| self.states >> (age * BITS) & 3;
        let last = STATES - 1;
        let step = (WEIGHTS.1 - WEIGHTS.0) / f64::from(last - 1);
        let weight = |age: u32| WEIGHTS.1 - f64::from(age) * step;
        let changed = (0..last).filter(|age| state(*age) != state(age + 1));
        changed.map(weight).sum::<f64>() / f64::from(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_all_the_time_flaps_until_it_is_calm() {
        let mut flapping = Flapping::default();
        let began =
            (0..10).position(|at| flapping.add(if at % 2 == 0 { State::Ok } else { State::Critical }));
        // Four changes of twenty, the newest of which weigh more than one each.
        assert_eq!((began, flapping.is_flapping()), (Some(4), true));
        assert!((flapping.changes() - 0.242).abs() < 0.001, "{}", flapping.changes());
        let calmed = (0..30).position(|_| flapping.add(State::Ok));
        assert_eq!((calmed, flapping.is_flapping()), (Some(18), false));
    }

    #[test]
    fn one_change_is_no_flapping() {
        let mut flapping = Flapping::default();
        for state in [State::Critical, State::Critical, State::Ok, State::Ok] {
            assert!(!flapping.add(state));
        }
    }
}
