//! `whit get`: one number.

pub(crate) mod arguments;

use std::process::ExitCode;

use ::history::answer::written;
use ::query::Answer;
use ::query::number::write_in_full;
use clap::ArgMatches;
use remote_store::Asked;

use crate::query::{ask, say_unknown_metrics};
use command::failure::Failure;
use command::output::Output;

/// Series that are named if there are too many.
const MAX_NAMED: usize = 3;

/// Asks, and prints the value.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let answer = ask(&args.origin, &args.expression, Asked::At { at_ms: args.at_ms })?;
    let value = match &answer {
        Answer::Scalar(point) => number(point.value)?,
        Answer::Text(_) => return Err(Failure::usage("this is a text, and no number")),
        Answer::Vector(series) => match series.as_slice() {
            [(_, point)] => number(point.value)?,
            [] => {
                say_unknown_metrics(&args.origin, &args.expression);
                return Err(Failure::new("no series has a value then"));
            }
            several => {
                let names: Vec<String> =
                    several.iter().take(MAX_NAMED).map(|(name, _)| written(name).to_string()).collect();
                let more = if several.len() > MAX_NAMED { ", …" } else { "" };
                return Err(Failure::new(format!(
                    "{} series have a value, where one is wanted: {}{more}; a label in braces chooses one, sum(…) or max(…) makes one of them",
                    several.len(),
                    names.join(", ")
                )));
            }
        },
        Answer::Matrix(_) => return Err(Failure::usage("this is no number at one instant")),
    };
    Output::stdout().write(format!("{value}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a value. NaN is none that a script can compare.
fn number(value: f64) -> Result<String, Failure> {
    match value.is_nan() {
        true => Err(Failure::new("the value is NaN, as after a division of 0 by 0")),
        false => Ok(write_in_full(value)),
    }
}
