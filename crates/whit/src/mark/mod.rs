//! `whit mark`: what people want to find again in the history.

pub(crate) mod arguments;

use std::fmt::{Display, Write as _};
use std::process::ExitCode;

use ::history::marks::{Mark, Marks};
use clap::ArgMatches;
use serde_json::json;
use text::printable::Shown as _;

use self::arguments::MarkTask;
use command::document::{DocumentKind, Documents, rfc3339};
use command::failure::Failure;
use command::output::Output;
use command::time_zone;

/// Runs `whit mark`.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let failed = |error: &dyn Display| Failure::new(format!("{}: {error}", args.directory.shown()));
    let directory = args.directory.as_path();
    if !Marks::is_in(directory) {
        return Err(failed(&"no agent has recorded anything there yet"));
    }
    match &args.task {
        MarkTask::Set(mark) => {
            Marks::open(directory).and_then(|mut marks| marks.set(mark)).map_err(|error| failed(&error))?
        }
        MarkTask::List { since_ms, is_json } => {
            let marks = Marks::open_for_reading(directory);
            let found = marks.and_then(|marks| marks.between(*since_ms, i64::MAX / 1_000_000));
            let found = found.map_err(|error| failed(&error))?;
            let mut text = String::new();
            if *is_json {
                push_json(&found, &mut text)?
            } else {
                push_text(&found, &mut text)
            }
            Output::stdout().write(text.as_bytes())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn push_text(marks: &[Mark], text: &mut String) {
    for mark in marks {
        let at = time_zone::written(mark.at_ms.saturating_mul(1_000_000));
        let _ = writeln!(text, "{at}  {}", mark.text.shown());
    }
}

fn push_json(marks: &[Mark], text: &mut String) -> Result<(), Failure> {
    let marks = marks.iter().map(|mark| {
        let realtime_ns = mark.at_ms * 1_000_000;
        json!({ "realtime_ns": realtime_ns, "realtime": rfc3339(realtime_ns.into()), "text": mark.text })
    });
    let body = json!({ "marks": marks.collect::<Vec<_>>() });
    Documents::of_live().push(DocumentKind::Marks, probe::clock_now().realtime, &body, text)
}
