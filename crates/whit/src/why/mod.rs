//! `whit why`: what the machine or a task waited for, in sentences.

mod answer;
pub(crate) mod arguments;
mod of_fleet;
mod present;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::history::past::Past;
use ::history::why::{Window, examine};
use ::query::Limits;
use clap::ArgMatches;
use remote_store::RemoteStore;
use text::printable::Shown as _;

use self::answer::{Answer, during, print};
use self::arguments::{Time, WhyArgs};
use crate::agent::observing;
use command::failure::Failure;
use command::past_origin::PastOrigin;
use probe::random;

use command::paths;

/// A history whose last tick is older than this does not say how the machine is now.
const RECENT_MS: i64 = 15_000;

/// Examines, and says what was found.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    if let Some(machine) = &args.stored {
        return of_fleet::run(machine, args);
    }
    let (place, answer) = match &args.origin {
        PastOrigin::Server(url) => (url.clone(), ask(url, args)?),
        PastOrigin::Directory(directory) => {
            (directory.shown().to_string(), examine_recorded(directory, args)?)
        }
    };
    let mut answer = match (answer, args.time) {
        (Some(answer), _) => answer,
        (None, Time::Last { .. }) if !args.is_server_named => observe(args)?,
        (None, _) => {
            return Err(Failure::new(format!("{place}: nothing was recorded then; whit agent records")));
        }
    };
    // The present of this machine; another one's is not seen from here.
    let fixed_ms = (answer.fixed_at.0 / 1_000_000).cast_signed();
    let is_present = args.ends_now && !args.is_server_named && answer.window.to_ms >= fixed_ms - RECENT_MS;
    let chains = match &args.target {
        _ if !is_present => Vec::new(),
        Some(target) => present::chains(target),
        None => {
            present::add_to(&mut answer.findings);
            Vec::new()
        }
    };
    print(&answer, &chains, args)?;
    // The answer for a misspelt name must not look like that for a task without problems.
    let is_unknown = args.target.is_some() && answer.findings.sentences.is_empty() && chains.is_empty();
    Ok(if is_unknown { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Asks an agent; `None` if it has not recorded the requested time, or if it was not named and does not answer.
fn ask(url: &str, args: &WhyArgs) -> Result<Option<Answer>, Failure> {
    let agent = RemoteStore::new(url);
    let extent = match agent.extent_ms() {
        Err(error) if args.is_server_named => return Err(Failure::new(error)),
        extent => extent.ok().flatten(),
    };
    // The clock of another machine may be another one.
    let is_recent = |last_ms| args.is_server_named || is_recent(last_ms);
    let Some(window) = extent.and_then(|extent| recorded_part(args.time, extent, is_recent)) else {
        return Ok(None);
    };
    let fixed_at = probe::clock_now().realtime;
    let findings = during(window, || agent.why(window, args.target.as_ref())).map_err(Failure::new)?;
    Ok(Some(Answer { findings, window, fixed_at }))
}

/// Returns whether a history whose last tick this is says how the machine is now.
fn is_recent(last_ms: i64) -> bool {
    last_ms >= jiff::Timestamp::now().as_millisecond() - RECENT_MS
}

/// Examines the recording in a directory; `None` if there is none of the requested time.
fn examine_recorded(directory: &Path, args: &WhyArgs) -> Result<Option<Answer>, Failure> {
    let path = directory.join(::history::HISTORY);
    if !command::past::is_there(&path)? {
        return Ok(None);
    }
    let past = command::past::open(directory)?;
    let Some(extent) = extent_ms(&past, &path)? else { return Ok(None) };
    recorded_part(args.time, extent, is_recent).map(|window| examine_window(&past, window, args)).transpose()
}

fn examine_window(past: &Past, window: Window, args: &WhyArgs) -> Result<Answer, Failure> {
    let fixed_at = probe::clock_now().realtime;
    let examined = during(window, || examine(past, window, args.target.as_ref(), &Limits::default()));
    let findings = examined.map_err(|error| Failure::new(error.to_string()))?;
    Ok(Answer { findings, window, fixed_at })
}

/// Returns the part of the requested time that was recorded; `None` if nothing of it was.
fn recorded_part(
    time: Time,
    (first_ms, last_ms): (i64, i64),
    is_recent: impl Fn(i64) -> bool,
) -> Option<Window> {
    let (from_ms, to_ms) = match time {
        Time::Last { .. } if !is_recent(last_ms) => return None,
        Time::Last { length_ms } => (last_ms - length_ms, last_ms),
        Time::Between { from_ms, to_ms } => (from_ms, to_ms.min(last_ms)),
    };
    let window = Window { from_ms: from_ms.max(first_ms), to_ms };
    (window.from_ms < window.to_ms).then_some(window)
}

/// The first and the last tick, in milliseconds since 1970.
fn extent_ms(past: &Past, path: &Path) -> Result<Option<(i64, i64)>, Failure> {
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

/// Records for a while into memory, and examines that.
fn observe(args: &WhyArgs) -> Result<Answer, Failure> {
    if probe::is_proc_missing() {
        return Err(Failure::new("nothing can be observed"));
    }
    let directory = new_directory()?;
    let observed = ::recorder::run(&observing(&directory, args.observed), || Err("there is none".to_owned()));
    let past = observed
        .map_err(|error| Failure::new(error.to_string()))
        .and_then(|()| command::past::open(&directory));
    // It is read as it was when it was opened, also when its name is gone.
    let found = past.and_then(|past| {
        let extent =
            extent_ms(&past, &directory)?.ok_or_else(|| Failure::new("nothing could be observed"))?;
        Ok((past, Window { from_ms: extent.0, to_ms: extent.1 }))
    });
    let _ = std::fs::remove_dir_all(&directory);
    let (past, window) = found?;
    examine_window(&past, window, args)
}
