//! Captures FreeBSD: the replies to everything that whit asks.

use std::collections::BTreeMap;

use facts::sample::Sample;
use facts::source::Wanted;
use facts::unit::Nanos;

use super::Sysctl;
use super::machine::Machine;
use super::survey::Survey;
use super::tasks::FreeBsdTasks;
use crate::capture_directory::{Capture, CaptureError};
use crate::request::Request;
use crate::roots::Roots;

/// Reads everything once and writes each reply: what a reader asks from now on is captured without a list of it here.
pub(crate) fn write(roots: &Roots, capture: &mut Capture) -> Result<(), CaptureError> {
    let mut replies = BTreeMap::new();
    let request = Request { wanted: Wanted::all(), ..Request::default() };
    let mut machine = Machine::of(Sysctl::recording(roots)?, &request);
    machine.sample(&mut Sample::default());
    replies.extend(machine.into_sysctl().recorded());

    let mut tasks = FreeBsdTasks::of(Sysctl::recording(roots)?);
    // What cannot be listed is left out, as on the machine.
    let _ = tasks.processes(&mut Vec::new());
    tasks.read_threads(&[], |_, _| {});
    replies.extend(tasks.into_sysctl().recorded());

    let mut survey = Survey::of(Sysctl::recording(roots)?);
    let _ = survey.release();
    let mut sysctl = survey.into_sysctl();
    let uptime = sysctl.clock().boottime;
    replies.extend(sysctl.recorded());

    for (name, bytes) in replies {
        capture.write(&format!("sysctl/{name}"), &bytes)?;
    }
    let hundredths = uptime.0 % Nanos::SECOND.0 / 10_000_000;
    capture.write("uptime", format!("{}.{hundredths:02}\n", uptime.0 / Nanos::SECOND.0).as_bytes())
}
