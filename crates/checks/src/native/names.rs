//! Names in the DNS.

use std::time::{Duration, Instant};

use super::outcome::Outcome;
use super::subject::NameCheck;
use crate::state::State;

/// Addresses that the text names.
const MOST_NAMED: usize = 5;

pub(super) fn resolve(wanted: &NameCheck, timeout: Duration) -> Outcome {
    let begun = Instant::now();
    let addresses = match resolver::addresses_of(&wanted.name, timeout) {
        Ok(addresses) => addresses,
        Err(error) => return Outcome::new(State::Critical, error),
    };
    let took = begun.elapsed();
    let named: Vec<String> = addresses.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let mut text = format!("{} has the address {}", wanted.name, named.join(", "));
    let mut state = State::Ok;
    if let Some(missing) = wanted.addresses.iter().find(|address| !addresses.contains(address)) {
        state = State::Critical;
        text.push_str(&format!(", not {missing}"));
    } else if wanted.slow.is_some_and(|slow| took > slow) {
        state = State::Warning;
        text.push_str(", slowly");
    }
    let took_s = took.as_secs_f64();
    Outcome::new(state, text).with(format!("time={took_s:.6}s addresses={}", addresses.len()))
}
