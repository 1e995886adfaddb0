//! Options of `whit mark`.

use std::path::PathBuf;

use ::history::marks::Mark;
use clap::{Arg, ArgMatches, Command};

use command::failure::Failure;
use command::options::{instant_ms, instant_option, json, paragraphs, past_data, past_directory};

/// `whit mark`, validated.
#[derive(Debug)]
pub(crate) struct MarkArgs {
    pub(super) directory: PathBuf,
    pub(super) task: MarkTask,
}

/// A task of `whit mark`.
#[derive(Debug)]
pub(super) enum MarkTask {
    /// Sets one.
    Set(Mark),
    /// Lists those from an instant on, in milliseconds since 1970.
    List { since_ms: i64, is_json: bool },
}

/// Marks of so many milliseconds are listed: a week.
const USUAL_LENGTH_MS: i64 = 604_800_000;

pub(crate) fn command() -> Command {
    Command::new("mark").about("Set a mark in the history, such as \"deployed 2.3\", or list marks").defer(
        |command| {
            command
                .arg(
                    Arg::new("text")
                        .value_name("TEXT")
                        .num_args(1..)
                        .help("What happened [default: list the marks]"),
                )
                .arg(instant_option("at", "When it happened [default: now]").requires("text"))
                .arg(
                    instant_option("since", "List those from this instant on [default: -7d]")
                        .conflicts_with("text"),
                )
                .arg(past_data())
                .arg(json().conflicts_with("text"))
                .after_help(paragraphs(EXPLANATION))
        },
    )
}

const EXPLANATION: &str = "\
Marks are lines in the plots of the agent's page, for all who see it. Who may write the agent's
data directory may set them.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<MarkArgs, Failure> {
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let words: Vec<&str> =
        matches.get_many::<String>("text").into_iter().flatten().map(String::as_str).collect();
    let task = match words.as_slice() {
        [] => MarkTask::List {
            since_ms: instant_ms(matches, "since")?.unwrap_or(now_ms - USUAL_LENGTH_MS),
            is_json: matches.get_flag("json"),
        },
        words => {
            let at_ms = instant_ms(matches, "at")?.unwrap_or(now_ms);
            MarkTask::Set(Mark::new(at_ms, &words.join(" ")).map_err(Failure::usage)?)
        }
    };
    Ok(MarkArgs { directory: past_directory(matches)?, task })
}
