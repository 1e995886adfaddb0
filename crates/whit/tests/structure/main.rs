//! The structure of the source tree: which crate may depend on which, and which code belongs to which file.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

mod dependencies;
mod imports;
mod subtraction;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// Libraries that are behind one door: the crates that may depend on them. Others are as good as their Cargo.toml says.
const DOORS: [(&str, &[&str]); 13] = [
    ("aya-obj", &["probe"]),
    ("axum", &["agent"]),
    ("clap", &["age", "bar", "bench", "command", "top", "traffic", "whit"]),
    ("hyper", &["agent"]),
    ("lettre", &["notify"]),
    ("libc", &["probe"]),
    ("promql-parser", &["query"]),
    ("pyo3", &["whit-python"]),
    ("ratatui", &["top"]),
    ("rusqlite", &["feeds", "store"]),
    ("rustls", &["checks", "http_client"]),
    ("tokio", &["agent"]),
    ("ureq", &["http_client"]),
];
/// No I/O, no clock, no operating system.
const PURE: [&str; 4] = ["facts", "formats", "query", "text"];

/// The one room with `unsafe` in it: what both systems have, and what each alone has.
const UNSAFE_ROOM: [&str; 5] = [
    "crates/probe/src/sys/bpf.rs",
    "crates/probe/src/sys.rs",
    "crates/probe/src/sys/linux.rs",
    "crates/probe/src/sys/spawn.rs",
    "crates/probe/src/sys/freebsd.rs",
];
/// Beyond this a file is two things.
const MAX_FILE_LINES: usize = 420;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The crates of the workspace.
fn packages() -> Vec<Package> {
    MetadataCommand::new().no_deps().current_dir(root()).exec().unwrap().packages
}

/// The folder of a crate's sources, from the root.
fn room_of(package: &Package) -> String {
    let folder = package.manifest_path.parent().unwrap().join("src");
    folder.strip_prefix(root().to_str().unwrap()).unwrap().to_string()
}

/// The folders of all crates' sources.
fn rooms() -> Vec<String> {
    packages().iter().map(room_of).collect()
}

/// The folders of the sources of commands: those that know options.
fn of_commands() -> Vec<String> {
    let packages = packages();
    let folders = packages.iter().filter(|package| dependencies(package).contains("clap")).map(room_of);
    let folders: Vec<String> = folders.collect();
    assert!(folders.len() >= 7, "{folders:?}");
    folders
}

/// What a crate depends on, tests aside.
fn dependencies(package: &Package) -> BTreeSet<&str> {
    let normal = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
    normal.map(|dependency| dependency.name.as_str()).collect()
}

/// The arrows between crates are drawn once, in ARCHITECTURE.md, a crate a line.
#[test]
fn arrows_point_the_right_way() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once("Crates depend on these of ours:").unwrap();
    let drawn: BTreeMap<&str, BTreeSet<&str>> = rest
        .split("```")
        .nth(1)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_once('─'))
        .map(|(name, others)| {
            let others = others.trim_start_matches(['─', '►']).split(',').map(str::trim);
            (name.trim(), others.filter(|other| !other.is_empty()).collect())
        })
        .collect();
    let packages = packages();
    let own: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(drawn.keys().copied().collect::<BTreeSet<_>>(), own, "a crate is not drawn, or is gone");
    for package in &packages {
        let is = dependencies(package).intersection(&own).copied().collect::<BTreeSet<_>>();
        assert_eq!(drawn[package.name.as_str()], is, "{}", package.name);
    }
}

/// A command's crate depends on no other command's: a change to one does not compile the others.
#[test]
fn commands_stand_by_themselves() {
    const COMMANDS: [&str; 5] = ["age", "bar", "bench", "top", "traffic"];
    for package in packages().iter().filter(|package| package.name.as_str() != "whit") {
        for command in COMMANDS {
            assert!(!dependencies(package).contains(command), "{}: {command}", package.name);
        }
    }
}

#[test]
fn libraries_stay_behind_their_doors() {
    for package in &packages() {
        for (library, crates) in DOORS {
            let is_allowed = crates.contains(&package.name.as_str());
            assert!(is_allowed || !dependencies(package).contains(library), "{}: {library}", package.name);
        }
        // All the others stand on it.
        if package.name.as_str() == "facts" {
            assert_eq!(dependencies(package), BTreeSet::from(["foldhash", "memchr"]));
        }
    }
}

