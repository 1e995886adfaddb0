//! Why a machine or a task was slow, in sentences: what waited for what, and who caused it. Every figure is that of an expression, which
//! stands beside it.

mod document;
mod examiner;
mod finding;
mod machine;
mod machine_past;
mod matchers;
mod present;
mod sentence;
mod socket_losses;
mod target;

use query::{Limits, QueryError};

use crate::past::{BatchedSource, BriefProcesses, Past};
use examiner::Examiner;

pub use machine_past::MachinePast;
pub use present::hold_ups;
pub use sentence::{Culprit, Evidence, Findings, Program, Sentence, Trouble, Window};
pub use socket_losses::Sockets;
pub use target::Target;

/// Examines a window. Each of its expressions may take what `limits` allow.
///
/// # Errors
/// If the history cannot be read, or that takes too much.
pub fn examine(
    past: &Past,
    window: Window,
    target: Option<&Target>,
    limits: &Limits<'_>,
) -> Result<Findings, QueryError> {
    let examine = |past: &BatchedSource<'_>| examine_source(past, window, target, limits);
    // A process that is named does most of what its program does.
    BatchedSource::evaluate_with(past, BriefProcesses::Negligible, limits, examine)
}

/// Examines a window of a machine as [`examine`] does, but for what cannot be known of it.
///
/// # Errors
/// As [`examine`].
pub fn examine_machine(
    past: &dyn MachinePast,
    window: Window,
    limits: &Limits<'_>,
) -> Result<Findings, QueryError> {
    let sentences = machine::sentences(&Examiner::new(past, window, limits))?;
    let mut findings = Findings { sentences, missing: Vec::new() };
    findings.sort();
    Ok(findings)
}

fn examine_source(
    past: &BatchedSource<'_>,
    window: Window,
    target: Option<&Target>,
    limits: &Limits<'_>,
) -> Result<Findings, QueryError> {
    let examiner = Examiner::new(past, window, limits);
    let mut findings =
        Findings { sentences: machine::sentences(&examiner)?, missing: machine::missing(&examiner)? };
    if let Some(target) = target {
        let mut of_machine = std::mem::take(&mut findings.sentences);
        // The sentences about the machine have only the worst quota.
        of_machine.extend(machine::quotas(&examiner)?.into_iter().skip(1));
        findings.sentences = target::sentences(&examiner, target, &of_machine)?;
        if let (true, Some(other)) = (findings.sentences.is_empty(), target.otherwise()) {
            findings.sentences = target::sentences(&examiner, &other, &of_machine)?;
        }
    }
    findings.sort();
    Ok(findings)
}
