//! `whit why`: what the machine or a task waited for, in sentences.

pub(crate) mod arguments;

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ::history::past::Past;
use ::history::why::{Culprit, Findings, Window, examine};
use ::query::Limits;
use clap::ArgMatches;
use facts::unit::Nanos;
use serde_json::json;
use text::printable::Shown as _;
use text::units::Span;

use self::arguments::{Time, WhyArgs};
use crate::agent::observing;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;
use probe::random;

use command::paths;
use command::progress;

/// A history whose last tick is older than this does not say how the machine is now.
const RECENT_MS: i64 = 15_000;

/// Examines, and says what was found.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let (past, window) = match (recorded(args)?, args.time) {
        (Some(found), _) => found,
        (None, Time::Last { .. }) => observe(args.observed)?,
        (None, Time::Between { .. }) => {
            let path = args.directory.shown();
            return Err(Failure::new(format!("{path}: nothing was recorded then; whit agent records")));
        }
    };
    let asked = probe::clock_now().realtime;
    let span = Nanos((window.to_ms - window.from_ms).unsigned_abs() * 1_000_000);
    let findings = progress::during(
        || format!("examining {} of history", Span(span)),
        || examine(&past, window, args.target.as_ref(), &Limits::default()),
    )
    .map_err(|error| Failure::new(error.to_string()))?;
    let mut text = String::new();
    if args.is_json {
        push_json(&findings, window, asked, &mut text)?;
    } else {
        push_words(&findings, args, &mut text);
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the recording and the part of the requested time that it covers; `None` if it covers none.
fn recorded(args: &WhyArgs) -> Result<Option<(Past, Window)>, Failure> {
    let path = args.directory.join(::history::HISTORY);
    if !path.exists() {
        return Ok(None);
    }
    let past = command::past::open(&args.directory)?;
    let Some((first_ms, last_ms)) = extent(&past, &path)? else { return Ok(None) };
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let (from_ms, to_ms) = match args.time {
        Time::Last { .. } if last_ms < now_ms - RECENT_MS => return Ok(None),
        Time::Last { length_ms } => (last_ms - length_ms, last_ms),
        Time::Between { from_ms, to_ms } => (from_ms, to_ms.min(last_ms)),
    };
    let window = Window { from_ms: from_ms.max(first_ms), to_ms };
    Ok((window.from_ms < window.to_ms).then_some((past, window)))
}

/// The first and the last tick, in milliseconds since 1970.
fn extent(past: &Past, path: &Path) -> Result<Option<(i64, i64)>, Failure> {
    let extent = past.extent_ns().map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
    Ok(extent.map(|(first, last)| (first / 1_000_000, last / 1_000_000)))
}

/// Creates a directory that was not there, for this user alone: no other user can have made it, or a link in its place.
fn new_directory() -> Result<PathBuf, Failure> {
    let parent = paths::runtime_directory().unwrap_or_else(std::env::temp_dir);
    let failed = |path: &Path, error| Failure::new(format!("{}: {error}", path.shown()));
    let mut builder = DirBuilder::new();
    builder.mode(0o700).recursive(true).create(&parent).map_err(|error| failed(&parent, error))?;
    let directory = parent.join(format!("why-{}", random::hex()));
    builder.recursive(false).create(&directory).map_err(|error| failed(&directory, error))?;
    Ok(directory)
}

/// Records for a while into memory, and reads that.
fn observe(length: Duration) -> Result<(Past, Window), Failure> {
    let directory = new_directory()?;
    let observed = ::recorder::run(&observing(&directory, length), || Err("there is none".to_owned()));
    let past = observed
        .map_err(|error| Failure::new(error.to_string()))
        .and_then(|()| command::past::open(&directory));
    // It is read as it was when it was opened, also when its name is gone.
    let window = past.and_then(|past| {
        let found = extent(&past, &directory)?.ok_or_else(|| Failure::new("nothing could be observed"))?;
        Ok((past, Window { from_ms: found.0, to_ms: found.1 }))
    });
    let _ = std::fs::remove_dir_all(&directory);
    window
}

fn push_words(findings: &Findings, args: &WhyArgs, text: &mut String) {
    let nothing = match args.target {
        Some(_) => "Nothing is known of such a task in this time.\n",
        None => "Nothing is wrong.\n",
    };
    if findings.sentences.is_empty() {
        text.push_str(nothing);
    }
    for sentence in &findings.sentences {
        let _ = writeln!(text, "{}", sentence.text.shown());
        for evidence in sentence.evidence.iter().filter(|_| args.shows) {
            let _ = writeln!(text, "    {} = {}", evidence.expression.shown(), evidence.value);
        }
    }
    for missing in &findings.missing {
        let _ = writeln!(text, "Not known: {missing}");
    }
}

/// Appends a document that is stamped with the time at which the window was fixed.
fn push_json(findings: &Findings, window: Window, asked: Nanos, text: &mut String) -> Result<(), Failure> {
    let sentences = findings.sentences.iter().map(|sentence| {
        let evidence = sentence.evidence.iter();
        let evidence = evidence.map(|one| json!({ "expression": one.expression, "value": one.value }));
        json!({
            "trouble": sentence.trouble.name(),
            "weight_ratio": sentence.weight,
            "lost_ratio": sentence.lost,
            "text": sentence.text,
            "culprit": sentence.culprit.as_ref().map(Culprit::name),
            "culprit_kind": sentence.culprit.as_ref().map(Culprit::kind),
            "evidence": evidence.collect::<Vec<_>>(),
        })
    });
    let body = json!({
        "from_realtime_ns": window.from_ms * 1_000_000,
        "to_realtime_ns": window.to_ms * 1_000_000,
        "sentences": sentences.collect::<Vec<_>>(),
        "missing": findings.missing,
    });
    Documents::of_live().push(DocumentKind::Why, asked, &body, text)
}
