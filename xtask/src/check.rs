//! `cargo xtask check`: everything that must hold before a change lands, and what it cost.
//!
//! Each step is a target of the Makefile, which can be typed by hand. Steps of one stage run in lanes side by side; each writes a log of its own to target/ci, which is printed if the step fails. At the end
//! there is a table: seconds and result of each step, the slowest tests, and every trial that was repeated. The same is written to
//! target/ci/report.json.

mod lane;
mod report;
mod steps;
mod timings;

use std::fs;
use std::path::Path;

use crate::outcome::Outcome;
use report::Report;

/// Where logs and reports are.
const DIRECTORY: &str = "target/ci";
/// Runs all steps, also behind one that fails, and reports.
pub(crate) fn run() -> Outcome {
    let directory = Path::new(DIRECTORY);
    fs::create_dir_all(directory).map_err(|error| format!("{DIRECTORY}: {error}"))?;
    // Lines that the live trials append.
    let trials = std::path::absolute(directory.join("trials.jsonl")).map_err(|error| error.to_string())?;
    let _ = fs::remove_file(&trials);
    let mut report = Report::new();
    for stage in steps::STAGES {
        report.add(lane::run_stage(stage, directory, &trials));
        if stage.is_needed && !report.is_passed() {
            break;
        }
    }
    report.read_timings(directory, &trials)?;
    let text = report.table();
    println!("{text}");
    let json = directory.join("report.json");
    fs::write(&json, format!("{:#}\n", report.json()))
        .map_err(|error| format!("{}: {error}", json.display()))?;
    report.verdict()
}
