//! A status line at one line a second: whit, i3status on the same segments, and the bare reads.

use std::time::Duration;

use super::print_row;
use super::process::{Spread, cpu_ns, start};
use super::programs::{Programs, is_there};
use crate::Done;

const ROUNDS: usize = 5;
const SECONDS_A_ROUND: u64 = 6;
const CONFIGURATION: &str = "target/floor/i3status.conf";

/// All run at once, for some seconds, again and again.
pub(crate) fn run(programs: &Programs) -> Done {
    let interface = first_interface_up()?;
    let state = format!("/sys/class/net/{interface}/operstate");
    let configuration =
        std::fs::read_to_string("benches/i3status.conf").map_err(|error| error.to_string())?;
    std::fs::write(CONFIGURATION, configuration.replace("INTERFACE", &interface))
        .map_err(|error| error.to_string())?;

    let whit = [programs.whit.as_str(), "bar", "--output", "i3bar"];
    let floor = [programs.bar_reads.as_str(), &state];
    let wake = [programs.wake.as_str()];
    let i3status = ["i3status", "-c", CONFIGURATION];
    let has_peer = is_there("i3status");
    let mut commands: Vec<&[&str]> = vec![&whit, &floor, &wake];
    if has_peer {
        commands.push(&i3status);
    } else {
        println!("bar: i3status is not installed");
    }
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(round(&commands)?);
    }
    let of = |index: usize| Spread::of(rounds.iter().map(|round| round.cpu_ns[index]).collect()).median;
    let ratios = |ours: usize, theirs: usize| {
        Spread::of(rounds.iter().map(|round| round.cpu_ns[ours] / round.cpu_ns[theirs]).collect())
    };
    let (whit, floor, wake, i3status) = (0, 1, 2, 3);
    if has_peer {
        print_row("bar, a tick: i3status", of(whit), of(i3status), &ratios(whit, i3status), "0.125");
        print_row("  (the bare reads: i3status)", of(floor), of(i3status), &ratios(floor, i3status), "");
        print_row("  (waking up alone: i3status)", of(wake), of(i3status), &ratios(wake, i3status), "");
    }
    print_row("bar, a tick: the bare reads", of(whit), of(floor), &ratios(whit, floor), "");
    let resident = rounds.last().map(|round| round.resident_kib.clone()).unwrap_or_default();
    println!("bar, resident KiB: whit, bare reads, wake, i3status: {resident:?}");
    Ok(())
}

/// CPU time a second and resident memory of each command.
struct Round {
    cpu_ns: Vec<f64>,
    resident_kib: Vec<u64>,
}

fn round(commands: &[&[&str]]) -> Result<Round, String> {
    let mut children = Vec::new();
    for command in commands {
        children.push(start(command)?);
    }
    // What starting costs is not a tick's.
    std::thread::sleep(Duration::from_millis(1500));
    let before: Vec<f64> = children.iter().map(cpu_ns).collect::<Result<_, _>>()?;
    std::thread::sleep(Duration::from_secs(SECONDS_A_ROUND));
    let after: Vec<f64> = children.iter().map(cpu_ns).collect::<Result<_, _>>()?;
    let resident_kib = children.iter().map(|child| resident_kib(child.id())).collect::<Result<_, _>>()?;
    for child in &mut children {
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    }
    let cpu_ns =
        after.iter().zip(&before).map(|(after, before)| (after - before) / SECONDS_A_ROUND as f64).collect();
    Ok(Round { cpu_ns, resident_kib })
}

fn resident_kib(pid: u32) -> Result<u64, String> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line =
        text.lines().find(|line| line.starts_with("VmRSS:")).ok_or_else(|| format!("{path}: no VmRSS"))?;
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).ok_or_else(|| line.to_owned())
}

fn first_interface_up() -> Result<String, String> {
    let interfaces =
        std::fs::read_dir("/sys/class/net").map_err(|error| format!("/sys/class/net: {error}"))?;
    let up = interfaces.flatten().find(|entry| {
        std::fs::read_to_string(entry.path().join("operstate")).is_ok_and(|state| state.trim() == "up")
    });
    up.and_then(|entry| entry.file_name().into_string().ok()).ok_or_else(|| "no interface is up".to_owned())
}
