//! Options of `whit fleet`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use fleet::{FleetOptions, matchers};

use crate::agent::in_use;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    action, chosen_action, instant_ms, instant_option, interval, json, option, paragraphs, past_data,
    running_agent_configuration, text, with_actions,
};
use command::past;

use super::simulate::SimulateArgs;

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

/// What to do.
#[derive(Debug)]
pub(super) enum FleetTask {
    /// Says which machines there are.
    List(FleetArgs),
    /// Sends what many machines would send.
    Simulate(SimulateArgs),
}

const USUAL_LENGTH: Duration = Duration::from_secs(60);
const USUAL_INTERVAL: Duration = Duration::from_secs(1);
const MAX_SIMULATED: Duration = Duration::from_secs(366 * 86_400);

pub(crate) fn command() -> Command {
    Command::new("fleet").about("List the machines of a fleet, those in trouble first").defer(|command| {
        let simulate = action(
            "simulate",
            "Send to a store what so many machines would send, out of the history of this one",
        )
        .arg(option("machines", Kind::Count, "So many machines").required(true))
        .arg(option("to", Kind::Url, "The store, by the address before /api/v1").required(true))
        .arg(option("duration", Kind::Duration, "For so long [default: 1m]"))
        .arg(interval("Between two samples of a series [default: 1s]"))
        .arg(option("speed", Kind::Count, "So many times faster than real time; it ends now [default: 1]"))
        .arg(past_data());
        with_actions(command, [simulate])
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
            .arg(running_agent_configuration().global(true))
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Machines are those whose agents send what they record to the store, by [[remote_write]] in their
configurations; the label instance names a machine. The store is asked a dozen questions,
however many machines there are: whit-fleet(7).";

pub(super) fn from_matches(matches: &ArgMatches) -> Result<FleetTask, Failure> {
    match chosen_action(matches, "list", &["machine", "from", "selector", "at", "count", "json"])? {
        ("simulate", matches) => Ok(FleetTask::Simulate(simulation(matches)?)),
        (_, matches) => Ok(FleetTask::List(listing(matches)?)),
    }
}

fn simulation(matches: &ArgMatches) -> Result<SimulateArgs, Failure> {
    let count = |name| matches.get_one::<u64>(name).copied();
    let duration = |name, usual| matches.get_one::<Duration>(name).copied().unwrap_or(usual);
    let speed = count("speed").map_or(1, |speed| u32::try_from(speed).unwrap_or(u32::MAX));
    let length = duration("duration", USUAL_LENGTH);
    if length.saturating_mul(speed) > MAX_SIMULATED {
        return Err(Failure::usage("--duration times --speed is more than a year"));
    }
    Ok(SimulateArgs {
        data: in_use::data_directory(matches, past::directory)?,
        url: text(matches, "to"),
        machines: count("machines").and_then(|count| usize::try_from(count).ok()).unwrap_or(1),
        interval: duration("interval", USUAL_INTERVAL),
        duration: length,
        speed,
    })
}

fn listing(matches: &ArgMatches) -> Result<FleetArgs, Failure> {
    let mut options = store(matches, matches.get_one::<PathBuf>("config").map(PathBuf::as_path))?;
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

/// Returns the store of `--from`, or that of the configuration.
pub(crate) fn store(matches: &ArgMatches, config: Option<&Path>) -> Result<FleetOptions, Failure> {
    if let Some(url) = matches.get_one::<String>("from") {
        return Ok(FleetOptions { url: url.clone(), ..FleetOptions::default() });
    }
    let found = in_use::InUse::read(config, None)?;
    found.options.fleet.ok_or_else(|| {
        Failure::new(
            "no store is known: --from http://store:8428, or [fleet] url = … in the agent's configuration",
        )
    })
}
