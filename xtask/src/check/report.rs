//! The report of a check: a table for people, JSON for programs, and the verdict.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::timings::{self, Counts, Timing, Trial};

/// The most timed trials that may be repeated, as a part of all.
const MAX_REPEATED_RATIO: f64 = 0.03;
/// A trial that fails so often and then passes is not trusted.
const MAX_FAILED_ATTEMPTS: usize = 1;
/// So many of the slowest tests are listed.
const SLOWEST: usize = 20;
/// So many lines of the log of a step that failed are repeated at the end, where they are not lost if the output is cut.
const LAST_LINES: usize = 20;

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    /// It needs what cannot be installed on this machine.
    Unavailable,
}

impl Outcome {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Unavailable => "NOT CHECKED",
        }
    }
}

/// A step that was run.
pub(super) struct StepResult {
    pub(super) target: &'static str,
    pub(super) outcome: Outcome,
    pub(super) seconds: f64,
    /// On all CPUs together, as far as known.
    pub(super) cpu_seconds: Option<f64>,
    /// The end of its log, if it failed.
    pub(super) last_lines: String,
}

impl StepResult {
    /// Returns the result of a step whose lane has panicked.
    pub(super) fn lost(target: &'static str) -> Self {
        Self { target, outcome: Outcome::Failed, seconds: 0.0, cpu_seconds: None, last_lines: String::new() }
    }
}

/// Everything that a check found.
pub(super) struct Report {
    begun: Instant,
    steps: Vec<StepResult>,
    tests: Vec<Timing>,
    trials: Vec<Trial>,
    counts: Counts,
}

impl Report {
    pub(super) fn new() -> Self {
        let (steps, tests, trials) = (Vec::new(), Vec::new(), Vec::new());
        Self { begun: Instant::now(), steps, tests, trials, counts: Counts::default() }
    }

    pub(super) fn add(&mut self, results: Vec<StepResult>) {
        self.steps.extend(results);
    }

    /// Returns whether no step failed.
    pub(super) fn is_passed(&self) -> bool {
        self.steps.iter().all(|step| step.outcome != Outcome::Failed)
    }

    /// Reads the logs of the steps, and the report of the trials.
    pub(super) fn read_timings(&mut self, directory: &Path, trials: &Path) -> Result<(), String> {
        for step in &mut self.steps {
            let log = fs::read(directory.join(format!("{}.log", step.target))).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            if step.outcome == Outcome::Failed {
                step.last_lines = last_lines(&log);
            }
            self.tests.extend(timings::of_log(&log));
            let counts = timings::counts(&log);
            self.counts.passed += counts.passed;
            self.counts.failed += counts.failed;
            self.counts.skipped += counts.skipped;
        }
        let lines = fs::read_to_string(trials).unwrap_or_default();
        self.trials = timings::trials(&lines).map_err(|error| format!("{}: {error}", trials.display()))?;
        let of_trials =
            self.trials.iter().map(|trial| Timing { name: trial.name.clone(), seconds: trial.seconds });
        self.tests.extend(of_trials);
        self.tests.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        Ok(())
    }

