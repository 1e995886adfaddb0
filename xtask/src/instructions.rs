//! Instructions, counted by callgrind over captured machines: repeatable to the instruction with one compiler, and so
//! a figure that a change must explain. `benches/instructions.txt` holds what was counted last.

use std::process::Command;

use crate::bench::whit;
use crate::outcome::Outcome;

const KEPT: &str = "benches/instructions.txt";
/// What another compiler or C library may change without a word.
const TOLERANCE: f64 = 0.10;
const TICKS: u64 = 100;

/// Compares with what is kept.
pub(crate) fn check() -> Outcome {
    let kept = std::fs::read_to_string(KEPT).map_err(|error| format!("{KEPT}: {error}"))?;
    let mut changed = Vec::new();
    for (name, now) in count_all()? {
        let before: u64 = kept
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} "))?.parse().ok())
            .ok_or_else(|| format!("{KEPT} has no line \"{name}\": cargo xtask instructions --write"))?;
        let change = now as f64 / before as f64 - 1.0;
        println!("{name}: {now} instructions, {:+.1} % of {before}", change * 100.0);
        if change.abs() > TOLERANCE {
            changed.push(name);
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} changed by more than {:.0} %: explain it in the commit, and cargo xtask instructions --write",
        changed.join(", "),
        TOLERANCE * 100.0
    ))
}

/// Keeps what is counted now.
pub(crate) fn write() -> Outcome {
    let lines = count_all()?.into_iter().map(|(name, count)| format!("{name} {count}\n"));
    std::fs::write(KEPT, lines.collect::<String>()).map_err(|error| format!("{KEPT}: {error}"))
}

fn count_all() -> Result<Vec<(&'static str, u64)>, String> {
    let whit = whit()?;
    let tick = |machine: &str, output: &str| -> Result<u64, String> {
        let root = format!("fixtures/{machine}");
        let lines = |count: u64| {
            let count = count.to_string();
            instructions(&[
                &whit,
                "bar",
                "--root",
                &root,
                "--output",
                output,
                "--interval",
                "0.01",
                "--count",
                &count,
            ])
        };
        // What starting costs cancels out.
        Ok((lines(TICKS + 1)? - lines(1)?) / TICKS)
    };
    let run = |words: &[&str]| instructions(&[&[whit.as_str()], words].concat());
    Ok(vec![
        ("bar-tick-plain-linux-6.18", tick("linux-6.18", "plain")?),
        ("bar-tick-i3bar-laptop", tick("laptop", "i3bar")?),
        ("bar-tick-plain-server-128cpu", tick("server-128cpu", "plain")?),
        ("free-linux-6.18", run(&["free", "--root", "fixtures/linux-6.18"])?),
        ("free-emulate-server-128cpu", run(&["free", "--emulate", "--root", "fixtures/server-128cpu"])?),
        ("doctor-laptop", run(&["doctor", "--root", "fixtures/laptop"])?),
    ])
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
