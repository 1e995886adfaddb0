//! Attacks on what whit deletes, on its screen, and on its agent: `cargo xtask attack age|top|agent [SECONDS [PROGRAM]]`.
//!
//! On deletions each round makes a tree, lets one or more attackers change it while runs of whit delete from it, and then looks for damage:
//! a file outside the tree that is gone, a young file that was deleted or hidden, a strict deletion that gave up being strict.
//! An attacker does only what the owner of the attacked directory may do.

mod age;
mod agent;
mod arena;
mod request;
mod top;
mod witness;

use std::time::{Duration, Instant};

use crate::outcome::Outcome;
use arena::{Arena, Random};

/// One kind of attack: what it did, or what it found.
type Attack = fn(&Arena, &mut Random) -> Result<(), String>;

/// On `whit top`.
const ON_THE_SCREEN: [(&str, Attack); 1] = [("keys, sizes and signals", top::keys_sizes_and_signals)];

/// On a running agent.
const ON_THE_AGENT: [(&str, Attack); 8] = [
    ("expressions that grow", agent::expressions_that_grow),
    ("patterns that take long", agent::patterns_that_take_long),
    ("pages that watch", agent::pages_that_watch),
    ("clients that leave", agent::clients_that_leave),
    ("sockets in five modes", agent::sockets_in_five_modes),
    ("other origins", agent::other_origins),
    ("kills of the server", agent::kills_of_the_server),
    ("a full disk", agent::a_full_disk),
];

/// On `whit age --delete`.
const ON_DELETION: [(&str, Attack); 9] = [
    ("swapped directories", age::swapped_directories),
    ("planted leftovers", age::planted_leftovers),
    ("exchanged files", age::exchanged_files),
    ("exchanged files and kills", age::exchanged_files_and_kills),
    ("kills", age::kills),
    ("private directories taken away", age::taken_away),
    ("future dates", age::future_dates),
    ("no space left", age::no_space_left),
    ("protected files", age::protected_files),
];

/// Runs all attacks in turn until the time is over, and each at least once.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if let ["attacker", port, mode] = words {
        return agent::attack(port, mode);
    }
    let attacks = match words.first() {
        Some(&"age") => &ON_DELETION[..],
        Some(&"top") => &ON_THE_SCREEN[..],
        Some(&"agent") => &ON_THE_AGENT[..],
        _ => return Err("attack age|top|agent [SECONDS [PROGRAM]]".to_owned()),
    };
    let seconds = words.get(1).copied().unwrap_or("60");
    let program = words.get(2).copied();
    let seconds: u64 = seconds.parse().map_err(|_| format!("\"{seconds}\" is not a number of seconds"))?;
    let program = match program {
        Some(program) => program.to_owned(),
        None => arena::build()?,
    };
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random::new();
    let (mut rounds, mut skipped, mut findings) = (vec![0_u32; attacks.len()], Vec::new(), Vec::new());
    loop {
        for ((name, attack), rounds) in attacks.iter().zip(&mut rounds) {
            if *rounds > 0 && Instant::now() >= deadline || skipped.contains(name) {
                continue;
            }
            *rounds += 1;
            let arena = Arena::new(&program)?;
            match attack(&arena, &mut random) {
                Ok(()) => {}
                Err(reason) if reason.starts_with(arena::SKIPPED) => {
                    println!("{name}: {reason}");
                    skipped.push(*name);
                }
                Err(finding) => {
                    println!("{name}, round {rounds}: {finding}");
                    findings.push(format!("{name}: {finding}"));
                }
            }
        }
        if Instant::now() >= deadline {
            break;
        }
    }
    for ((name, _), rounds) in attacks.iter().zip(rounds) {
        let found = findings.iter().filter(|finding| finding.starts_with(&format!("{name}:"))).count();
        println!("{name}: {rounds} rounds, {found} findings");
    }
    if !skipped.is_empty() && std::env::var_os("WHIT_NO_SKIP").is_some() {
        return Err(format!("skipped: {}", skipped.join(", ")));
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{} findings", findings.len())) }
}
