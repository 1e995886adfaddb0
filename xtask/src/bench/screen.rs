//! `whit top` beside top and htop, on terminals of 200×50, at one reading a second: on a quiet machine, and cold, beside a process on
//! the same CPU that sweeps more memory than the caches nearest to it hold.

use std::time::Duration;

use super::process::{Crowd, Running, Spread};
use super::programs::{Programs, is_there};
use super::row::print_row;
use crate::outcome::Outcome;

const ROUNDS: usize = 4;
const SECONDS_A_ROUND: u64 = 8;

/// Runs all at once, for some seconds, again and again.
pub(crate) fn run(programs: &Programs) -> Outcome {
    let _crowd = Crowd::start(&programs.crowd, &["5000", "50"])?;
    measure(programs, "quiet", "")?;
    let _sweep = Crowd::start(&programs.sweep, &["0"])?;
    measure(programs, "cold", "taskset -c 0 ")
}

fn measure(programs: &Programs, circumstance: &str, pin: &str) -> Outcome {
    let all = [
        ("whit", format!("{} top", programs.whit)),
        ("top", "top -d 1".to_owned()),
        ("htop", "htop -d 10".to_owned()),
    ];
    let mut running = Vec::new();
    for (name, command) in &all {
        if !is_there("script") {
            println!("top: script (bsdutils) is not installed");
            return Ok(());
        }
        if *name != "whit" && !is_there(name) {
            println!("top: {name} is not installed");
            continue;
        }
        // script(1) gives it a terminal; the shell that it starts becomes the program.
        let line = format!("stty rows 50 cols 200; TERM=xterm-256color exec {pin}{command}");
        running.push((*name, Running::start(&["script", "-qfc", &line, "/dev/null"])?));
    }
    std::thread::sleep(Duration::from_secs(4));
    let programs_of = |running: &Running| running.child_of_child();
    let mut costs = vec![Vec::new(); running.len()];
    for _ in 0..ROUNDS {
        let measure = || -> Result<Vec<f64>, String> {
            running.iter().map(|(_, running)| running.cpu_ns_of(programs_of(running)?)).collect()
        };
        let before = measure()?;
        std::thread::sleep(Duration::from_secs(SECONDS_A_ROUND));
        for ((all, before), now) in costs.iter_mut().zip(before).zip(measure()?) {
            all.push((now - before) / SECONDS_A_ROUND as f64);
        }
    }
    for (at, (name, _)) in running.iter().enumerate().skip(1) {
        let ratios = costs[0].iter().zip(&costs[at]).map(|(a, b)| a / b).collect();
        let median = |which: usize| Spread::of(costs[which].clone()).median;
        let limit = if *name == "top" { "0.125" } else { "0.040" };
        print_row(
            &format!("top: {name}, a second, {circumstance}"),
            median(0),
            median(at),
            &Spread::of(ratios),
            limit,
        );
    }
    for (name, running) in &running {
        println!("  {name}: {} KiB resident", running.resident_kib_of(programs_of(running)?)?);
    }
    Ok(())
}
