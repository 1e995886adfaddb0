//! Costs that can be counted, over captured machines: instructions by callgrind, and the memory that a tick of the bar touches by
//! lackey. They are repeatable with one compiler, and a change must explain them. `benches/instructions.txt` contains the last counts, those
//! of each profile of Cargo.toml.

use std::process::Command;

use crate::bench::whit;
use crate::footprint;
use crate::outcome::Outcome;

const KEPT: &str = "benches/instructions.txt";
/// The change that another compiler or C library may cause and that needs no explanation.
const TOLERANCE: f64 = 0.10;
/// Pages are so few that two more or less, by which code that is not a tick's may move them, are more than a tenth.
const TOLERATED: u64 = 4;
/// The most growth of a tick with ten times the threads.
const MAX_GROWTH: f64 = 1.3;

/// Compares the counts of programs with what is kept.
pub(crate) fn check(profiles: &[&str]) -> Outcome {
    let kept = read_kept()?;
    let mut changed = Vec::new();
    for (name, now) in count_all(profiles)? {
        let before: u64 = kept
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} "))?.parse().ok())
            .ok_or_else(|| {
                format!(
                    "{KEPT} has no line \"{name}\": cargo xtask instructions --write {}",
                    profiles.join(" ")
                )
            })?;
        let change = now as f64 / before as f64 - 1.0;
        println!("{name}: {now}, {:+.1} % of {before}", change * 100.0);
        if change.abs() > TOLERANCE && now.abs_diff(before) > TOLERATED {
            changed.push(name);
        }
    }
    check_growth()?;
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} changed by more than {:.0} %: explain it in the commit, and cargo xtask instructions --write {}",
        changed.join(", "),
        TOLERANCE * 100.0,
        profiles.join(" ")
    ))
}

/// A tick costs what changed and not what exists: with ten times the threads, of which as many change, it takes nearly as many
/// instructions.
fn check_growth() -> Outcome {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = program.to_str().ok_or("the path of this program is not UTF-8")?;
    let tick = |threads: &str| -> Result<u64, String> {
        let ticks = |count: &str| instructions(&[program, "task-tick", threads, count]);
        // The first round depends on the seeds of hash tables, by some ticks: it counts little beside so many.
        Ok((ticks("301")? - ticks("1")?) / 300)
    };
    let (few, many) = (tick("5000")?, tick("50000")?);
    let ratio = many as f64 / few as f64;
    println!(
        "task-tick (debug build): {few} instructions with 5000 threads, {many} with 50000: {ratio:.2}, limit {MAX_GROWTH}"
    );
    if ratio > MAX_GROWTH {
        Err(format!("a tick grows with the threads that sleep: {ratio:.2}"))
    } else {
        Ok(())
    }
}

/// Keeps what is counted now, and of other programs what was.
pub(crate) fn write(profiles: &[&str]) -> Outcome {
    let is_counted = |line: &&str| profiles.iter().any(|profile| line.starts_with(&format!("{profile}.")));
    let mut lines: Vec<String> =
        read_kept()?.lines().filter(|line| !is_counted(line)).map(str::to_owned).collect();
    lines.extend(count_all(profiles)?.into_iter().map(|(name, count)| format!("{name} {count}")));
    std::fs::write(KEPT, lines.join("\n") + "\n").map_err(|error| format!("{KEPT}: {error}"))
}

fn read_kept() -> Result<String, String> {
    std::fs::read_to_string(KEPT).map_err(|error| format!("{KEPT}: {error}"))
}

fn count_all(profiles: &[&str]) -> Result<Vec<(String, u64)>, String> {
    let counts: Result<Vec<_>, String> = profiles.iter().map(|profile| count(profile)).collect();
    Ok(counts?.concat())
}

/// Counts what the program of a profile costs.
fn count(profile: &str) -> Result<Vec<(String, u64)>, String> {
    let whit = whit(profile)?;
    let mut counts = Vec::new();
    for (name, words) in [
        ("bar-tick-plain-linux-6.18", "--root fixtures/linux-6.18 --for plain"),
        ("bar-tick-i3bar-laptop", "--root fixtures/laptop --for i3bar"),
        ("bar-tick-plain-server-128cpu", "--root fixtures/server-128cpu --for plain"),
        (
            "bar-tick-memory-and-date",
            "--root fixtures/linux-6.18 --for plain --config benches/memory-and-date.toml",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["--interval", "0.01"]).collect();
        let footprint = footprint::of_tick(&whit, &words)?;
        counts.extend(footprint.map(|(unit, count)| (format!("{profile}.{name}.{unit}"), count)));
    }
    for (name, words) in [
        ("free-linux-6.18", "free --root fixtures/linux-6.18"),
        ("free-emulate-server-128cpu", "free --emulate --root fixtures/server-128cpu"),
        ("doctor-laptop", "doctor --root fixtures/laptop"),
    ] {
        let words: Vec<&str> = std::iter::once(whit.as_str()).chain(words.split(' ')).collect();
        counts.push((format!("{profile}.{name}.instructions"), instructions(&words)?));
    }
    Ok(counts)
}

/// Instructions of a whole process.
fn instructions(words: &[&str]) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(words)
        .env("TZ", "UTC0")
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{words:?} under valgrind: {report}"));
    }
    let line = report
        .lines()
        .find(|line| line.contains("refs:"))
        .ok_or_else(|| format!("valgrind says: {report}"))?;
    let digits: String =
        line.rsplit(':').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    digits.parse().map_err(|_| line.to_owned())
}
