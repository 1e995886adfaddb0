//! Runs the steps of a stage, its lanes side by side.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use super::report::{Outcome, StepResult};
use super::steps::{Stage, Step};

/// The exit status of a step that cannot be done on this machine.
const UNAVAILABLE: i32 = 75;

/// Runs all steps of a stage and returns what became of them. Logs go to a directory, records of live trials to a file.
pub(super) fn run_stage(stage: &Stage, directory: &Path, trials: &Path) -> Vec<StepResult> {
    std::thread::scope(|scope| {
        let lanes: Vec<_> =
            stage.lanes.iter().map(|lane| scope.spawn(move || run_lane(lane, directory, trials))).collect();
        lanes.into_iter().filter_map(|lane| lane.join().ok()).flatten().collect()
    })
}

fn run_lane(steps: &[Step], directory: &Path, trials: &Path) -> Vec<StepResult> {
    steps.iter().map(|step| run_step(step, directory, trials)).collect()
}

fn run_step(step: &Step, directory: &Path, trials: &Path) -> StepResult {
    println!("{} …", step.target);
    let (log, begun) = (directory.join(format!("{}.log", step.target)), Instant::now());
    let outcome = match make(step, &log, trials) {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) if step.may_be_unavailable && status.code() == Some(UNAVAILABLE) => Outcome::Unavailable,
        Ok(_) => Outcome::Failed,
        Err(error) => {
            println!("make {}: {error}", step.target);
            Outcome::Failed
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    println!("{}: {} after {seconds:.0} s", step.target, outcome.name());
    if outcome != Outcome::Passed {
        let text = fs::read(&log).unwrap_or_default();
        println!("{}\n{}: the end of {}", String::from_utf8_lossy(&text), step.target, log.display());
    }
    StepResult { target: step.target, outcome, seconds }
}

/// Runs make with its output in a log.
fn make(step: &Step, log: &Path, trials: &Path) -> std::io::Result<ExitStatus> {
    let output = File::create(log)?;
    let mut command = Command::new("make");
    command.arg(step.target).args(step.options);
    command.env("WHIT_NO_SKIP", "1").env("WHIT_REPORT", trials);
    // Those of an outer make are about its own jobs.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).status()
}
