//! Files: their age, their size, and how many there are.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use configuration::{Fault, Options, expected, text as text_of};
use facts::age::AgeBy;
use facts::unit::{Bytes, Nanos};
use probe::directory::{Directory, EntryKind, StatusWanted};
use text::printable::Shown as _;
use text::quantity;
use text::units::{Size, Span};

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// The most bytes that one call of getdents64(2) may give: some two thousand names.
const LISTING_BYTES: usize = 64 * 1024;

/// The limits of a file, or of the files of a directory.
#[derive(Debug)]
struct Limit {
    /// Older is critical.
    older: Option<Duration>,
    /// Smaller is critical, in bytes.
    smaller: Option<u64>,
    /// More files of a directory are critical.
    most: Option<u64>,
}

/// A path with its limits.
struct FileCheck<'l> {
    path: PathBuf,
    limit: &'l Limit,
}

pub(super) fn read(table: &Options<'_, '_>, _subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    Ok(Arc::new(Limit {
        older: age(table, "older")?,
        smaller: size(table, "smaller")?,
        most: table.whole_number("most")?,
    }))
}

impl Probe for Limit {
    fn run(&self, path: &str, _limits: &Limits<'_>) -> Outcome {
        look(&FileCheck { path: path.into(), limit: self })
    }
}

fn age(table: &Options<'_, '_>, key: &str) -> Result<Option<Duration>, Fault> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let nanos = quantity::age(text_of(value)?).map_err(|wanted| expected(value, &wanted))?;
    Ok(Some(Duration::from_nanos(nanos.0)))
}

fn size(table: &Options<'_, '_>, key: &str) -> Result<Option<u64>, Fault> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let bytes = quantity::size(text_of(value)?).map_err(|wanted| expected(value, &wanted))?;
    Ok(Some(bytes.0))
}

fn look(wanted: &FileCheck<'_>) -> Outcome {
    let metadata = match fs::metadata(&wanted.path) {
        Ok(metadata) => metadata,
        Err(error) => return unreadable(wanted, &error),
    };
    if metadata.is_dir() {
        // A symbolic link to a directory is followed, as everywhere else in checks.
        return match fs::canonicalize(&wanted.path).and_then(|path| Directory::open(&path)) {
            Ok(directory) => count(wanted, &directory),
            Err(error) => unreadable(wanted, &error),
        };
    }
    let age = age_of(&metadata);
    let (is_old, is_small) =
        (is_over(wanted, age), wanted.limit.smaller.is_some_and(|least| metadata.len() < least));
    let state = if is_old || is_small { State::Critical } else { State::Ok };
    let old = Span(age);
    let path = wanted.path.shown();
    let text = format!("{path} is {old} old and has {}", Size(Bytes(metadata.len())));
    Outcome::new(state, text).with(format!("age={}s size={}B", age.0 / 1_000_000_000, metadata.len()))
}

fn unreadable(wanted: &FileCheck<'_>, error: &std::io::Error) -> Outcome {
    let state = if error.kind() == ErrorKind::NotFound { State::Critical } else { State::Unknown };
    Outcome::new(state, format!("{}: {error}", wanted.path.shown()))
}

fn age_of(metadata: &fs::Metadata) -> Nanos {
    let age = metadata.modified().ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    // One from the future is new.
    age.map_or(Nanos(0), Nanos::from)
}

fn is_over(wanted: &FileCheck<'_>, age: Nanos) -> bool {
    wanted.limit.older.is_some_and(|older| age > Nanos::from(older))
}

/// Counts the files of a directory by its listing, and asks for their times only if the check is about them: one system call for
/// some two thousand names, and one for each file.
fn count(wanted: &FileCheck<'_>, directory: &Directory) -> Outcome {
    let modified = AgeBy { modified: true, ..StatusWanted::KIND.times };
    let times = StatusWanted { times: modified, ..StatusWanted::KIND };
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let (mut files, mut old) = (0_u64, 0_u64);
    let mut memory = Vec::with_capacity(LISTING_BYTES);
    let listed = directory.list(memory.spare_capacity_mut(), |name, kind| {
        let status = match (kind, wanted.limit.older) {
            (EntryKind::Directory, _) => return,
            (EntryKind::Unknown, _) | (_, Some(_)) => directory.status(name, times).ok(),
            (_, None) => None,
        };
        if status.is_some_and(|status| status.kind == EntryKind::Directory) {
            return;
        }
        files += 1;
        let modified_ns = status.and_then(|status| status.times.modified_ns);
        let age_ns = modified_ns.map(|at| (now.as_nanos() as i64).saturating_sub(at).max(0).cast_unsigned());
        old += u64::from(age_ns.is_some_and(|age_ns| is_over(wanted, Nanos(age_ns))));
    });
    if let Err(error) = listed {
        return unreadable(wanted, &error);
    }
    let counted = if wanted.limit.older.is_some() { old } else { files };
    let is_too_many =
        counted > wanted.limit.most.unwrap_or(if wanted.limit.older.is_some() { 0 } else { u64::MAX });
    let state = if is_too_many { State::Critical } else { State::Ok };
    let of_old = match wanted.limit.older {
        Some(older) => format!(", {old} of them older than {}", Span(Nanos::from(older))),
        None => String::new(),
    };
    let text = format!("{} has {files} files{of_old}", wanted.path.shown());
    Outcome::new(state, text).with(format!("files={files} old={old}"))
}
