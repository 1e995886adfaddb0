//! Options of `whit bar`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, builder::PossibleValue, value_parser};
use probe::Roots;

use super::{count_option, root, roots, seconds_option, switch};
use crate::failure::Failure;

/// `whit bar`, validated.
#[derive(Debug)]
pub(crate) struct BarArgs {
    pub(crate) roots: Roots,
    pub(crate) output: BarOutput,
    pub(crate) interval: Duration,
    pub(crate) count: Option<u64>,
    pub(crate) is_debug: bool,
    /// Interfaces to show; empty for all that are up.
    pub(crate) nets: Vec<String>,
    /// Filesystems to show.
    pub(crate) disks: Vec<PathBuf>,
}

/// Who reads the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarOutput {
    Plain,
    I3bar,
}

impl clap::ValueEnum for BarOutput {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Plain, Self::I3bar]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Plain => PossibleValue::new("plain").help("A line of text a tick"),
            Self::I3bar => PossibleValue::new("i3bar").help("The protocol of i3bar and swaybar"),
        })
    }
}

pub(super) fn command() -> Command {
    Command::new("bar").about("A status line: network, memory, CPU, load, disk, battery, date").defer(
        |command| {
            command
                .arg(
                    Arg::new("output")
                        .long("output")
                        .short('o')
                        .value_name("FORMAT")
                        .value_parser(value_parser!(BarOutput))
                        .default_value("plain")
                        .help("Who reads it"),
                )
                .arg(
                    seconds_option(
                        "interval",
                        'i',
                        "A line every SECS seconds, on whole intervals of the clock",
                    )
                    .default_value("1"),
                )
                .arg(count_option('n', "End after N lines"))
                .arg(switch("once", "Print one line and end").conflicts_with("count"))
                .arg(
                    Arg::new("disk")
                        .long("disk")
                        .value_name("PATH")
                        .value_parser(value_parser!(PathBuf))
                        .action(clap::ArgAction::Append)
                        .help("Show the filesystem that PATH is on; may be repeated [default: /]"),
                )
                .arg(
                    Arg::new("net")
                        .long("net")
                        .value_name("NAME")
                        .action(clap::ArgAction::Append)
                        .help("Show this interface, up or down; may be repeated [default: all that are up]"),
                )
                .arg(switch("debug", "Append what the cycle before cost: wall time, CPU time, system calls"))
                .arg(root())
                .after_help("Which other segments are shown, and in what order, is fixed so far.")
        },
    )
}

pub(super) fn from_matches(matches: &ArgMatches) -> Result<BarArgs, Failure> {
    let roots = roots(matches);
    // A captured machine stands still, and so does its line.
    let is_one = matches.get_flag("once") || (roots.is_captured() && !matches.contains_id("count"));
    let mut disks = Vec::new();
    for disk in matches.get_many::<PathBuf>("disk").into_iter().flatten() {
        let absolute = std::path::absolute(disk);
        disks.push(absolute.map_err(|error| Failure::usage(format!("--disk {}: {error}", disk.display())))?);
    }
    let nets = matches.get_many::<String>("net").map(|nets| nets.cloned().collect()).unwrap_or_default();
    Ok(BarArgs {
        output: matches.get_one("output").copied().unwrap_or(BarOutput::Plain),
        interval: matches.get_one("interval").copied().unwrap_or(Duration::from_secs(1)),
        count: if is_one { Some(1) } else { matches.get_one("count").copied() },
        is_debug: matches.get_flag("debug"),
        nets,
        disks: if disks.is_empty() { vec![PathBuf::from("/")] } else { disks },
        roots,
    })
}
