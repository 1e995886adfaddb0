//! `whit bench`: the measurements behind whit, on the user's own machine, beside the usual ways.
//!
//! If the start of an interpreter is not part of the question, code within a Python interpreter is timed; otherwise whole programs are.
//! Each measurement says which.

#![forbid(unsafe_code)]

mod arguments;
mod datastore;
mod figures;
mod html;
mod locks;
mod mail;
mod measurement;
mod options;
mod programs;
mod render;
mod scanning;
mod sizes;
mod sockets;
mod spawning;
mod tasks;

pub(crate) use measurement::{Measured, SideMeasured, Spread, Unit};

use std::cell::Cell;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::ArgMatches;
use probe::signals::{Signal, Signals};

use self::measurement::Measurement;
use self::options::BenchOptions;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr};
use command::new_file::NewFile;
use command::output::Output;

/// Measurements that take four seconds a round or more, and together most of the time.
const LONG: [&str; 5] = ["bar", "spawn-1G", "scan-1M", "scan-calls", "sieve-50M"];

/// All measurements, in the order of the output. None does anything before it is run.
fn all(options: &BenchOptions) -> Vec<Measurement> {
    [
        figures::measurements(),
        mail::measurements(options),
        spawning::measurements(),
        scanning::measurements(options),
        sockets::measurements(),
        sizes::measurements(),
        datastore::measurements(options),
        locks::measurements(options),
        tasks::measurements(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub use arguments::command;

/// Runs `whit bench`.
///
/// # Errors
/// If the command line is wrong, or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    measure(&arguments::from_matches(matches))
}

/// Runs the measurements, and prints each as soon as it is done.
fn measure(options: &BenchOptions) -> Result<ExitCode, Failure> {
    let chosen: Vec<Measurement> = all(options)
        .into_iter()
        .filter(|measurement| {
            !(options.is_quick && LONG.contains(&measurement.name))
                && (options.only.is_empty()
                    || options.only.iter().any(|only| measurement.name.starts_with(only)))
        })
        .collect();
    if chosen.is_empty() {
        return Err(Failure::usage("no measurement is called so: see whit bench --list"));
    }
    let mut output = Output::stdout();
    if options.is_list {
        let mut text = String::new();
        match options.is_json {
            true => push(DocumentKind::BenchList, &render::list_json(&chosen), &mut text)?,
            false => text = render::list(&chosen),
        }
        output.write(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    // What is written at the end must be possible at the beginning.
    let html = options.html.as_deref().map(NewFile::create).transpose()?;
    let shows_progress = std::io::stderr().is_terminal();
    // Taken as they come, so that what was made is taken away.
    let signals = Signals::open(&[Signal::Interrupt, Signal::Terminate, Signal::Hangup]);
    let signals = signals.map_err(Failure::of_system)?;
    let ended_by = Cell::new(None);
    let mut measurements = Vec::new();
    let count = chosen.len();
    for (place, measurement) in chosen.into_iter().enumerate() {
        let name = measurement.name;
        let goes_on = |round: usize, rounds: usize| {
            ended_by.set(ended_by.get().or_else(|| signals.next()));
            if shows_progress {
                write_stderr(&format!(
                    "\r{} of {count}, {}: round {round} of {rounds}\x1b[K",
                    place + 1,
                    name
                ));
            }
            ended_by.get().is_none()
        };
        goes_on(0, options.rounds);
        let measured = measurement.run(options.rounds, &goes_on);
        if shows_progress {
            write_stderr("\r\x1b[K");
        }
        let Some(measured) = measured else {
            let number = ended_by.get().map_or(0, Signal::number);
            return Err(Failure::silent(128 + number as u8));
        };
        let mut text = String::new();
        match options.is_json {
            true => push(DocumentKind::Bench, &render::json(&measured), &mut text)?,
            false => text = render::text(&measured),
        }
        output.write(text.as_bytes())?;
        measurements.push(measured);
    }
    if let Some(mut file) = html {
        file.write(html::page(&measurements))?;
        file.finish()?;
    }
    // A side that failed is reported in its place; a missing program is not a failure.
    let has_failed = measurements
        .iter()
        .flat_map(|measured| &measured.sides)
        .any(|side| matches!(side.ns, Err((true, _))));
    Ok(ExitCode::from(u8::from(has_failed)))
}

fn push(kind: DocumentKind, body: &serde_json::Value, text: &mut String) -> Result<(), Failure> {
    Documents::of_live().push(kind, probe::clock_now().realtime, body, text)
}
