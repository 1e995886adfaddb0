//! Units of systemd, asked of it over D-Bus.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};
use formats::dbus::{self, Answer, Unit};

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// The socket of the system's bus.
const BUS: &str = "/run/dbus/system_bus_socket";
/// Units that the text names.
const MAX_NAMED: usize = 5;
const MAX_BYTES: usize = 16 << 20;

/// The subject is a unit or a pattern.
#[derive(Debug)]
struct Units;

pub(super) fn read(_table: &Options<'_, '_>, _subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    Ok(Arc::new(Units))
}

impl Probe for Units {
    fn run(&self, pattern: &str, limits: &Limits<'_>) -> Outcome {
        ask(pattern, limits.timeout)
    }
}

fn ask(pattern: &str, timeout: Duration) -> Outcome {
    let units = match units(pattern, timeout) {
        Ok(units) => units,
        Err(error) => return Outcome::new(State::Unknown, format!("systemd cannot be asked: {error}")),
    };
    // A unit that is not loaded, and never was, is not listed.
    let is_one = !pattern.contains(['*', '?', '[']);
    let is_wrong = |unit: &&Unit| match unit.active_state.as_str() {
        "failed" => true,
        "active" | "activating" | "reloading" | "refreshing" => false,
        _ => is_one,
    };
    let wrong: Vec<&Unit> = units.iter().filter(is_wrong).collect();
    let figures = format!("units={} wrong={}", units.len(), wrong.len());
    if units.is_empty() {
        let state = if is_one { State::Critical } else { State::Ok };
        return Outcome::new(state, format!("{pattern} is not loaded: it is inactive, or does not exist"))
            .with(figures);
    }
    let written = |unit: &&Unit| match unit.load_state.as_str() {
        "loaded" => format!("{} is {} ({})", unit.name, unit.active_state, unit.sub_state),
        other => format!("{} is {other}", unit.name),
    };
    if wrong.is_empty() {
        let text = match units.as_slice() {
            [unit] => written(&unit),
            _ => format!("none of {} units failed", units.len()),
        };
        return Outcome::new(State::Ok, text).with(figures);
    }
    let mut text = wrong.iter().take(MAX_NAMED).map(written).collect::<Vec<_>>().join(", ");
    if let Some(more) = wrong.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        text.push_str(&format!(", and {more} more"));
    }
    Outcome::new(State::Critical, text).with(figures)
}

fn units(pattern: &str, timeout: Duration) -> io::Result<Vec<Unit>> {
    let until = Instant::now() + timeout;
    let mut bus = UnixStream::connect(BUS)?;
    bus.set_write_timeout(Some(timeout))?;
    bus.write_all(&dbus::authentication(probe::own_uid()))?;
    let mut received = Vec::new();
    let line = loop {
        if let Some(end) = received.windows(2).position(|pair| pair == b"\r\n") {
            break received.drain(..end + 2).collect::<Vec<u8>>();
        }
        read_more(&mut bus, &mut received, until)?;
    };
    if !line.starts_with(b"OK") {
        return Err(io::Error::other("the bus does not accept this user"));
    }
    bus.write_all(&dbus::question(&[pattern]))?;
    loop {
        match dbus::answer(&received) {
            Answer::Units(units) => return Ok(units),
            Answer::Refused(name) => return Err(io::Error::other(name)),
            Answer::Invalid => return Err(io::ErrorKind::InvalidData.into()),
            Answer::Incomplete => read_more(&mut bus, &mut received, until)?,
        }
    }
}

fn read_more(bus: &mut UnixStream, received: &mut Vec<u8>, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    bus.set_read_timeout(Some(left))?;
    let mut bytes = [0; 16 * 1024];
    let length = match bus.read(&mut bytes) {
        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
        Err(error) => return Err(error),
    };
    if received.len() + length > MAX_BYTES {
        return Err(io::Error::other("the answer is too long"));
    }
    received.extend_from_slice(&bytes[..length]);
    Ok(())
}
