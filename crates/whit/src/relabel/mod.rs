//! `whit relabel`: what rules make of the names of series.

pub(crate) mod arguments;
pub(crate) mod rules;

use std::fmt::Write as _;
use std::io::BufRead as _;
use std::process::ExitCode;

use clap::ArgMatches;
use formats::relabel::{Relabelled, Relabelling, Rule};
use formats::series_name::SeriesName;

use self::arguments::RelabelCommand;
use crate::agent::in_use::InUse;
use command::failure::{Failure, write_stderr};
use command::output::Output;

/// Applies or imports rules.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let command = &arguments::from_matches(matches);
    let mut out = Output::stdout();
    match command {
        RelabelCommand::Import(path) => {
            let (toml, rules) = rules::import(path)?;
            out.write(toml.as_bytes())?;
            write_stderr(&format!("whit: all rules were carried over: {rules}\n"));
        }
        RelabelCommand::Apply { rules, series } => {
            let relabelling = match rules {
                Some(path) => rules::read_file(path)?,
                None => InUse::read(None, None)?.options.recorder.relabelling,
            };
            for series in series {
                out.write(steps(&relabelling, series)?.as_bytes())?;
            }
            if series.is_empty() {
                filter(&relabelling, &mut out)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(series: &str) -> Result<SeriesName, Failure> {
    SeriesName::parse(series).map_err(|error| Failure::new(format!("{series}: {error}")))
}

/// The series before the rules, after each one that changes it, and what becomes of it.
fn steps(relabelling: &Relabelling, series: &str) -> Result<String, Failure> {
    let mut last = parse(series)?;
    let mut text = format!("{last}\n");
    let rules = relabelling.rules();
    let mut unchanged = Vec::new();
    let outcome = relabelling.apply(last.clone(), |place, now| {
        if *now == last {
            unchanged.push(place);
        } else {
            push_unchanged(&mut text, rules, &mut unchanged);
            let _ = writeln!(text, "{:>3} {}\n    {now}", place + 1, summary(&rules[place]));
            last = now.clone();
        }
    });
    push_unchanged(&mut text, rules, &mut unchanged);
    match outcome {
        Relabelled::Series(_) if rules.is_empty() => text.push_str("    there are no rules\n"),
        Relabelled::Series(_) => {}
        Relabelled::Dropped(place) => {
            let _ = writeln!(text, "{:>3} {}\n    dropped", place + 1, summary(&rules[place]));
        }
        Relabelled::Nameless(_) => text.push_str("    dropped: no name of a metric is left\n"),
    }
    Ok(text)
}

fn push_unchanged(text: &mut String, rules: &[Rule], places: &mut Vec<usize>) {
    for place in places.drain(..) {
        let _ = writeln!(text, "{:>3} {}: unchanged", place + 1, summary(&rules[place]));
    }
}

/// A rule in a line.
fn summary(rule: &Rule) -> String {
    let options = rule.options();
    let mut text = rule.action().to_owned();
    if let Some(labels) = &options.source_labels {
        let separator = options.separator.as_deref().unwrap_or(";");
        let _ = write!(text, " {}", labels.join(separator));
    }
    if let Some(regex) = &options.regex {
        let _ = write!(text, " =~ {regex:?}");
    }
    for (name, value) in [("target_label", &options.target_label), ("replacement", &options.replacement)] {
        if let Some(value) = value {
            let _ = write!(text, ", {name} {value:?}");
        }
    }
    if let Some(modulus) = options.modulus {
        let _ = write!(text, ", modulus {modulus}");
    }
    for (old, new) in &options.rename {
        let _ = write!(text, " {old} → {new}");
    }
    text
}

/// Series a line, as they become.
fn filter(relabelling: &Relabelling, out: &mut Output) -> Result<(), Failure> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::new(format!("standard input: {error}")))?;
        if line.is_empty() {
            continue;
        }
        if let Relabelled::Series(series) = relabelling.apply(parse(&line)?, |_, _| {}) {
            out.write(format!("{series}\n").as_bytes())?;
        }
    }
    Ok(())
}
