//! What a trial needs of the machine.

use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};

use super::machine;

/// Something that may not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Effective user 0.
    Root,
    /// A program on the path.
    Program(&'static str),
    /// kernel.task_delayacct, which the trial switches on.
    Accounting,
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
            Self::Controller(name) => machine::Cgroup::hierarchy(name).is_some(),
        }
    }
}

/// Trials compare with the clock and with other programs on a machine that is not theirs alone. A trial that fails is therefore run
/// again, up to so many times in all; each failure is printed.
const ATTEMPTS: u32 = 3;

fn with_attempts(run: fn() -> Result<(), Failed>) -> Result<(), Failed> {
    for attempt in 1..ATTEMPTS {
        match std::panic::catch_unwind(run) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(failed)) => println!("attempt {attempt} failed: {}", failed.message().unwrap_or_default()),
            Err(_) => println!("attempt {attempt} failed"),
        }
    }
    run()
}

/// A trial that is ignored, and says why, where a need is not met.
pub(crate) fn trial(name: &str, needs: &[Need], run: fn() -> Result<(), Failed>) -> Trial {
    let missing: Vec<_> = needs.iter().copied().filter(|need| !need.is_met()).collect();
    if missing.is_empty() {
        return Trial::test(name, move || with_attempts(run));
    }
    let sentence = format!("{name} is skipped: it needs {missing:?}");
    println!("{sentence}");
    if std::env::var_os("WHIT_NO_SKIP").is_some() {
        return Trial::test(name, move || Err(sentence.into()));
    }
    Trial::test(name, run).with_ignored_flag(true)
}
