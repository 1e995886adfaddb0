//! The structure of the source tree: which crate may depend on which, and which code belongs to which file.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

mod imports;
mod subtraction;

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// What each crate may depend on, tests aside.
const ARROWS: [(&str, &[&str]); 13] = [
    ("query", &["formats", "jiff", "promql-parser"]),
    (
        "agent",
        &[
            "axum",
            "base64",
            "facts",
            "fast-glob",
            "feeds",
            "flate2",
            "form_urlencoded",
            "formats",
            "futures-util",
            "http-body",
            "hyper",
            "hyper-util",
            "jiff",
            "lettre",
            "probe",
            "query",
            "resolver",
            "rustix",
            "rustls",
            "rustls-platform-verifier",
            "sampling",
            "sd-notify",
            "serde",
            "serde_json",
            "store",
            "text",
            "tokio",
            "tower",
            "ureq",
        ],
    ),
    (
        "feeds",
        &[
            "argon2",
            "base64",
            "blake2",
            "facts",
            "form_urlencoded",
            "http",
            "http-cache-semantics",
            "jiff",
            "probe",
            "resolver",
            "rusqlite",
            "serde",
            "serde_json",
            "syndication",
            "text",
            "ureq",
            "url",
        ],
    ),
    (
        "syndication",
        &[
            "ammonia",
            "blake2",
            "chrono",
            "encoding_rs",
            "facts",
            "feed-rs",
            "html5ever",
            "http",
            "jiff",
            "quick-xml",
            "serde",
            "serde_json",
            "text",
            "url",
            "xml5ever",
        ],
    ),
    ("resolver", &["formats", "probe", "text"]),
    ("store", &["crc32fast", "facts", "pco", "rusqlite"]),
    ("facts", &["memchr"]),
    ("probe", &["aya", "facts", "libc", "memchr", "rustix"]),
    (
        "whit",
        &[
            "agent",
            "clap",
            "clap_complete",
            "clap_mangen",
            "csv",
            "facts",
            "fast-glob",
            "feeds",
            "font8x8",
            "formats",
            "hdrhistogram",
            "httparse",
            "jiff",
            "png",
            "probe",
            "query",
            "ratatui",
            "rayon",
            "resolver",
            "rustix",
            "sampling",
            "serde",
            "serde_json",
            "shell-words",
            "store",
            "syndication",
            "text",
            "toml",
            "x11rb",
        ],
    ),
    ("formats", &["jiff", "md5", "prost", "regex", "saphyr", "saphyr-parser", "serde", "serde_json", "snap"]),
    ("sampling", &["facts", "formats", "probe", "rustix"]),
    ("text", &["facts"]),
    ("xtask", &["facts", "probe", "rustix"]),
];

const ROOMS: [&str; 12] = [
    "crates/query/src",
    "crates/agent/src",
    "crates/store/src",
    "crates/facts/src",
    "crates/feeds/src",
    "crates/formats/src",
    "crates/probe/src",
    "crates/sampling/src",
    "crates/syndication/src",
    "crates/text/src",
    "crates/whit/src",
    "xtask/src",
];
/// The one room with `unsafe` in it: what both systems have, and what each alone has.
const UNSAFE_ROOM: [&str; 5] = [
    "crates/probe/src/sys/bpf.rs",
    "crates/probe/src/sys.rs",
    "crates/probe/src/sys/linux.rs",
    "crates/probe/src/sys/spawn.rs",
    "crates/probe/src/sys/freebsd.rs",
];
/// Beyond this a file is two things.
const LONGEST_FILE_LINES: usize = 420;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn arrows_point_the_right_way() {
    let metadata = MetadataCommand::new().no_deps().current_dir(root()).exec().unwrap();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let (_, allowed) =
            ARROWS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("a new crate: {name}"));
        let normal =
            package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
        for dependency in normal {
            assert!(
                allowed.contains(&dependency.name.as_str()),
                "{name} may not depend on {}",
                dependency.name
            );
        }
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
        "crates/whit/src/bar/config/import.rs",
        "crates/whit/src/bar/config/import/modules.rs",
        "crates/whit/src/configuration/mod.rs",
    ];
    for folder in ["crates/text/src", "crates/sampling/src", "crates/whit/src"] {
        assert_absent(
            folder,
            &["parse::<f64>", "from_secs_f64", "f64 = text.parse", "parse::<u64>"],
            &others,
        );
    }
    for (name, text) in sources("crates/whit/src") {
        if !name.ends_with("arguments.rs") {
            continue;
        }
        for (at, line) in code(&text) {
            let is_number = ["value_parser!(u64)", "value_parser!(f64)", ".parse()"];
            assert!(
                !is_number.iter().any(|word| line.contains(word)),
                "{name}:{at}: see command_line::kind: {line}"
            );
        }
    }
}

#[test]
fn unsafe_stays_in_its_room() {
    for folder in ROOMS {
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
    for folder in ["crates/facts/src", "crates/formats/src", "crates/query/src", "crates/text/src"] {
        assert_absent(folder, &impure, &[]);
        assert_absent(folder, &["target_os"], &[]);
    }
}

#[test]
fn only_the_probe_knows_the_platform() {
    assert_absent("crates/sampling/src", &["target_os"], &[]);
    assert_absent("crates/whit/src", &["target_os"], &[]);
}

#[test]
fn counters_are_subtracted_in_one_place() {
    assert_absent("crates/facts/src", &["fn counter_delta"], &["crates/facts/src/rate.rs"]);
    assert_absent("crates/whit/src", &["counter_delta", "wrapping_sub"], &[]);
    for folder in ROOMS {
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
    ("crates/whit/src/bench/sizes.rs", "what the store is compared with"),
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
        let all = ROOMS.into_iter().flat_map(sources);
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
        "crates/whit/src/bench/spawning.rs",
    ];
    for folder in ["crates/facts/src", "crates/probe/src", "crates/sampling/src", "crates/whit/src"] {
        // clippy.toml forbids std's own way; what would go round it is looked for here.
        assert_absent(folder, &["process::Command", "posix_spawn", "libc::fork", "libc::exec"], &runners);
    }
}

#[test]
fn no_files_import_each_other() {
    for folder in ROOMS {
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
    for folder in ROOMS {
        for (name, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(lines <= LONGEST_FILE_LINES, "{name} has {lines} lines");
        }
    }
}

#[test]
fn every_module_has_a_doc_comment() {
    for folder in ROOMS {
        for (name, text) in sources(folder) {
            assert!(text.starts_with("//!"), "{name} does not open with what it is for");
        }
    }
}

#[test]
fn the_metrics_page_is_the_catalogue() {
    let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    assert!(page == facts::catalog::markdown(), "run cargo xtask docs");
}
