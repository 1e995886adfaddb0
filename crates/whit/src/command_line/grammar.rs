//! The table of all options, by name: docs/grammar.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command};

use command::kind::Kind;

/// Other value names, and the values that they stand for.
const OTHERS: [(&str, &str); 31] = [
    ("CONDITION", "a figure, > or <, and its limit: `p99>50ms`, `errors>0`, `rate<1000`"),
    ("URL-PATH", "what HTTP asks for: `/index.html`"),
    ("ALERT", "the name of a rule, or a selector such as `{mountpoint=\"/srv\"}`"),
    (
        "CHECK",
        "`HOST/NAME`, a host's own `HOST`, or `NAME` of this machine; for some actions a pattern of these",
    ),
    (
        "TIMES",
        "times of the week, `mon-fri 09:00-12:00, 13:00-17:00, sat 10:00-12:00`, and of dates, `july 4`, `day 1 - 15`, `monday 3`, `2026-01-01`; `except` takes some out",
    ),
    (
        "TARGET",
        "a process by its number, a program by its name, a cgroup by its path, a unit of systemd, a container by its id",
    ),
    ("EXPRESSION", "an expression of PromQL: `rate(node_cpu_seconds_total[1m])`"),
    ("ADDRESS", "an IP address or the name of a host"),
    ("CMD", "a command and its arguments; no shell takes it apart"),
    ("CODE", "an exit status, 0 to 255"),
    ("COLUMN", "what rows are ordered by; `--help` lists the columns of a command"),
    ("COLUMNS", "columns of `whit top` with commas between them"),
    ("FEED", "a feed, by its number or address"),
    ("FORMAT", "how samples are written: csv, json, prometheus, openmetrics"),
    ("GROUP", "what a row stands for: process, thread, user, cgroup"),
    ("HOST:PORT", "an address or name, and a port"),
    ("MACHINE", "a machine of a fleet, by the label `instance` of its series"),
    ("METHOD", "a method of HTTP: `GET`, `HEAD`, `PUT`"),
    ("NAME: VALUE", "a header of HTTP"),
    ("NAME=VALUE", "a name, and what it is to be"),
    ("NUMBER", "the number of an entry, a downtime or a silence, as lists say it"),
    ("PORT", "a port, 0 to 65535"),
    ("PROGRAM", "a program that shows a bar"),
    ("SERIES", "a series: `up{job=\"node\"}`"),
    ("SHELL", "a shell"),
    ("SIGNAL", "a signal, by name or number: `TERM`, `SIGINT`, `9`"),
    ("SIZE|N%", "a size, or a share of the whole: `10G`, `10%`"),
    ("SOURCE", "where figures of tasks come from: bpf, taskstats, procfs"),
    ("TEXT", "any text"),
    ("STATE", "the state of a check: ok, warning, critical, unknown, or 0 to 3"),
    ("STATUS", "an HTTP status, 100 to 599"),
];

/// One option as a command has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    command: String,
    letter: Option<char>,
    /// Letters that tools know which it replaces.
    other_letters: Vec<char>,
    /// None: it is a switch.
    value: Option<String>,
}

/// All options of all commands, by name.
fn entries(command: &mut Command) -> BTreeMap<String, Vec<Entry>> {
    command.build();
    let mut entries: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for subcommand in command.get_subcommands() {
        for arg in arguments(subcommand) {
            let Some(name) = arg.get_long().filter(|name| !matches!(*name, "help" | "version")) else {
                continue;
            };
            let entry = Entry {
                command: subcommand.get_name().to_owned(),
                letter: arg.get_short(),
                other_letters: arg.get_visible_short_aliases().unwrap_or_default(),
                value: value_name(arg),
            };
            let known = entries.entry(name.to_owned()).or_default();
            if !known.contains(&entry) {
                known.push(entry);
            }
        }
    }
    entries
}

/// The arguments and options of a command and of its actions.
fn arguments(command: &Command) -> Vec<&Arg> {
    let own = command.get_arguments().filter(|arg| !arg.is_hide_set());
    own.chain(command.get_subcommands().flat_map(arguments)).collect()
}

fn value_name(arg: &Arg) -> Option<String> {
    let takes_value = arg.get_action().takes_values();
    takes_value.then(|| arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default())
}

