//! Jobs from configurations of tmpfiles.d(5).

use std::path::{Path, PathBuf};

use facts::age::AgeBy;
use facts::unit::Nanos;
use fast_glob::glob_match;
use probe::directory::EntryKind;
use wire::tmpfiles::{self, Clean, Rule};

use probe::named;
use crate::show::text::Shown as _;
use super::{Job, Selection};
use crate::failure::Failure;

/// What systemd-tmpfiles cleans, but for sockets: whether somebody listens there its age does not tell.
const KINDS: [EntryKind; 3] = [EntryKind::File, EntryKind::Symlink, EntryKind::Fifo];

/// One for each directory that is cleaned and is there. Whatever has a line of its own is left alone by the others.
pub(super) fn jobs(files: &[PathBuf], selection: &Selection) -> Result<Vec<Job>, Failure> {
    let mut rules = Vec::new();
    for file in files {
        let text = named::read_text(file, named::CONFIGURATION_BYTES)
            .map_err(|error| Failure::new(format!("{}: {error}", file.shown())))?;
        let parsed = tmpfiles::parse(&text)
            .map_err(|malformed| Failure::new(format!("{}:{malformed}", file.shown())))?;
        for rule in &parsed {
            if let Rule::Spare { pattern, .. } | Rule::Clean(Clean { path: pattern, is_pattern: true, .. }) =
                rule
            {
                fast_glob::validate(pattern).map_err(|error| {
                    Failure::new(format!("{}: \"{pattern}\" is no pattern: {error}", file.shown()))
                })?;
            }
        }
        rules.extend(parsed);
    }
    let mut jobs = Vec::new();
    for rule in &rules {
        let Rule::Clean(clean) = rule else { continue };
        let beginning = clean.is_pattern.then(|| beginning(&clean.path));
        let directories = match clean.is_pattern {
            true => matching_directories(&clean.path),
            false => vec![PathBuf::from(&clean.path)],
        };
        // What is not there needs no cleaning; what is a symlink is not followed.
        let is_directory = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        jobs.extend(directories.into_iter().filter(is_directory).map(|directory| Job {
            selection: selection_of(clean, &directory, &rules, selection),
            directory,
            beginning: beginning.clone(),
            is_recursive: true,
        }));
    }
    Ok(jobs)
}

fn selection_of(clean: &Clean, directory: &Path, rules: &[Rule], selection: &Selection) -> Selection {
    let spared = rules.iter().filter_map(|rule| match rule {
        Rule::Spare { pattern, with_content } => Some((pattern.clone(), *with_content)),
        Rule::Clean(other) => {
            let is_below = Path::new(&other.path) != directory && other.path != clean.path;
            is_below.then(|| (other.path.clone(), true))
        }
    });
    Selection {
        older: Some(Nanos(clean.age_ns)),
        by: AgeBy::parse(&clean.times).unwrap_or(AgeBy::MODIFIED),
        kinds: KINDS.to_vec(),
        spared: spared.collect(),
        keeps_first_level: clean.keeps_first_level,
        ..selection.clone()
    }
}

/// The directory in which a pattern's first part is looked for.
fn beginning(pattern: &str) -> PathBuf {
    let literal = |part: &&str| !part.contains(['*', '?', '[', '{']);
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    let mut path = PathBuf::from("/");
    path.extend(parts.take_while(literal));
    // A pattern without any is one path, which begins where it is.
    path
}

/// The directories that a pattern of a whole path means, part by part.
fn matching_directories(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[', '{']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let mut next = Vec::new();
        for directory in found {
            // Whoever may not list it has nothing to clean there.
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                use std::os::unix::ffi::OsStrExt;
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_directory && glob_match(part, entry.file_name().as_bytes()) {
                    next.push(entry.path());
                }
            }
        }
        next.sort();
        found = next;
    }
    found
}
