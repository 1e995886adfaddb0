//! Options of `whit get`.

use clap::{ArgMatches, Command};

use crate::query::arguments::{SERVER, expression, origin, with_origin};
use command::failure::Failure;
use command::options::{instant_ms, instant_option, paragraphs, text};
use command::past_origin::PastOrigin;

/// `whit get`, validated.
#[derive(Debug)]
pub(crate) struct GetArgs {
    pub(super) expression: String,
    pub(super) at_ms: i64,
    pub(super) origin: PastOrigin,
}

pub(crate) fn command() -> Command {
    Command::new("get").about("Print one number of the history, for scripts").defer(|command| {
        let command = command.arg(expression()).arg(instant_option("at", "At this instant [default: now]"));
        with_origin(command, SERVER).after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Prints the value in full, without its unit and its series. The exit status is 1 if no series has a value,
if several have one, or if it is NaN. The language is that of whit query.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<GetArgs, Failure> {
    let now_ms = || jiff::Timestamp::now().as_millisecond();
    Ok(GetArgs {
        expression: text(matches, "expression"),
        at_ms: instant_ms(matches, "at")?.unwrap_or_else(now_ms),
        origin: origin(matches)?,
    })
}
