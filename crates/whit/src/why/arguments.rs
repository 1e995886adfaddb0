//! Options of `whit why`.

use std::path::PathBuf;
use std::time::Duration;

use ::history::why::Target;
use clap::{Arg, ArgMatches, Command};
use fleet::FleetOptions;

use crate::fleet::arguments::store;
use crate::query::arguments::{origin, with_origin};
use command::agent_files;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    data_directory, instant_ms, instant_option, json, named_data, option, paragraphs, switch,
};
use command::past_origin::PastOrigin;

/// `whit why`, validated.
#[derive(Debug)]
pub(crate) struct WhyArgs {
    pub(super) target: Option<Target>,
    pub(super) time: Time,
    /// No end of the time was named.
    pub(super) ends_now: bool,
    pub(super) origin: PastOrigin,
    /// The origin is a server that was named.
    pub(super) is_server_named: bool,
    /// The machine of a fleet that is asked about, by what a store has of it.
    pub(super) stored: Option<StoredMachine>,
    /// For how long the machine is observed if nothing was recorded.
    pub(super) observed: Duration,
    pub(super) shows: bool,
    pub(super) is_json: bool,
}

/// A machine of a fleet, and the store that has its series.
#[derive(Debug)]
pub(super) struct StoredMachine {
    pub(super) name: String,
    pub(super) store: FleetOptions,
}

/// The time that is asked about, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// Up to now.
    Last {
        length_ms: i64,
    },
    Between {
        from_ms: i64,
        to_ms: i64,
    },
}

const USUAL_LENGTH_MS: i64 = 600_000;
/// Around an instant.
const AROUND_MS: i64 = 60_000;
const USUAL_OBSERVED: Duration = Duration::from_secs(5);

pub(crate) fn command() -> Command {
    Command::new("why").about("Say what the machine or a task waited for, and who caused it").defer(
        |command| {
            let command =
                command
                    .arg(Arg::new("target").value_name("TARGET").help(
                        "A process, a name, a cgroup, a unit or a container's id [default: the machine]",
                    ))
                    .arg(instant_option("since", "From this instant on [default: -10m]").conflicts_with("at"))
                    .arg(instant_option("until", "Up to this instant [default: now]").requires("since"))
                    .arg(instant_option("at", "Around this instant: half a minute before and after"))
                    .arg(option(
                        "observe",
                        Kind::Duration,
                        "Observe for so long if nothing is recorded [default: 5s]",
                    ))
                    .arg(
                        Arg::new("machine")
                            .long("machine")
                            .value_name("MACHINE")
                            .help("A machine of the fleet, by what the store has of it: whit-fleet(7)")
                            .conflicts_with_all(["target", "show", "observe", "data"]),
                    )
                    .arg(switch("show", "Show the expression behind each figure, and its value"))
                    .arg(json());
            with_origin(command, "Ask the agent at this address; with --machine, the store there")
                .after_help(paragraphs(EXPLANATION))
        },
    )
}

const EXPLANATION: &str = "\
The first sentence explains most. It reads what the agent has recorded; where none records, it
observes the machine itself for a while. Of a quiet machine it says that nothing is wrong.
It fails (exit status 1) if nothing is known of a target.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<WhyArgs, Failure> {
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let to_ms = instant_ms(matches, "until")?.unwrap_or(now_ms);
    let time = match (instant_ms(matches, "since")?, instant_ms(matches, "at")?) {
        (Some(from_ms), _) if from_ms >= now_ms => {
            return Err(Failure::usage("--since: that is still to come"));
        }
        (Some(from_ms), _) if from_ms >= to_ms => {
            return Err(Failure::usage("--until: that is before --since"));
        }
        (Some(from_ms), _) => Time::Between { from_ms, to_ms },
        (_, Some(at_ms)) => Time::Between { from_ms: at_ms - AROUND_MS / 2, to_ms: at_ms + AROUND_MS / 2 },
        _ => Time::Last { length_ms: USUAL_LENGTH_MS },
    };
    let machine = matches.get_one::<String>("machine").cloned();
    let stored = machine
        .map(|name| Ok::<_, Failure>(StoredMachine { name, store: store(matches, None)? }))
        .transpose()?;
    // A name that leads nowhere is not passed over.
    agent_files::named_data(named_data(matches))?;
    Ok(WhyArgs {
        target: matches.get_one::<String>("target").map(|text| Target::parse(text)),
        time,
        ends_now: !matches.contains_id("until") && !matches.contains_id("at"),
        origin: match (origin(matches), time) {
            // Of an agent that cannot be asked: the machine is observed.
            (Err(_), Time::Last { .. }) if !matches.contains_id("from") => {
                PastOrigin::Directory(data_directory(matches)?)
            }
            // The store is asked.
            (Err(_), _) if stored.is_some() => PastOrigin::Directory(PathBuf::new()),
            (origin, _) => origin?,
        },
        stored,
        is_server_named: matches.contains_id("from"),
        observed: matches.get_one("observe").copied().unwrap_or(USUAL_OBSERVED),
        shows: matches.get_flag("show"),
        is_json: matches.get_flag("json"),
    })
}
