//! `whit query`: an expression's answer.

pub(crate) mod arguments;
mod render;

use std::collections::BTreeSet;
use std::process::ExitCode;

use ::history::answer;
use ::history::drawing::measure_of;
use ::history::past::Past;
use ::query::{Answer, Limits, Query};
use clap::ArgMatches;
use remote_store::{Asked, RemoteStore};
use serde_json::json;

use self::arguments::Format;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr};
use command::output::Output;
use command::past::{explain, open};
use command::past_origin::PastOrigin;
use formats::series_name::SeriesName;
use text::nearest::nearest_words;
use text::printable::Shown as _;

/// The most names that are offered for one.
const MAX_NEAREST: usize = 3;

/// Asks, and prints the answer.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let answer = ask(&args.origin, &args.expression, args.asked)?;
    let mut text = String::new();
    match args.format {
        Format::Text => render::push_text(&answer, measure_of(&args.expression), &mut text),
        Format::Csv => answer::push_csv(&answer, &mut text),
        Format::Json => {
            let body = json!({ "expression": args.expression, "data": answer::ReplyData(&answer) });
            Documents::of_live().push(DocumentKind::Query, probe::clock_now().realtime, &body, &mut text)?;
        }
    }
    Output::stdout().write(text.as_bytes())?;
    if !is_empty(&answer) {
        return Ok(ExitCode::SUCCESS);
    }
    say_unknown_metrics(&args.origin, &args.expression);
    Ok(if args.fails_if_empty { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn is_empty(answer: &Answer) -> bool {
    match answer {
        Answer::Vector(series) => series.is_empty(),
        Answer::Matrix(series) => series.is_empty(),
        Answer::Scalar(_) | Answer::Text(_) => false,
    }
}

/// Says which metrics of an expression without an answer are in no history here, each with those that are named most alike.
pub(crate) fn say_unknown_metrics(origin: &PastOrigin, expression: &str) {
    let PastOrigin::Directory(directory) = origin else { return };
    let asked = Query::parse(expression).ok().and_then(|query| query.metrics());
    let (Some(asked), Ok(past)) = (asked, open(directory)) else { return };
    let recorded = past.series().map(SeriesName::metric);
    let of_tasks = Past::task_metrics().map(|(name, _)| name);
    let known: BTreeSet<&str> = recorded.chain(of_tasks).collect();
    for metric in asked.iter().filter(|metric| !known.contains(metric.as_str())) {
        let nearest = nearest_words(metric, known.iter().copied(), MAX_NEAREST).join(", ");
        let hint = match nearest.is_empty() {
            true => "; whit history --list has all names".to_owned(),
            false => format!("; named most alike: {nearest}"),
        };
        write_stderr(&format!("whit: no series of {} is recorded{hint}\n", metric.shown()));
    }
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
