//! Options of `whit doctor`.

use clap::{ArgMatches, Command};
use probe::Roots;

use crate::command_line::options::{json, root, roots, switch};

/// `whit doctor`, validated.
#[derive(Debug)]
pub(crate) struct DoctorArgs {
    pub(crate) roots: Roots,
    pub(crate) is_json: bool,
    pub(crate) with_metrics: bool,
    pub(crate) is_selftest: bool,
}

pub(crate) fn command() -> Command {
    Command::new("doctor")
        .about("What this kernel and these permissions give, and how to get the rest")
        .defer(|command| {
            command
                .arg(switch("metrics", "List every metric with what this machine says of it"))
                .arg(
                    switch("selftest", "Read everything twice and say whether it hangs together")
                        .conflicts_with_all(["metrics", "root"]),
                )
                .arg(json())
                .arg(root())
        })
}

pub(crate) fn from_matches(matches: &ArgMatches) -> DoctorArgs {
    DoctorArgs {
        roots: roots(matches),
        is_json: matches.get_flag("json"),
        with_metrics: matches.get_flag("metrics"),
        is_selftest: matches.get_flag("selftest"),
    }
}
