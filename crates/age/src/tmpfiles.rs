//! Jobs from configurations of tmpfiles.d(5).
//!
//! Where whit and systemd-tmpfiles differ, whit keeps more. A malformed line stops everything, because it might have protected files.
//! Locked and sticky directories are kept with all their contents. A `C` line whose source contains a backslash, and a file that is not
//! UTF-8, are refused. On a filesystem without birth times no file is old by its birth time. If a file cannot be deleted, the exit status
//! is 1.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use facts::age::AgeBy;
use facts::unit::Nanos;
use formats::fnmatch;
use formats::tmpfiles::{self, Configuration, Machine, Times};
use probe::directory::EntryKind;
use probe::named;

use super::job::Job;
use super::selection::Selection;
use command::failure::{Failure, write_stderr};
use sampling::users::Users;
use text::printable::Shown as _;

/// The kinds that systemd-tmpfiles cleans, except sockets: their age does not say whether a program listens.
const KINDS: [EntryKind; 3] = [EntryKind::File, EntryKind::Symlink, EntryKind::Fifo];
/// Directories below the one that is cleaned, one in the other, that are entered.
const MAX_LEVELS: u32 = 256;
/// The most alternatives that the braces of a pattern may stand for.
const MAX_ALTERNATIVES: usize = 1_000;

/// Where configurations are, the most important first: of those of one name the first counts.
const DIRECTORIES: [&str; 5] =
    ["etc/tmpfiles.d", "run/tmpfiles.d", "usr/local/lib/tmpfiles.d", "usr/lib/tmpfiles.d", "lib/tmpfiles.d"];

/// One for each directory that is cleaned and is there: by the files that are named or, if none is, by all of the system's.
pub(super) fn jobs(named_files: &[PathBuf], selection: &Selection) -> Result<Vec<Job>, Failure> {
    let root = Path::new("/");
    let files = match named_files {
        [] => all_files(root),
        named_files => named_files.iter().map(|file| find(file, root)).collect::<Result<_, _>>()?,
    };
    let (users, groups) = (Users::read(), Users::read_groups());
    let machine = Machine {
        specifier: &specifier,
        exists: &|path| fs::symlink_metadata(path).is_ok(),
        has_user: &|name| users.find(name).is_some(),
        has_group: &|name| groups.find(name).is_some(),
    };
    let mut configuration = Configuration::default();
    for file in &files {
        let text = named::read_text(file, named::CONFIGURATION_BYTES)
            .map_err(|error| Failure::new(format!("{}: {error}", file.shown())))?;
        let lines = tmpfiles::parse(&text, &machine)
            .map_err(|malformed| Failure::new(format!("{}:{malformed}", file.shown())))?;
        for line in &lines {
            if let Some(kind) = &line.unknown {
                write_stderr(&format!(
                    "whit: {}:{}: \"{}\" is of a newer systemd than whit knows: {} and all below it is left alone\n",
                    file.shown(),
                    line.number,
                    kind.shown(),
                    line.path.shown()
                ));
            }
        }
        configuration.add(lines);
    }
    for line in configuration.only_protecting() {
        write_stderr(&format!(
            "whit: {} is not cleaned: its user or group is not known\n",
            line.path.shown()
        ));
    }
    let protection = Arc::new(configuration.protection());
    let mut jobs = Vec::new();
    for job in configuration.jobs() {
        let found = match job.is_pattern {
            true => matching_directories(job.path.as_bytes()),
            false => vec![(PathBuf::from(&job.path), None)],
        };
        // What is not there needs no cleaning; what is a symlink is not followed.
        let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        jobs.extend(found.into_iter().filter(|(path, _)| is_directory(path)).map(
            |(directory, beginning)| Job {
                selection: Selection {
                    older: Some(Nanos(job.age.span_ns)),
                    by: by(job.age.file_times),
                    directory_by: Some(by(job.age.directory_times)),
                    kinds: KINDS.to_vec(),
                    protection: Some(Arc::clone(&protection)),
                    keeps_first_level: job.age.keeps_first_level,
                    most_levels: Some(MAX_LEVELS),
                    ..selection.clone()
                },
                directory,
                beginning,
                is_recursive: true,
            },
        ));
    }
    Ok(jobs)
}

fn by(times: Times) -> AgeBy {
    let Times { accessed, born, changed, modified } = times;
    AgeBy { accessed, born, changed, modified }
}

/// All configurations below a root, in the order of their names. A file hides those of its name in less important directories, and an
/// empty one or a symlink to /dev/null thereby switches them off.
fn all_files(root: &Path) -> Vec<PathBuf> {
    let mut files: BTreeMap<OsString, PathBuf> = BTreeMap::new();
    for directory in DIRECTORIES.map(|directory| root.join(directory)) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_configuration = name.as_bytes().ends_with(b".conf") && !name.as_bytes().starts_with(b".");
            if is_configuration {
                files.entry(name).or_insert_with(|| entry.path());
            }
        }
    }
    files.into_values().filter(|path| !is_switched_off(path)).collect()
}

fn is_switched_off(path: &Path) -> bool {
    match fs::metadata(path) {
        // A symlink that leads nowhere hides the others all the same.
        Err(_) => true,
        Ok(found) => {
            found.is_file() && found.len() == 0
                || fs::canonicalize(path).is_ok_and(|to| to == Path::new("/dev/null"))
        }
    }
}