/// The page.
pub(crate) fn markdown(command: &mut Command) -> String {
    let mut page = String::from(
        "# Options\n\nWritten by `cargo xtask docs`. A long option means the same thing in every command that has it; a letter may be that of the program whose place the command takes.\n\n\
         ## Values\n\n| value | what may stand there |\n|---|---|\n",
    );
    let mut row = |line: std::fmt::Arguments<'_>| {
        // A text takes whatever is written to it.
        let _ = page.write_fmt(line);
    };
    for kind in Kind::NAMED {
        row(format_args!("| {} | {} |\n", kind.name(), kind.help()));
    }
    for (name, help) in OTHERS {
        row(format_args!("| {} | {help} |\n", name.replace('|', "\\|")));
    }
    row(format_args!(
        "\nIn configurations the same: a number where a duration stands is seconds, and `\"1m30s\"` is a minute and a half.\n\n\
         ## Options\n\n| option | letter | value | commands |\n|---|---|---|---|\n"
    ));
    for (name, entries) in entries(command) {
        let letter = entries.iter().find_map(|entry| entry.letter);
        // What it says where the peer is a server, and what it asks where it is a client: --http.
        let mut values: Vec<&str> = entries.iter().filter_map(|entry| entry.value.as_deref()).collect();
        values.dedup();
        let value = values.join(" or ").replace('|', "\\|");
        let commands: Vec<String> = entries
            .iter()
            .map(|entry| {
                let others = entry.other_letters.iter().map(|letter| format!(" (also `-{letter}`)"));
                let without = if entry.letter == letter { "" } else { " (no letter)" };
                format!("{}{without}{}", entry.command, others.collect::<String>())
            })
            .collect();
        let letter = letter.map_or(String::new(), |letter| format!("`-{letter}`"));
        row(format_args!("| `--{name}` | {letter} | {value} | {} |\n", commands.join(", ")));
    }
    page
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::path::PathBuf;
    use std::time::Duration;

    use facts::unit::{Bytes, Nanos};

    use super::*;
    use crate::command_line::command;

    #[test]
    fn a_name_is_one_thing() {
        for (name, entries) in entries(&mut command()) {
            let mut letters: Vec<char> = entries.iter().filter_map(|entry| entry.letter).collect();
            letters.dedup();
            assert!(letters.len() <= 1, "--{name} has the letters {letters:?}");
            // What it says where the peer is a server, and what it asks where it is a client.
            if name == "http" {
                continue;
            }
            for entry in &entries {
                let (first, other) = (&entries[0].command, &entry.command);
                assert_eq!(entry.value, entries[0].value, "--{name} of {first} and {other}");
            }
        }
    }

    #[test]
    fn repetition_has_one_pair_of_letters() {
        for (name, entries) in entries(&mut command()) {
            for entry in entries {
                assert_eq!(entry.letter == Some('i'), name == "interval", "-i of {}", entry.command);
                assert_eq!(entry.letter == Some('n'), name == "count", "-n of {}", entry.command);
            }
        }
    }

    #[test]
    fn every_value_is_of_a_kind() {
        let mut command = command();
        command.build();
        for subcommand in command.get_subcommands() {
            for arg in arguments(subcommand) {
                let Some(value) = value_name(arg) else { continue };
                let place = format!("{} {}", subcommand.get_name(), arg.get_id());
                let parser = arg.get_value_parser();
                let type_id = match value.as_str() {
                    "DURATION" => TypeId::of::<Duration>(),
                    "AGE" => TypeId::of::<Nanos>(),
                    "SIZE" => TypeId::of::<Bytes>(),
                    "N" => TypeId::of::<u64>(),
                    "RATE" => TypeId::of::<f64>(),
                    "ID" => TypeId::of::<u32>(),
                    "FILE" | "DIR" | "PATH" | "CGROUP" => TypeId::of::<PathBuf>(),
                    value => {
                        let is_kind = Kind::NAMED.iter().any(|kind| kind.name() == value);
                        let is_other = OTHERS.iter().any(|(name, _)| *name == value);
                        // It spells out what it takes.
                        let is_spelled = value.chars().any(char::is_lowercase);
                        assert!(is_kind || is_other || is_spelled, "{place}: no kind is called {value}");
                        continue;
                    }
                };
                assert!(parser.type_id() == type_id, "{place}: {value} is parsed as something else");
            }
        }
    }
}
