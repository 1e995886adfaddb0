//! Names in the DNS.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// Addresses that the text names.
const MAX_NAMED: usize = 5;

/// The answer that is expected.
#[derive(Debug)]
struct Name {
    /// It must have these addresses, and may have others.
    addresses: Vec<IpAddr>,
    /// A slower answer is a warning.
    slow: Option<Duration>,
}

pub(super) fn read(table: &Options<'_, '_>, _subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    let address = |text: &String| {
        let wrong =
            || table.fault_of("addresses", format!("\"{text}\" is no address, such as \"192.0.2.7\""));
        text.parse().map_err(|_| wrong())
    };
    let addresses = table.texts("addresses")?.iter().map(address).collect::<Result<_, _>>()?;
    Ok(Arc::new(Name { addresses, slow: table.duration("slow")? }))
}

impl Probe for Name {
    fn run(&self, name: &str, limits: &Limits<'_>) -> Outcome {
        resolve(self, name, limits.timeout)
    }
}

fn resolve(wanted: &Name, name: &str, timeout: Duration) -> Outcome {
    let begun = Instant::now();
    // A name with a dot is complete: a wildcard of this machine's own domain is not asked for.
    let complete =
        if name.contains('.') && !name.ends_with('.') { format!("{name}.") } else { name.to_owned() };
    let addresses = match resolver::addresses_of(&complete, timeout) {
        Ok(addresses) => addresses,
        Err(error) => return Outcome::new(State::Critical, error),
    };
    let took = begun.elapsed();
    let named: Vec<String> = addresses.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let mut text = format!("{name} has the address {}", named.join(", "));
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
