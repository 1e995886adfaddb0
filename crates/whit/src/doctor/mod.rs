//! `whit doctor`: what this kernel, these permissions and this machine give, and how to get the rest.

pub(crate) mod arguments;
pub(crate) mod command;
mod finding;
mod kernel;
mod machine;
mod render;
pub(crate) mod selftest;
mod tasks;

use facts::sample::Sample;
use facts::source::Wanted;
use probe::survey::Survey;
use probe::tasks::TaskSource;
use probe::{Probe, Request, Roots};

use ::command::failure::Failure;
use finding::Finding;

/// How long a remote filesystem is waited for.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(200);

/// Everything that a view may ask for, as it is now.
pub(crate) fn sample_all(roots: &Roots) -> Result<Sample, Failure> {
    let mut probe = Probe::open(roots, &Request { wanted: Wanted::all(), ..Request::default() })?;
    let mut sample = Sample::default();
    probe.sample(&mut sample);
    // Filesystems that can hang are asked by a thread; what answers at all answers soon.
    if sample.has_stale_filesystem() {
        std::thread::sleep(PATIENCE);
        probe.sample(&mut sample);
    }
    Ok(sample)
}

/// A captured machine has nothing to do with what reads it.
fn own_version(roots: &Roots) -> &'static str {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    if roots.is_captured() {
        VERSION
    } else {
        concat!(env!("CARGO_PKG_VERSION"), ", for ", env!("WHIT_TARGET"))
    }
}

/// Looks at all there is.
pub(crate) fn examine(roots: &Roots) -> Result<Vec<Finding>, Failure> {
    let mut survey = Survey::open(roots)?;
    let sample = sample_all(roots)?;
    let mut findings = vec![Finding::ok("whit", own_version(roots)), kernel::version(&mut survey)];
    findings.extend(tasks::examine(roots, &mut survey)?);
    if survey.system() == "Linux" {
        // If no source could be used, the examination of tasks would have failed before.
        let reader = if roots.is_captured() { None } else { tasks::open(roots, &TaskSource::ALL).ok() };
        findings.push(kernel::bpf(&mut survey, reader.as_ref()));
        findings.extend(reader.as_ref().map(kernel::source));
        findings.extend(kernel::capabilities(&mut survey));
        findings.push(kernel::pressure(&sample));
        findings.push(kernel::cgroups(&mut survey, &sample));
    }
    findings.extend(machine::examine(&sample, survey.system()));
    Ok(findings)
}
