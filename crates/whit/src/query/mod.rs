//! `whit query`: an expression's answer.

pub(crate) mod arguments;
mod render;

use std::process::ExitCode;

use ::history::answer;
use ::query::{Answer, Limits, Query};
use clap::ArgMatches;
use remote_store::{Asked, RemoteStore};
use serde_json::json;

use self::arguments::Format;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;
use command::past::{explain, open};
use command::past_origin::PastOrigin;

/// Asks, and prints the answer.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let answer = ask(&args.origin, &args.expression, args.asked)?;
    let mut text = String::new();
    match args.format {
        Format::Text => render::push_text(&answer, &mut text),
        Format::Csv => answer::push_csv(&answer, &mut text),
        Format::Json => {
            let body = json!({ "expression": args.expression, "data": answer::ReplyData(&answer) });
            Documents::of_live().push(DocumentKind::Query, probe::clock_now().realtime, &body, &mut text)?;
        }
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The answer to an expression.
pub(crate) fn ask(origin: &PastOrigin, expression: &str, asked: Asked) -> Result<Answer, Failure> {
    match origin {
        PastOrigin::Server(url) => RemoteStore::new(url).ask(expression, asked).map_err(Failure::new),
        PastOrigin::Directory(directory) => {
            // What is wrong with the question comes first.
            let query = Query::parse(expression).map_err(|error| explain(expression, &error))?;
            let past = open(directory)?;
            let limits = Limits::default();
            let answer = match asked {
                Asked::At { at_ms } => query.at(&past, at_ms, &limits),
                Asked::Between { from_ms, to_ms, step_ms } => {
                    query.between(&past, [from_ms, to_ms], step_ms, &limits)
                }
            };
            answer.map_err(|error| explain(expression, &error))
        }
    }
}
