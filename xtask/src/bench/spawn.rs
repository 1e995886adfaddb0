//! Starting and reaping a command from a process of a gigabyte: whit's way, posix_spawn, fork and exec.

use super::process::Spread;
use super::programs::Programs;
use super::row::print_row;
use crate::outcome::Outcome;

const COUNT: usize = 300;
const FORKS: usize = 30;
const ROUNDS: usize = 5;
const PARENT_BYTES: usize = 1 << 30;

/// In turn, the wall time of each: what a parent that waits for its children sees.
pub(crate) fn run(programs: &Programs) -> Outcome {
    let memory = vec![1_u8; PARENT_BYTES];
    let (mut ours, mut spawns, mut forks) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let own = own_spawns(COUNT)?;
        let bare = bare_spawns(&programs.spawns, "spawn", COUNT)?;
        let fork = bare_spawns(&programs.spawns, "fork", FORKS)?;
        if round > 0 {
            ours.push(own);
            spawns.push(bare);
            forks.push(fork);
        }
    }
    drop(memory);
    let ratios = |theirs: &[f64]| Spread::of(ours.iter().zip(theirs).map(|(a, b)| a / b).collect());
    let median = |values: &[f64]| Spread::of(values.to_vec()).median;
    print_row("spawn from 1 GB: posix_spawn", median(&ours), median(&spawns), &ratios(&spawns), "1.15");
    print_row("spawn from 1 GB: fork and exec", median(&ours), median(&forks), &ratios(&forks), "0.10");
    Ok(())
}

/// Nanoseconds for each, by probe::spawn.
fn own_spawns(count: usize) -> Result<f64, String> {
    let command = probe::spawn::Command { words: vec!["/bin/true".into()], ..Default::default() };
    let start = std::time::Instant::now();
    for _ in 0..count {
        let pid = command.start().map_err(|error| error.to_string())?;
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).ok_or("no pid")?;
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty())
            .map_err(|error| error.to_string())?;
    }
    Ok(start.elapsed().as_nanos() as f64 / count as f64)
}

/// Measures nanoseconds for each by a program in C with a gigabyte of its own, which prints them.
fn bare_spawns(program: &str, way: &str, count: usize) -> Result<f64, String> {
    let output = std::process::Command::new(program)
        .args([way, &count.to_string(), &PARENT_BYTES.to_string()])
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| format!("{program} said nothing"))
}
