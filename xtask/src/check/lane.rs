//! Runs the steps of a stage, its lanes side by side.

use std::fs::{self, File};
use std::io::Write as _;
use std::iter::{once, repeat};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::param::clock_ticks_per_second;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpriority_process, kill_process_group, setpriority_process, waitid,
};

use super::report::{Outcome, StepResult};
use super::steps::{Stage, Step};

/// The exit status of a step that cannot be done on this machine.
const UNAVAILABLE: i32 = 75;
/// The longest step takes half of it on a slow machine. One that hangs would hide its log, and those of all others.
const LONGEST: Duration = Duration::from_mins(40);
/// The most characters of a line about a process that a step was running.
const WIDTH: usize = 200;
/// The niceness of the first of several lanes, less that of the check: so much that they end together.
const FIRST_NICENESS: i32 = -5;
/// How often it is asked whether a step has ended.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs all steps of a stage and returns what became of them. Logs go to a directory, records of live trials to a file.
pub(super) fn run_stage(stage: &Stage, directory: &Path, trials: &Path) -> Vec<StepResult> {
    std::thread::scope(|scope| {
        // Trials see their niceness: a lane alone has that of the check.
        let first = if stage.lanes.len() > 1 { FIRST_NICENESS } else { 0 };
        let lanes = stage.lanes.iter().zip(once(first).chain(repeat(0)));
        let lanes: Vec<_> = lanes
            .map(|(lane, niceness)| scope.spawn(move || run_lane(lane, niceness, directory, trials)))
            .collect();
        let results = lanes
            .into_iter()
            .zip(stage.lanes)
            .map(|(lane, steps)| lane.join().unwrap_or_else(|_| vec![StepResult::lost(steps[0].target)]));
        results.flatten().collect()
    })
}

fn run_lane(steps: &[Step], niceness: i32, directory: &Path, trials: &Path) -> Vec<StepResult> {
    steps.iter().map(|step| run_step(step, niceness, directory, trials)).collect()
}

fn run_step(step: &Step, niceness: i32, directory: &Path, trials: &Path) -> StepResult {
    println!("{} …", step.target);
    let (log, begun) = (directory.join(format!("{}.log", step.target)), Instant::now());
    let made = make(step, niceness, &log, trials);
    let cpu_seconds = made.as_ref().ok().and_then(|made| made.cpu_seconds);
    let outcome = match made.map(|made| made.status) {
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
    StepResult { target: step.target, outcome, seconds, cpu_seconds, last_lines: String::new() }
}

/// The end of a make.
struct Made {
    status: ExitStatus,
    /// The CPU time of all that it waited for. What outlives its parents is not in it; that of a step that was killed is not known.
    cpu_seconds: Option<f64>,
}

/// Runs make with its output in a log. A step that does not end is killed, with all it started, after a list of these in its log.
fn make(step: &Step, niceness: i32, log: &Path, trials: &Path) -> std::io::Result<Made> {
    let output = File::create(log)?;
    let mut command = Command::new("make");
    command.arg(step.target).args(step.options);
    command.env("WHIT_NO_SKIP", "1").env("WHIT_REPORT", trials);
    // Those of an outer make are about its own jobs.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?).process_group(0);
    let mut child = command.spawn()?;
    if niceness != 0 {
        // Without the privilege it is as nice as the others, and the check takes longer.
        let own = getpriority_process(None).unwrap_or(0);
        let _ = setpriority_process(Some(Pid::from_child(&child)), own + niceness);
    }
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        // It stays until it is waited for: what it used is read before.
        let id = WaitId::Pid(Pid::from_child(&child));
        if waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)?.is_some() {
            let cpu_seconds = cpu_seconds(&child);
            return Ok(Made { status: child.wait()?, cpu_seconds });
        }
        std::thread::sleep(PATIENCE);
    }
    end(&mut child, output).map(|status| Made { status, cpu_seconds: None })
}

/// Returns the CPU time of a process and of its children that it waited for, by /proc/PID/stat (proc_pid_stat(5)).
fn cpu_seconds(child: &Child) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let fields = stat.rsplit(')').next()?.split_whitespace();
    // Fields 14 to 17; the first behind the name is the third.
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(ticks as f64 / clock_ticks_per_second() as f64)
}

fn end(child: &mut Child, mut log: File) -> std::io::Result<ExitStatus> {
    let minutes = LONGEST.as_secs() / 60;
    writeln!(log, "\nThis step has not ended after {minutes} minutes. What it was running:")?;
    let group = child.id().to_string();
    let ps = ["-eH", "-o", "pgid,pid,ppid,stat,etime,time,wchan:20,args"];
    if let Ok(listed) = Command::new("ps").args(ps).output() {
        let listed = String::from_utf8_lossy(&listed.stdout);
        for line in listed.lines().filter(|line| line.split_whitespace().next() == Some(&group)) {
            writeln!(log, "{line:.WIDTH$}")?;
        }
    }
    kill_process_group(Pid::from_child(child), Signal::KILL)?;
    child.wait()
}
