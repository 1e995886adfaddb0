//! Options of `whit query`.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use remote_store::Asked;

use command::failure::Failure;
use command::kind::Kind;
use command::options::{instant_ms, instant_option, json, named_data, option, paragraphs, past_data, switch};
use command::past_origin::{self, PastOrigin};

/// `whit query`, validated.
#[derive(Debug)]
pub(crate) struct QueryArgs {
    pub(super) expression: String,
    pub(super) asked: Asked,
    pub(super) origin: PastOrigin,
    pub(super) format: Format,
    /// An answer without series is a failure.
    pub(super) fails_if_empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Json,
    Csv,
}

/// Steps of a time for which no step is named.
const USUAL_STEPS: i64 = 60;

pub(crate) fn command() -> Command {
    Command::new("query").about("Ask the history with an expression of PromQL").defer(|command| {
        with_origin(
            command
                .arg(expression())
                .arg(
                    instant_option("at", "At this instant [default: now]")
                        .conflicts_with_all(["since", "until", "step"]),
                )
                .arg(instant_option("since", "From this instant on, step by step"))
                .arg(instant_option("until", "Up to this instant [default: now]").requires("since"))
                .arg(
                    option("step", Kind::Duration, "From one step to the next [default: a 60th of the time]")
                        .requires("since"),
                )
                .arg(json())
                .arg(switch("csv", "Print a line a sample: time, series, value").conflicts_with("json"))
                .arg(switch("fail-empty", "Exit with status 1 if the answer has no series")),
            SERVER,
        )
        .after_help(paragraphs(EXPLANATION))
    })
}

/// The expression.
pub(crate) fn expression() -> Arg {
    Arg::new("expression")
        .value_name("EXPRESSION")
        .required(true)
        .allow_hyphen_values(true)
        .help("An expression of PromQL")
}

/// The options that say who answers.
pub(crate) fn with_origin(command: Command, help: &'static str) -> Command {
    command.arg(past_data()).arg(option("from", Kind::Url, help).conflicts_with("data"))
}

/// The help of an option with a server that answers queries.
pub(crate) const SERVER: &str = "Ask this server, which answers as Prometheus does";

const EXPLANATION: &str = "\
The language is a part of PromQL: whit-query(7). Series are those of whit history --list, and those of
tasks, such as whit_task_run_queue_seconds_total{pid,tid,comm,user,cgroup,unit,container}. The
agent may run meanwhile, or not at all. Values are rounded, with the unit that the names of the series have; --json
and --csv have them in full.";

/// Returns the origin of the answer.
pub(crate) fn origin(matches: &ArgMatches) -> Result<PastOrigin, Failure> {
    match matches.get_one::<String>("from") {
        Some(url) => Ok(PastOrigin::Server(url.clone())),
        None => past_origin::find(named_data(matches)),
    }
}

/// The first and the last instant, and the step, in milliseconds; of so long a time if none is named.
pub(crate) fn times(matches: &ArgMatches, steps: i64, usual_ms: i64) -> Result<[i64; 3], Failure> {
    let now = jiff::Timestamp::now().as_millisecond();
    let to_ms = instant_ms(matches, "until")?.unwrap_or(now);
    let from_ms = instant_ms(matches, "since")?.unwrap_or(to_ms.saturating_sub(usual_ms));
    if to_ms < from_ms {
        return Err(Failure::usage("--until is before --since"));
    }
    let named =
        matches.get_one::<Duration>("step").map(|step| i64::try_from(step.as_millis()).unwrap_or(i64::MAX));
    if named == Some(0) {
        return Err(Failure::usage("--step: expected 1ms or more"));
    }
    // Whole seconds, where there is room for them.
    let usual = (to_ms - from_ms) / steps.max(1);
    let usual = if usual > 1000 { usual / 1000 * 1000 } else { 1000 };
    Ok([from_ms, to_ms, named.unwrap_or(usual)])
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<QueryArgs, Failure> {
    let asked = match matches.contains_id("since") {
        true => {
            let [from_ms, to_ms, step_ms] = times(matches, USUAL_STEPS, 0)?;
            Asked::Between { from_ms, to_ms, step_ms }
        }
        false => {
            let now = jiff::Timestamp::now().as_millisecond();
            Asked::At { at_ms: instant_ms(matches, "at")?.unwrap_or(now) }
        }
    };
    let format = match (matches.get_flag("json"), matches.get_flag("csv")) {
        (true, _) => Format::Json,
        (_, true) => Format::Csv,
        _ => Format::Text,
    };
    let expression = matches.get_one::<String>("expression").cloned().unwrap_or_default();
    let fails_if_empty = matches.get_flag("fail-empty");
    Ok(QueryArgs { expression, asked, origin: origin(matches)?, format, fails_if_empty })
}