/// The numbers in README are those of the program.
#[test]
fn readme_counts_rightly() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_whit")).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let help = run(&["--help"]);
    // Each has a line, in one of several groups; options begin with a dash.
    let is_command =
        |line: &&str| line.strip_prefix("  ").is_some_and(|line| line.starts_with(char::is_alphabetic));
    let commands = help.lines().filter(is_command).count();
    let reference = run(&["bar", "--reference"]);
    let (_, segments) = reference.split_once("\n## Segments\n").unwrap();
    let segments = segments.matches("\n### ").count();
    assert!(commands > 15 && segments > 15, "{commands} {segments}");
    for sentence in [format!("has {commands} commands"), format!("There are {segments} kinds of segments")] {
        assert!(readme.contains(&sentence), "README does not say: {sentence}");
    }
}

/// Rust sources of a folder, with their paths from the root.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

/// Lines that are code, with their numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(at, line)| (at + 1, line))
}

fn assert_absent(folder: &str, words: &[&str], but_in: &[&str]) {
    for (name, text) in sources(folder) {
        if but_in.contains(&name.as_str()) {
            continue;
        }
        for (at, line) in code(&text) {
            for word in words {
                assert!(!line.contains(word), "{name}:{at}: \"{word}\" does not belong here: {line}");
            }
        }
    }
}

/// Durations, sizes and counts are read by text::quantity.
#[test]
fn quantities_are_read_in_one_place() {
    // Configurations of other programs have their own grammars; a TOML file has numbers of its own.
    let others = [
        "crates/text/src/quantity.rs",
        "crates/bar/src/config/import.rs",
        "crates/bar/src/config/import/modules.rs",
        "crates/configuration/src/lib.rs",
    ];
    let words = ["parse::<f64>", "from_secs_f64", "f64 = text.parse", "parse::<u64>"];
    let of_commands = of_commands();
    for folder in of_commands.iter().map(String::as_str).chain(["crates/text/src", "crates/sampling/src"]) {
        assert_absent(folder, &words, &others);
    }
    for (name, text) in of_commands.iter().flat_map(|folder| sources(folder)) {
        if !name.ends_with("arguments.rs") {
            continue;
        }
        for (at, line) in code(&text) {
            let is_number = ["value_parser!(u64)", "value_parser!(f64)", ".parse()"];
            assert!(
                !is_number.iter().any(|word| line.contains(word)),
                "{name}:{at}: see command::kind: {line}"
            );
        }
    }
}

#[test]
fn unsafe_stays_in_its_room() {
    for folder in &rooms() {
        assert_absent(folder, &["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe"], &UNSAFE_ROOM);
    }
}

#[test]
fn every_unsafe_block_has_a_safety_comment() {
    for room in UNSAFE_ROOM {
        let text = fs::read_to_string(root().join(room)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") {
                let above = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with("//"));
                let is_said = above.into_iter().any(|line| line.contains("SAFETY"));
                assert!(is_said, "{room}:{}: no SAFETY comment", at + 1);
            }
        }
    }
}

#[test]
fn pure_crates_do_no_input_or_output() {
    let impure = [
        "std::{",
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "std::process",
        "std::thread",
        "Instant::now",
        "SystemTime",
    ];
    for package in packages().iter().filter(|package| PURE.contains(&package.name.as_str())) {
        assert_absent(&room_of(package), &impure, &[]);
    }
}

#[test]
fn only_the_probe_knows_the_platform() {
    for package in packages().iter().filter(|package| package.name.as_str() != "probe") {
        assert_absent(&room_of(package), &["target_os"], &[]);
    }
}

#[test]
fn counters_are_subtracted_in_one_place() {
    assert_absent("crates/facts/src", &["fn counter_delta"], &["crates/facts/src/rate.rs"]);
    for folder in of_commands() {
        assert_absent(&folder, &["counter_delta", "wrapping_sub"], &[]);
    }
    for folder in &rooms() {
        for (name, text) in sources(folder) {
            let may_subtract = SUBTRACTING.iter().any(|(file, _)| name.starts_with(file));
            let found = subtraction::of_readings(&text);
            assert!(may_subtract || found.is_empty(), "{name} subtracts readings of a counter: {found:?}");
        }
    }
}

/// Files that may subtract an older value from a newer one, and what.
const SUBTRACTING: [(&str, &str); 7] = [
    ("crates/facts/src/rate.rs", "counters of the machine"),
    ("crates/facts/src/task/store", "counters of tasks"),
    ("crates/facts/src/task/groups/membership.rs", "numbers of threads"),
    ("crates/whit/src/doctor/selftest.rs", "clocks"),
    ("crates/probe/src/linux/machine.rs", "clocks"),
    ("crates/bench/src/sizes.rs", "what the store is compared with"),
    ("xtask/src", "measurements"),
];

