//! whit beside its peers and beside the floor, in one run, pair by pair: `cargo xtask bench [free|delays|tasks|top|spawn|age|bar|mail|http …]`.
//!
//! A figure is a ratio of CPU times of whole processes, the median of many pairs. CPU time is what the scheduler
//! counted (/proc/PID/schedstat, nanoseconds), read before the process is reaped.

mod age;
mod bar;
mod http;
mod mail;
mod process;
mod programs;
mod row;
mod screen;
mod spawn;
mod tasks;

use crate::outcome::Outcome;
use process::pairs;
use programs::Programs;
pub(crate) use programs::whit;
use row::print_row;

type Bench = fn(&Programs) -> Outcome;

const BENCHES: [(&str, Bench); 9] = [
    ("free", free),
    ("delays", delays),
    ("tasks", tasks::run),
    ("top", screen::run),
    ("spawn", spawn::run),
    ("age", age::run),
    ("bar", bar::run),
    ("mail", mail::run),
    ("http", http::run),
];
/// Sleeping processes for the table of all tasks.
const CROWD: &str = "5000";

/// Runs all, or those named.
pub(crate) fn run(names: &[&str]) -> Outcome {
    if let Some(name) = names.iter().find(|name| BENCHES.iter().all(|(known, _)| known != *name)) {
        return Err(format!("there is no benchmark \"{name}\""));
    }
    let programs = Programs::build()?;
    println!(
        "{:<36} {:>11} {:>11} {:>22}  limit",
        "CPU of a whole process", "whit", "other", "ratio (quartiles)"
    );
    for (name, bench) in BENCHES {
        if names.is_empty() || names.contains(&name) {
            bench(&programs)?;
        }
    }
    Ok(())
}

fn compare(what: &str, ours: &[&str], theirs: &[&str], count: usize, limit: &str) -> Outcome {
    let measured = pairs(ours, theirs, count)?;
    print_row(what, measured.ours.median, measured.theirs.median, &measured.ratios, limit);
    Ok(())
}

fn free(programs: &Programs) -> Outcome {
    let ours = [programs.whit.as_str(), "free", "-b"];
    if programs::is_there("free") {
        compare("free: procps", &ours, &["free", "-b"], 200, "0.80")?;
    } else {
        println!("free: procps is not installed");
    }
    compare("free: an empty static process", &ours, &[&programs.empty], 200, "")
}

fn delays(programs: &Programs) -> Outcome {
    let _crowd = process::Crowd::start(&programs.crowd, &[CROWD])?;
    let ours = [programs.whit.as_str(), "delays", "-a"];
    compare("delays -a: bare batches, 5000 tasks", &ours, &[&programs.taskstats_batch], 30, "1.40")?;
    compare("delays -a: /proc/PID/stat of each", &ours, &[&programs.proc_stat], 30, "0.50")?;
    compare("  (bare batches: /proc/PID/stat)", &[&programs.taskstats_batch], &[&programs.proc_stat], 30, "")
}
