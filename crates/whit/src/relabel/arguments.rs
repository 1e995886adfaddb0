//! Options of `whit relabel`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};

use command::kind::Kind;
use command::options::{option, paragraphs};

/// `whit relabel`, validated.
#[derive(Debug)]
pub(crate) enum RelabelCommand {
    /// Prints the rules of a configuration of Prometheus as whit has them.
    Import(PathBuf),
    /// Shows what becomes of some series, step by step; of none: those on standard input, one a line.
    Apply {
        /// `None`: those of the agent.
        rules: Option<PathBuf>,
        series: Vec<String>,
    },
}

pub(crate) fn command() -> Command {
    Command::new("relabel").about("Show what rules make of the names of series").defer(|command| {
        command
            .arg(
                Arg::new("try")
                    .long("try")
                    .value_name("SERIES")
                    .action(ArgAction::Append)
                    .help("Show what becomes of this series, step by step [default: filter standard input]"),
            )
            .arg(option("rules", Kind::File, "Rules: a TOML file with [[relabel]], or YAML of Prometheus [default: those of the agent's configuration]"))
            .arg(option("import", Kind::File, "Print the rules in a YAML file of Prometheus as TOML").conflicts_with_all(["try", "rules"]))
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Rules are those of Prometheus' relabel_config, with its actions and defaults, and
rename = { old = \"new\" }, which gives labels other names. In the agent's configuration they change
what is recorded; whit history export --rules changes what is exported. Without --try, series are
read from standard input, one a line, and written as they become; those that are dropped are not.";

pub(crate) fn from_matches(matches: &ArgMatches) -> RelabelCommand {
    match matches.get_one::<PathBuf>("import") {
        Some(path) => RelabelCommand::Import(path.clone()),
        None => RelabelCommand::Apply {
            rules: matches.get_one("rules").cloned(),
            series: matches.get_many::<String>("try").into_iter().flatten().cloned().collect(),
        },
    }
}
