//! Options of `whit fleet`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use fleet::{FleetOptions, matchers};

use crate::agent::in_use;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{instant_ms, instant_option, json, option, paragraphs, running_agent_configuration};

/// `whit fleet`, validated.
#[derive(Debug)]
pub(crate) struct FleetArgs {
    pub(super) options: FleetOptions,
    /// The only machine that is meant.
    pub(super) machine: Option<String>,
    pub(super) at_ms: i64,
    /// So many machines at most.
    pub(super) most: usize,
    pub(super) is_json: bool,
}

pub(crate) fn command() -> Command {
    Command::new("fleet").about("List the machines of a fleet, those in trouble first").defer(|command| {
        command
            .arg(Arg::new("machine").value_name("MACHINE").help("Everything about this machine"))
            .arg(option("from", Kind::Url, "Ask this store [default: url of [fleet] in the configuration]"))
            .arg(
                Arg::new("selector")
                    .long("selector")
                    .value_name("SERIES")
                    .help("The machines whose labels meet a selector, such as '{env=\"prod\"}'"),
            )
            .arg(instant_option("at", "At this instant [default: now]"))
            .arg(option("count", Kind::Count, "The first so many").short('n'))
            .arg(json())
            .arg(running_agent_configuration())
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Machines are those whose agents send what they record to the store, by [[remote_write]] in their
configurations; the label instance names a machine. The store is asked a dozen questions,
however many machines there are: whit-fleet(7).";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<FleetArgs, Failure> {
    let mut options = match matches.get_one::<String>("from") {
        Some(url) => FleetOptions { url: url.clone(), ..FleetOptions::default() },
        None => configured(matches)?,
    };
    if let Some(selector) = matches.get_one::<String>("selector") {
        options.matchers =
            matchers(selector).map_err(|message| Failure::usage(format!("--selector: {message}")))?;
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    Ok(FleetArgs {
        options,
        machine: matches.get_one("machine").cloned(),
        at_ms: instant_ms(matches, "at")?.unwrap_or(now_ms),
        most: matches
            .get_one::<u64>("count")
            .map_or(usize::MAX, |count| usize::try_from(*count).unwrap_or(usize::MAX)),
        is_json: matches.get_flag("json"),
    })
}

fn configured(matches: &ArgMatches) -> Result<FleetOptions, Failure> {
    let config = matches.get_one::<PathBuf>("config").cloned();
    let found = in_use::InUse::read(config.as_deref(), None)?;
    found.options.fleet.ok_or_else(|| {
        Failure::new(
            "no store is known: --from http://store:8428, or [fleet] url = … in the agent's configuration",
        )
    })
}