    fn repeated(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|trial| !trial.failed.is_empty())
    }

    fn timed(&self) -> usize {
        self.trials.iter().filter(|trial| trial.kind == "timed").count()
    }

    /// The table.
    pub(super) fn table(&self) -> String {
        let mut text = String::from("\nSTEP              SECONDS  OF CPUS  RESULT\n");
        for step in &self.steps {
            let StepResult { target, seconds, cpu_seconds, outcome, .. } = step;
            let _ =
                writeln!(text, "{target:<16} {seconds:>8.1} {:>8}  {}", cpu(*cpu_seconds), outcome.name());
        }
        let (wall, all) = (
            self.begun.elapsed().as_secs_f64(),
            self.steps.iter().filter_map(|step| step.cpu_seconds).sum::<f64>(),
        );
        let _ = writeln!(text, "{:<16} {wall:>8.1} {all:>8.1}", "all");
        text.push_str("\nSECONDS  SLOWEST TESTS\n");
        for test in self.tests.iter().take(SLOWEST) {
            let _ = writeln!(text, "{:>7.1}  {}", test.seconds, test.name);
        }
        let _ = writeln!(
            text,
            "\n{} of {} timed trials were repeated, {} of {} trials failed",
            self.repeated().filter(|trial| trial.is_passed).count(),
            self.timed(),
            self.trials.iter().filter(|trial| !trial.is_passed).count(),
            self.trials.len()
        );
        for trial in self.repeated() {
            let outcome = if trial.is_passed { "passed at last" } else { "FAILED" };
            let _ = writeln!(text, "{} ({}): {outcome}", trial.name, trial.kind);
            for (message, stolen) in &trial.failed {
                let _ = writeln!(text, "    {:.0} % of a CPU stolen: {message}", stolen * 100.0);
            }
        }
        for step in self.steps.iter().filter(|step| !step.last_lines.is_empty()) {
            let _ = write!(text, "\nThe log of {} ends with\n{}", step.target, step.last_lines);
        }
        // Programs that count tests know this line.
        let Counts { passed, failed, skipped } = self.counts;
        let _ = write!(text, "\n{passed} passed, {failed} failed, {skipped} skipped");
        text
    }

    /// Returns the report as JSON.
    pub(super) fn json(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            json!({
                "step": step.target, "seconds": step.seconds, "cpu_seconds": step.cpu_seconds,
                "outcome": step.outcome.name().to_lowercase(),
            })
        });
        let slowest = self.tests.iter().take(SLOWEST);
        let repeated = self.repeated().map(|trial| {
            let failed = trial.failed.iter();
            let failed =
                failed.map(|(message, stolen)| json!({ "message": message, "stolen_ratio": stolen }));
            json!({
                "name": trial.name, "kind": trial.kind, "passed": trial.is_passed,
                "failed_attempts": failed.collect::<Vec<_>>(),
            })
        });
        json!({
            "wall_seconds": self.begun.elapsed().as_secs_f64(),
            "passed": self.verdict().is_ok(),
            "tests": {
                "passed_count": self.counts.passed,
                "failed_count": self.counts.failed,
                "skipped_count": self.counts.skipped,
            },
            "steps": steps.collect::<Vec<_>>(),
            "slowest": slowest
                .map(|test| json!({ "name": test.name, "seconds": test.seconds }))
                .collect::<Vec<_>>(),
            "timed_trials_count": self.timed(),
            "repeated": repeated.collect::<Vec<_>>(),
        })
    }

    /// An error that names what failed, or what was repeated too often to be trusted.
    pub(super) fn verdict(&self) -> Result<(), String> {
        let failed: Vec<&str> = self
            .steps
            .iter()
            .filter(|step| step.outcome == Outcome::Failed)
            .map(|step| step.target)
            .collect();
        if !failed.is_empty() {
            return Err(format!("failed: {}", failed.join(", ")));
        }
        if let Some(trial) = self.repeated().find(|trial| trial.failed.len() > MAX_FAILED_ATTEMPTS) {
            return Err(format!("{} needed {} attempts", trial.name, trial.failed.len() + 1));
        }
        let (repeated, timed) = (self.repeated().count(), self.timed());
        if repeated as f64 > timed as f64 * MAX_REPEATED_RATIO {
            return Err(format!("{repeated} of {timed} timed trials were repeated"));
        }
        Ok(())
    }
}

/// Writes seconds of CPUs, or that they are not known.
fn cpu(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| String::from("–"), |seconds| format!("{seconds:.1}"))
}

/// Returns the last lines of a log, each with an indent.
fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_ends_with_the_logs_of_what_failed() {
        let log: String = (0..30).map(|number| format!("line {number}\n\n")).collect();
        let lines = last_lines(&log);
        assert!(lines.starts_with("    line 10\n") && lines.ends_with("    line 29\n"), "{lines}");
        assert_eq!(last_lines("one\n"), "    one\n");
        let mut report = Report::new();
        report.add(vec![StepResult { last_lines: lines, ..StepResult::lost("attack") }]);
        assert!(report.table().contains("\nThe log of attack ends with\n    line 10\n"));
    }
}
