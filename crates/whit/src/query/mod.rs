//! `whit query`: an expression's answer.

pub(crate) mod arguments;
mod render;

use std::path::Path;
use std::process::ExitCode;

use ::agent::past::Past;
use ::agent::{Asked, RemoteStore, answer};
use ::query::{Answer, Limits, Query, QueryError};
use serde_json::json;
use text::printable::Shown as _;

use self::arguments::{Format, QueryArgs, QueryOrigin};
use crate::document::{DocumentKind, Documents};
use crate::failure::Failure;
use crate::output::Output;

/// Asks, and prints the answer.
pub(crate) fn run(args: &QueryArgs) -> Result<ExitCode, Failure> {
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
pub(crate) fn ask(origin: &QueryOrigin, expression: &str, asked: Asked) -> Result<Answer, Failure> {
    match origin {
        QueryOrigin::Server(url) => RemoteStore::new(url).ask(expression, asked).map_err(Failure::new),
        QueryOrigin::Directory(directory) => {
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

/// Opens the history of a data directory.
pub(crate) fn open(directory: &Path) -> Result<Past, Failure> {
    let path = directory.join(::agent::HISTORY);
    if !path.exists() {
        return Err(Failure::new(format!("{}: there is none yet; whit agent makes it", path.shown())));
    }
    Past::open(&path).map_err(|error| Failure::new(format!("{}: {error}", path.shown())))
}

/// What is wrong, with the line of the expression and a mark under the place.
pub(crate) fn explain(expression: &str, error: &QueryError) -> Failure {
    let QueryError::Malformed(fault) = error else { return Failure::new(error.to_string()) };
    let Some((line, column)) = fault.line_and_column(expression) else {
        return Failure::usage(fault.message.clone());
    };
    let shown = expression.lines().nth(line - 1).unwrap_or_default();
    let place = if expression.lines().count() > 1 { format!("line {line}, ") } else { String::new() };
    let mark = " ".repeat(column - 1);
    Failure::usage(format!("{place}column {column}: {}\n  {}\n  {mark}^", fault.message, shown.shown()))
}