/// A path as it is; a name alone is looked for where configurations are.
fn find(file: &Path, root: &Path) -> Result<PathBuf, Failure> {
    if file.as_os_str().as_bytes().contains(&b'/') {
        return Ok(file.to_owned());
    }
    let found =
        DIRECTORIES.iter().map(|directory| root.join(directory).join(file)).find(|path| path.exists());
    found.ok_or_else(|| {
        let name = file.shown();
        Failure::new(format!("{name}: there is none in /etc/tmpfiles.d, /run/tmpfiles.d or /usr/lib/tmpfiles.d; write ./{name} for one here"))
    })
}

/// Returns the text that a specifier stands for.
fn specifier(letter: char) -> Option<String> {
    let line = |path: &str| {
        let text = named::read_text(Path::new(path), named::CONFIGURATION_BYTES).ok()?;
        Some(text.trim().to_owned())
    };
    let temporary = |default: &str| {
        let named = ["TMPDIR", "TEMP", "TMP"].into_iter().filter_map(std::env::var_os);
        let found = named.map(PathBuf::from).find(|path| path.is_absolute() && path.is_dir());
        found.map_or(default.to_owned(), |path| path.to_string_lossy().into_owned())
    };
    let release = |key: &str| {
        let text = line("/etc/os-release").or_else(|| line("/usr/lib/os-release")).unwrap_or_default();
        let value =
            text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned));
        value.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
    };
    let host = || line("/proc/sys/kernel/hostname");
    match letter {
        't' => Some("/run".to_owned()),
        'S' => Some("/var/lib".to_owned()),
        'C' => Some("/var/cache".to_owned()),
        'L' => Some("/var/log".to_owned()),
        'T' => Some(temporary("/tmp")),
        'V' => Some(temporary("/var/tmp")),
        'h' => std::env::var("HOME").ok().or_else(|| Some("/root".to_owned())),
        'u' | 'g' => Some("root".to_owned()),
        'U' | 'G' => Some("0".to_owned()),
        'H' => host(),
        'l' => Some(host()?.split('.').next()?.to_owned()),
        'b' => Some(line("/proc/sys/kernel/random/boot_id")?.replace('-', "")),
        'm' => line("/etc/machine-id"),
        'v' => line("/proc/sys/kernel/osrelease"),
        'a' => Some(std::env::consts::ARCH.replace("x86_64", "x86-64").replace("aarch64", "arm64")),
        'o' => Some(release("ID")),
        'w' => Some(release("VERSION_ID")),
        'B' => Some(release("BUILD_ID")),
        'W' => Some(release("VARIANT_ID")),
        _ => None,
    }
}

/// The directories that a pattern of a whole path stands for, as glob(3) finds them, and for each where the pattern begins: from
/// there on it is opened part by part, so that no symlink leads elsewhere.
fn matching_directories(pattern: &[u8]) -> Vec<(PathBuf, Option<PathBuf>)> {
    let mut all: BTreeMap<PathBuf, Option<PathBuf>> = BTreeMap::new();
    for pattern in fnmatch::alternatives(pattern, MAX_ALTERNATIVES) {
        let parts: Vec<&[u8]> = pattern.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        let literal = parts.iter().take_while(|part| !fnmatch::is_pattern(part)).count();
        let plain = |part: &[u8]| OsString::from_vec(fnmatch::unquoted(part));
        let mut beginning = PathBuf::from("/");
        beginning.extend(parts[..literal].iter().map(|part| plain(part)));
        let mut found = vec![beginning.clone()];
        for part in &parts[literal..] {
            found = match fnmatch::is_pattern(part) {
                false => found.into_iter().map(|path| path.join(plain(part))).collect(),
                true => found.iter().flat_map(|directory| matching(directory, part)).collect(),
            };
        }
        all.extend(found.into_iter().map(|path| (path, Some(beginning.clone()))));
    }
    all.into_iter().collect()
}

/// The directories in a directory, itself not a symlink, whose names match. Who may not list it has nothing to clean there.
fn matching(directory: &Path, pattern: &[u8]) -> Vec<PathBuf> {
    if fs::symlink_metadata(directory).is_ok_and(|found| found.is_symlink()) {
        return Vec::new();
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_match = |name: &OsStr| fnmatch::matches_name(pattern, name.as_bytes());
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_match(&entry.file_name()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_hide_those_of_their_name() {
        let root = std::env::temp_dir().join(format!("whit-tmpfiles-{}", std::process::id()));
        for directory in DIRECTORIES {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let write = |path: &str| fs::write(root.join(path), "d /x\n").unwrap();
        for path in ["usr/lib/tmpfiles.d/10.conf", "usr/lib/tmpfiles.d/9.conf", "usr/lib/tmpfiles.d/b.conf"] {
            write(path);
        }
        write("usr/lib/tmpfiles.d/off.conf");
        write("usr/lib/tmpfiles.d/empty.conf");
        write("usr/lib/tmpfiles.d/.hidden.conf");
        write("usr/lib/tmpfiles.d/notes.txt");
        write("run/tmpfiles.d/b.conf");
        write("etc/tmpfiles.d/9.conf");
        symlink("/dev/null", root.join("etc/tmpfiles.d/off.conf")).unwrap();
        fs::write(root.join("run/tmpfiles.d/empty.conf"), "").unwrap();
        let found: Vec<_> =
            all_files(&root).iter().map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect();
        let expected = ["usr/lib/tmpfiles.d/10.conf", "etc/tmpfiles.d/9.conf", "run/tmpfiles.d/b.conf"];
        assert_eq!(found, expected.map(PathBuf::from));
        assert_eq!(find(Path::new("10.conf"), &root).unwrap(), root.join(expected[0]));
        assert_eq!(find(Path::new("./10.conf"), &root).unwrap(), Path::new("./10.conf"));
        assert!(find(Path::new("none.conf"), &root).is_err());
        fs::remove_dir_all(&root).unwrap();
    }
}