/// A step of a task's path in ARCHITECTURE.md is a type in a file, and no other file defines it.
#[test]
fn the_path_of_a_task_is_as_it_is_drawn() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once("A task's path").unwrap();
    let drawing = rest.split("```").nth(1).unwrap();
    let steps: Vec<(&str, &str)> = drawing
        .lines()
        .filter_map(|line| line.split_whitespace().next().zip(line.split_whitespace().last()))
        .filter(|(_, file)| file.ends_with(".rs"))
        .collect();
    assert!(steps.len() >= 5, "{drawing}");
    for (name, file) in steps {
        let defines = |text: &str| {
            text.contains(&format!("struct {name} ")) || text.contains(&format!("struct {name}("))
        };
        let rooms = rooms();
        let all = rooms.iter().flat_map(|room| sources(room));
        let files: Vec<String> = all.filter(|(_, text)| defines(text)).map(|(name, _)| name).collect();
        assert_eq!(files, [format!("crates/{file}")], "{name}");
    }
}

#[test]
fn nothing_is_forked_to_learn_a_number() {
    // A user's own command is the one thing that is run.
    let runners = [
        "crates/probe/src/sys/spawn.rs",
        "crates/probe/src/sys/freebsd.rs",
        "crates/probe/src/spawn.rs",
        // By name, as what whit's way is measured beside.
        "crates/bench/src/spawning.rs",
    ];
    // Chores run programs: that is what they are for.
    for folder in rooms().iter().filter(|room| *room != "xtask/src") {
        // clippy.toml forbids std's own way; what would go round it is looked for here.
        assert_absent(folder, &["process::Command", "posix_spawn", "libc::fork", "libc::exec"], &runners);
    }
}

#[test]
fn no_files_import_each_other() {
    for folder in &rooms() {
        let sources = sources(folder);
        let relative = |name: &str| name.trim_start_matches(folder).trim_start_matches('/').to_owned();
        let named: Vec<(String, &str)> =
            sources.iter().map(|(name, text)| (relative(name), text.as_str())).collect();
        let imports = imports::Imports::new(named.iter().map(|(name, text)| (name.as_str(), *text)));
        if let Some(cycle) = imports::cycle(&imports.edges()) {
            let files: Vec<String> = cycle.iter().map(|module| module.join("::")).collect();
            panic!("{folder}: these import each other: {}", files.join(" → "));
        }
    }
}

#[test]
fn no_file_is_two_things() {
    for folder in &rooms() {
        for (name, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(lines <= MAX_FILE_LINES, "{name} has {lines} lines");
        }
    }
}

#[test]
fn every_module_has_a_doc_comment() {
    for folder in &rooms() {
        for (name, text) in sources(folder) {
            assert!(text.starts_with("//!"), "{name} does not open with what it is for");
        }
    }
}

/// The crates are no libraries of others: what is shown is tested by tests, and none is compiled out of a comment.
#[test]
fn comments_have_no_examples() {
    for (name, text) in rooms().iter().flat_map(|room| sources(room)) {
        let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
        let fences =
            comments.map(|line| line.trim_matches(['/', '!', ' '])).filter(|line| line.starts_with("```"));
        for opening in fences.step_by(2) {
            assert_eq!(opening, "```text", "{name}");
        }
    }
}

/// Pages of section 7 are made of documents by `manual`; help and messages name them.
#[test]
fn pages_that_are_named_exist() {
    let documents = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let pages: BTreeSet<String> = documents
        .filter_map(|file| Some(file.to_str()?.strip_suffix(".md")?.to_lowercase().replace('_', "-")))
        .collect();
    let deployed = ["whit.service", "checks.conf", "containers.conf", "inspection.conf"]
        .map(|file| format!("deploy/{file}"));
    let configuration = "crates/whit/src/agent/defaults.toml".to_owned();
    let texts = deployed.into_iter().chain([configuration]).map(|path| {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    });
    let mut named = BTreeSet::new();
    for (path, text) in rooms().iter().flat_map(|room| sources(room)).chain(texts) {
        for (before, _) in text.match_indices("(7)").map(|(at, _)| text.split_at(at)) {
            let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            let name = &before[before.trim_end_matches(is_of_name).len()..];
            let Some(page) = name.strip_prefix("whit-") else { continue };
            assert!(pages.contains(page), "{path}: {name}(7) is made of no document");
            named.insert(page.to_owned());
        }
    }
    let unnamed: Vec<_> =
        pages.difference(&named).filter(|page| !["grammar", "testing"].contains(&page.as_str())).collect();
    assert!(unnamed.is_empty(), "the page of whit leads to none of {unnamed:?}");
}

#[test]
fn the_metrics_page_is_the_catalogue() {
    let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    assert!(page == facts::catalog::markdown(), "run cargo xtask docs");
}
