//! Trials: what one needs of the machine, what it may share with others, and when it may be repeated.
//!
//! - [`exact`] asserts facts: who owns a lock, which files are gone, what an answer is. It uses only directories, cgroups, namespaces
//!   and ports of its own ([`super::machine`]), runs beside others, and has one attempt.
//! - [`alone`] asserts facts as well, but changes or observes the whole machine: nothing else runs beside it. It has one attempt.
//! - [`timed`] compares with a clock or with another sampler. It runs alone, and says within what tolerance it compares, and why. It is
//!   repeated only if a hypervisor took CPU time away meanwhile ([`super::stolen`]), and each repeat is reported.
//!
//! With WHIT_REPORT set, each trial appends a line of JSON to that file: name, kind, outcome, seconds, and the failed attempts. With
//! WHIT_TRIALS set to `beside` or `alone`, only those that run beside others, or alone, are run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::machine;
use super::stolen;

/// Something that may not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Effective user 0.
    Root,
    /// A program on the path.
    Program(&'static str),
    /// kernel.task_delayacct, which the trial switches on.
    Accounting,
    /// A file or directory of the kernel.
    Path(&'static str),
    /// A cgroup controller that can limit memory or block I/O, in either version.
    Controller(&'static str),
}

impl Need {
    fn is_met(self) -> bool {
        match self {
            Self::Root => rustix::process::geteuid().is_root(),
            Self::Program(name) => Command::new(name)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok(),
            Self::Accounting => Path::new("/proc/sys/kernel/task_delayacct").exists(),
            Self::Path(path) => Path::new(path).exists(),
            Self::Controller(name) => machine::Cgroup::hierarchy(name).is_some(),
        }
    }
}

/// What a trial shares, and whether it is ever repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Exact,
    Alone,
    Timed,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Alone => "alone",
            Self::Timed => "timed",
        }
    }

    /// A second repeat fails the whole check, so that no trial depends on it.
    fn most_attempts(self) -> usize {
        if self == Self::Timed { 3 } else { 1 }
    }
}

/// How often a trial does what it does: as often as a variable says, which the deep check sets.
pub(crate) fn times(variable: &str, default: u64) -> u64 {
    let wanted = std::env::var(variable).ok();
    wanted.map_or(default, |wanted| wanted.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

/// What a trial does.
type Run = fn() -> Result<(), Failed>;

/// A trial, and how it is run.
pub(crate) struct Trial {
    pub(crate) kind: Kind,
    pub(crate) test: libtest_mimic::Trial,
}

/// A trial that asserts facts, beside others.
pub(crate) fn exact(name: &str, needs: &[Need], run: Run) -> Trial {
    trial(Kind::Exact, name, needs, run)
}

/// A trial that asserts facts about the whole machine, or changes it.
pub(crate) fn alone(name: &str, needs: &[Need], run: Run) -> Trial {
    trial(Kind::Alone, name, needs, run)
}

/// A trial that compares with a clock or another sampler. `tolerance` says how far apart the two may be, and why.
pub(crate) fn timed(name: &str, needs: &[Need], tolerance: &str, run: Run) -> Trial {
    assert!(tolerance.len() > 20, "{name} does not say its tolerance, and why");
    trial(Kind::Timed, name, needs, run)
}

/// A trial that is ignored, and says why, where a need is not met.
fn trial(kind: Kind, name: &str, needs: &[Need], run: Run) -> Trial {
    let missing: Vec<_> = needs.iter().copied().filter(|need| !need.is_met()).collect();
    let owned = name.to_owned();
    let test = if missing.is_empty() {
        libtest_mimic::Trial::test(name, move || attempts(kind, &owned, run))
    } else {
        let sentence = format!("{name} is skipped: it needs {missing:?}");
        println!("{sentence}");
        let must_run = std::env::var_os("WHIT_NO_SKIP").is_some();
        libtest_mimic::Trial::test(name, move || Err(sentence.into())).with_ignored_flag(!must_run)
    };
    Trial { kind, test: test.with_kind(kind.name()) }
}

/// An attempt that failed: what was said, and the largest share of a CPU that was taken away meanwhile.
struct Failure {
    message: String,
    stolen: f64,
}

/// Runs a trial, again only if stolen time explains its failure.
fn attempts(kind: Kind, name: &str, run: Run) -> Result<(), Failed> {
    let (begun, mut failures) = (Instant::now(), Vec::<Failure>::new());
    let is_passed = loop {
        let watch = stolen::Watch::start();
        let message = match catch_unwind(run) {
            Ok(Ok(())) => break true,
            Ok(Err(failed)) => failed.message().unwrap_or("failed without a message").to_owned(),
            Err(panic) => message_of(panic.as_ref()),
        };
        let stolen = watch.end();
        println!("{name}, attempt {}, {:.0} % stolen: {message}", failures.len() + 1, stolen * 100.0);
        failures.push(Failure { message, stolen });
        if failures.len() >= kind.most_attempts() || stolen < stolen::EXPLAINS {
            break false;
        }
    };
    report(kind, name, is_passed, begun.elapsed().as_secs_f64(), &failures);
    match failures.pop() {
        Some(failure) if !is_passed => Err(failure.message.into()),
        _ => Ok(()),
    }
}

/// What a panic said.
fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Appends a line to the report, in one write, since others append as well.
fn report(kind: Kind, name: &str, is_passed: bool, seconds: f64, failures: &[Failure]) {
    let Some(path) = std::env::var_os("WHIT_REPORT") else { return };
    let failures: Vec<Value> = failures
        .iter()
        .map(|failure| json!({ "message": failure.message, "stolen_ratio": failure.stolen }))
        .collect();
    let record = json!({
        "name": name, "kind": kind.name(), "passed": is_passed, "seconds": seconds, "failed_attempts": failures,
    });
    let line = format!("{record}\n");
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        println!("{}: {error}", Path::new(&path).display());
    }
}
