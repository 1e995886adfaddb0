//! A status line at one line a second: whit, its peers, and the bare reads; on a quiet machine, and cold, beside a process on the same
//! CPU that sweeps more memory than the caches nearest to it hold.

use std::time::Duration;

use super::process::{Crowd, Running, Spread};
use super::programs::{Programs, is_there};
use super::row::print_row;
use crate::outcome::Outcome;

const ROUNDS: usize = 5;
const SECONDS_A_ROUND: u64 = 10;
/// A process that only wakes up: what every bar costs.
const WAKE: &str = "waking up alone";

/// Runs all at once, for some seconds, again and again.
pub(crate) fn run(programs: &Programs) -> Outcome {
    let interface = first_interface_up()?;
    let state = format!("/sys/class/net/{interface}/operstate");
    let same = configuration("i3status.conf", &interface)?;
    let own = configuration("i3status-own.conf", &interface)?;
    let conky = configuration("conky.conf", &interface)?;
    let imported = import(programs, &own)?;
    std::fs::write("target/floor/mbox", "").map_err(|error| format!("target/floor/mbox: {error}"))?;

    let whit = programs.whit.as_str();
    let bar = |config: &'static str| [whit, "bar", "--for", "i3bar", "--config", config];
    let all: [(&str, &[&str]); 10] = [
        ("whit", &[whit, "bar", "--for", "i3bar", "--net", &interface]),
        ("bare reads", &[&programs.bar_reads, &state]),
        (WAKE, &[&programs.wake]),
        ("whit, imported", &[whit, "bar", "--for", "i3bar", "--config", &imported]),
        ("whit, every segment", &bar("benches/every-segment.toml")),
        ("i3status, same", &["i3status", "-c", &same]),
        ("i3status, own", &["i3status", "-c", &own]),
        ("conky", &["conky", "-c", &conky]),
        ("py3status", &["py3status", "-c", &own]),
        ("i3blocks", &["i3blocks", "-c", "benches/i3blocks.conf"]),
    ];
    let mut there = Vec::new();
    for (name, words) in all {
        // What was built here is there; a peer may not be.
        if words[0].contains('/') || is_there(words[0]) {
            there.push((name, words.to_vec()));
        } else {
            println!("bar: {} is not installed", words[0]);
        }
    }
    measure(&there, "")?;
    let is_pinned =
        |name: &str| matches!(name, WAKE | "whit" | "whit, imported" | "i3status, same" | "i3status, own");
    let mut pinned: Vec<_> = there.into_iter().filter(|(name, _)| is_pinned(name)).collect();
    for (_, words) in &mut pinned {
        words.splice(0..0, ["taskset", "-c", "0"]);
    }
    let _sweep = Crowd::start(&programs.sweep, &["0"])?;
    measure(&pinned, ", cold")
}

/// The comparisons: ours, theirs, the limit of the ratio, and whether what waking up costs is taken off both.
const COMPARED: [(&str, &str, &str, &str, bool); 10] = [
    ("i3status' own, beyond waking up", "whit, imported", "i3status, own", "0.125", true),
    ("i3status' own: i3status", "whit, imported", "i3status, own", "", false),
    ("every segment: i3status' own", "whit, every segment", "i3status, own", "1.00", false),
    ("whit's own: i3status", "whit", "i3status, same", "", false),
    ("whit's own: conky", "whit", "conky", "", false),
    ("i3status' own: py3status", "whit, imported", "py3status", "", false),
    ("whit's own: i3blocks + sh", "whit", "i3blocks", "", false),
    ("whit's own: the bare reads", "whit", "bare reads", "", false),
    ("the bare reads: i3status", "bare reads", "i3status, same", "", false),
    ("waking up: i3status' own", WAKE, "i3status, own", "", false),
];

fn measure(commands: &[(&str, Vec<&str>)], circumstance: &str) -> Outcome {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(round(commands)?);
    }
    let place = |name| commands.iter().position(|(known, _)| *known == name);
    let wake = place(WAKE).ok_or("nothing only wakes up")?;
    for (what, ours, theirs, limit, is_beyond) in COMPARED {
        let (Some(ours), Some(theirs)) = (place(ours), place(theirs)) else { continue };
        let cost = |round: &Round, index: usize| {
            round.cpu_ns[index] - if is_beyond { round.cpu_ns[wake] } else { 0.0 }
        };
        let of = |index: usize| Spread::of(rounds.iter().map(|round| cost(round, index)).collect()).median;
        let ratios = rounds.iter().map(|round| cost(round, ours) / cost(round, theirs)).collect();
        print_row(&format!("bar, {what}{circumstance}"), of(ours), of(theirs), &Spread::of(ratios), limit);
    }
    if let Some(last) = rounds.last() {
        let resident =
            commands.iter().zip(&last.resident_kib).map(|((name, _), kib)| format!("{name} {kib}"));
        println!("resident KiB: {}", resident.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

/// CPU time a second and resident memory of each command.
struct Round {
    cpu_ns: Vec<f64>,
    resident_kib: Vec<u64>,
}

fn round(commands: &[(&str, Vec<&str>)]) -> Result<Round, String> {
    let started = commands.iter().map(|(_, words)| Running::start(words));
    let running: Vec<Running> = started.collect::<Result<_, _>>()?;
    // What starting costs is not a tick's.
    std::thread::sleep(Duration::from_millis(2500));
    let cpu_ns = || running.iter().map(Running::cpu_ns).collect::<Result<Vec<f64>, _>>();
    let before = cpu_ns()?;
    std::thread::sleep(Duration::from_secs(SECONDS_A_ROUND));
    let after = cpu_ns()?;
    let resident_kib = running.iter().map(Running::resident_kib).collect::<Result<_, _>>()?;
    let a_second = |(after, before): (&f64, &f64)| (after - before) / SECONDS_A_ROUND as f64;
    Ok(Round { cpu_ns: after.iter().zip(&before).map(a_second).collect(), resident_kib })
}

/// A peer's configuration, with the interface filled in.
fn configuration(name: &str, interface: &str) -> Result<String, String> {
    let path = format!("benches/{name}");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let filled = format!("target/floor/{name}");
    std::fs::write(&filled, text.replace("INTERFACE", interface)).map_err(|error| error.to_string())?;
    Ok(filled)
}

/// whit's own words for a configuration of i3status.
fn import(programs: &Programs, path: &str) -> Result<String, String> {
    let output = std::process::Command::new(&programs.whit).args(["bar", "--import", path]).output();
    let output = output.map_err(|error| error.to_string())?;
    let imported = "target/floor/imported.toml".to_owned();
    std::fs::write(&imported, output.stdout).map_err(|error| error.to_string())?;
    Ok(imported)
}

fn first_interface_up() -> Result<String, String> {
    let interfaces =
        std::fs::read_dir("/sys/class/net").map_err(|error| format!("/sys/class/net: {error}"))?;
    let up = interfaces.flatten().find(|entry| {
        std::fs::read_to_string(entry.path().join("operstate")).is_ok_and(|state| state.trim() == "up")
    });
    up.and_then(|entry| entry.file_name().into_string().ok()).ok_or_else(|| "no interface is up".to_owned())
}
