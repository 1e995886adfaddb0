//! Chores of the repository: `cargo xtask attack age|top|agent [SECONDS [PROGRAM]] | check | docs | fixtures DIR | bench [NAME …] | instructions [--write] PROFILE … |
//! long-history FROM TO HOURS | tick-order`.

// Chores run programs: that is what they are for.
#![allow(clippy::disallowed_types)]

mod attack;
mod bench;
mod check;
mod dashboards;
mod docs;
mod footprint;
mod freebsd_fixtures;
mod instructions;
mod long_history;
mod outcome;
mod task_tick;
mod tick_order;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["attack", words @ ..] => attack::run(words),
        ["check"] => check::run(),
        ["docs"] => docs::write(),
        ["task-tick", threads, ticks] => task_tick::run(threads, ticks),
        ["fixtures", directory] => freebsd_fixtures::run(directory.as_ref()),
        ["bench", names @ ..] => bench::run(names),
        ["instructions", "--write", profiles @ ..] => instructions::write(profiles),
        ["instructions", profiles @ ..] => instructions::check(profiles),
        ["long-history", source, target, hours] => long_history::run(source.as_ref(), target.as_ref(), hours),
        ["tick-order"] => tick_order::write(),
        _ => Err("attack age|top|agent [SECONDS [PROGRAM]] | check | docs | fixtures DIR | bench [NAME …] | instructions [--write] PROFILE … | long-history FROM TO HOURS | tick-order".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("xtask: {sentence}");
            ExitCode::FAILURE
        }
    }
}
