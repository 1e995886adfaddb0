//! `whit why --machine`: a machine of the fleet, by what the store has of it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ::fleet::Fleet;
use ::history::why::Window;
use ::query::Limits;
use command::failure::Failure;

use super::answer::{Answer, during, print};
use super::arguments::{StoredMachine, Time, WhyArgs};

/// After this nothing more is asked, and the longest that one question may take.
const LONGEST: Duration = Duration::from_secs(60);
const MAX_QUESTION: Duration = Duration::from_secs(30);
/// Recorded expressions are of whole minutes, and go out so long after the end of one at the latest.
const MINUTE_MS: i64 = 60_000;
const SENT_AFTER_MS: i64 = 30_000;

pub(super) fn run(machine: &StoredMachine, args: &WhyArgs) -> Result<ExitCode, Failure> {
    let fixed_at = probe::clock_now().realtime;
    let known_ms = ((fixed_at.0 / 1_000_000).cast_signed() - SENT_AFTER_MS) / MINUTE_MS * MINUTE_MS;
    let (from_ms, to_ms) = match args.time {
        Time::Last { length_ms } => (known_ms - length_ms, known_ms),
        Time::Between { from_ms, .. } if args.ends_now => (from_ms, known_ms.max(from_ms + MINUTE_MS)),
        Time::Between { from_ms, to_ms } => (from_ms, to_ms),
    };
    let window = Window { from_ms, to_ms };
    let fleet = Fleet::new(&machine.store, MAX_QUESTION);
    let examined = during(window, || {
        fleet.why(&machine.name, window, Instant::now() + LONGEST, Limits::default().most_points)
    });
    let findings = examined.map_err(Failure::new)?;
    print(&Answer { findings, window, fixed_at }, &[], args)?;
    Ok(ExitCode::SUCCESS)
}
