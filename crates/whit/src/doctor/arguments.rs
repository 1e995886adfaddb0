//! Options of `whit doctor`.

use std::path::PathBuf;

use clap::{ArgMatches, Command, ValueHint};
use probe::Roots;

use command::kind::Kind;
use command::options::{json, option, root, roots, switch};

/// `whit doctor`, validated.
#[derive(Debug)]
pub(crate) struct DoctorArgs {
    pub(crate) roots: Roots,
    pub(crate) is_json: bool,
    pub(crate) with_metrics: bool,
    pub(crate) is_selftest: bool,
    pub(crate) capture: Option<PathBuf>,
}

pub(crate) fn command() -> Command {
    Command::new("doctor")
        .about("Show what can be measured here, and how to get the rest")
        .defer(|command| {
            command
                .arg(switch("metrics", "List every metric with what this machine says of it"))
                .arg(
                    switch("selftest", "Read everything twice and say whether the values are consistent")
                        .conflicts_with_all(["metrics", "root"]),
                )
                .arg(
                    option("capture", Kind::Directory, "Copy what whit reads of this machine into a new directory, for --root. Command lines are left out")
                        .value_hint(ValueHint::DirPath)
                        .conflicts_with_all(["metrics", "selftest", "json"]),
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
        capture: matches.get_one("capture").cloned(),
    }
}
