//! Files older than a day in a directory, by several scanners.

use std::cell::RefCell;
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use super::measurement::{Measurement, Unit};
use super::options::BenchOptions;
use super::programs::{is_there, own_program, printed, run, wall};
use command::paths::identity_of;
use probe::random;

/// A directory that is made when it is first needed and removed after its last use. It lies in one that other users can neither
/// enter nor have made before.
#[derive(Clone)]
pub(super) struct Scratch(Rc<Made>);

type Fill = Box<dyn Fn(&Path) -> io::Result<()>>;

struct Made {
    path: PathBuf,
    fill: Fill,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// Device and inode of the private directory, once it is made.
    made: Option<(u64, u64)>,
    filled: Option<Result<(), String>>,
}

impl Scratch {
    pub(super) fn new(parent: &Path, name: &str, fill: impl Fn(&Path) -> io::Result<()> + 'static) -> Self {
        let path = parent.join(format!("whit-bench-{name}-{}", random::hex()));
        Self(Rc::new(Made { path, fill: Box::new(fill), state: RefCell::default() }))
    }

    pub(super) fn path(&self) -> Result<PathBuf, String> {
        let made = &self.0;
        let mut state = made.state.borrow_mut();
        let State { made: identity, filled } = &mut *state;
        let files = made.path.join("files");
        let done = filled.get_or_insert_with(|| {
            let mut make = || {
                fs::DirBuilder::new().mode(0o700).create(&made.path)?;
                *identity = Some(identity_of(&made.path)?);
                fs::create_dir(&files)?;
                (made.fill)(&files)
            };
            make().map_err(|error: io::Error| format!("{}: {error}", made.path.display()))
        });
        done.clone().map(|()| files)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Only what was made here, and only while its name still means it.
        let made = self.state.borrow().made;
        if made.is_some() && identity_of(&self.path).ok() == made {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Two days old at most: half are older than one.
fn make_files(directory: &Path, count: u64) -> io::Result<()> {
    let now = SystemTime::now();
    for file in 0..count {
        let time = now - Duration::from_millis(file * 172_800_000 / count);
        File::create(directory.join(format!("{file:08x}.cache")))?
            .set_times(FileTimes::new().set_modified(time))?;
    }
    Ok(())
}

pub(super) fn measurements(options: &BenchOptions) -> Vec<Measurement> {
    let few = Scratch::new(&options.directory, "10k", |path| make_files(path, 10_000));
    let many = Scratch::new(&options.directory, "1M", |path| make_files(path, 1_000_000));
    vec![
        scan("scan-10k", "Files older than a day among 10,000", few.clone()),
        scan("scan-1M", "Files older than a day among 1,000,000", many).at_most(2),
        calls(few),
    ]
}

const SCANDIR: &str = include_str!("peers/scandir.py");

const PATHLIB: &str = include_str!("peers/pathlib_scan.py");

/// One way to scan.
struct Scanner {
    name: &'static str,
    needs: &'static [&'static str],
    /// In which DIR is the directory.
    words: Vec<String>,
    /// It says itself how long it took: an interpreter's start is no scan.
    prints_time: bool,
}

impl Scanner {
    fn new(name: &'static str, needs: &'static [&'static str], words: &[&str]) -> Self {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Self { name, needs, prints_time: words[0] == "python3", words }
    }

    fn words<'a>(&'a self, directory: &'a str) -> Vec<&'a str> {
        self.words.iter().map(|word| if word == "DIR" { directory } else { word }).collect()
    }
}

fn scanners() -> Vec<Scanner> {
    let own = own_program();
    // Debian has another fd already.
    let (fd, fd_needs): (_, &[_]) =
        if is_there("fdfind") { ("fdfind", &["fdfind"]) } else { ("fd", &["fd"]) };
    vec![
        Scanner::new("whit age", &[], &[&own, "age", "--list", "--older", "1d", "DIR"]),
        Scanner::new(
            "whit age --workers 1",
            &[],
            &[&own, "age", "--list", "--workers", "1", "--older", "1d", "DIR"],
        ),
        Scanner::new("fd", fd_needs, &[fd, "-t", "f", "--changed-before", "1d", ".", "DIR"]),
        Scanner::new("find", &["find"], &["find", "DIR", "-type", "f", "-mmin", "+1440"]),
        Scanner::new("Python, scandir", &["python3"], &["python3", "-c", SCANDIR, "DIR"]),
        Scanner::new("Python, pathlib", &["python3"], &["python3", "-c", PATHLIB, "DIR"]),
    ]
}

fn scan(name: &'static str, title: &'static str, scratch: Scratch) -> Measurement {
    let how = "Time from the start of the program to its end, of Python of the scan alone, for files in one directory whose \
               inodes are in memory.";
    scanners().into_iter().fold(
        Measurement::new(name, title, Unit::Wall("a scan"), how),
        |measurement, scanner| {
            let scratch = scratch.clone();
            measurement.side(scanner.name, scanner.needs, move || {
                let path = scratch.path()?.display().to_string();
                let words = scanner.words(&path);
                if scanner.prints_time { printed(&words) } else { wall(&words) }
            })
        },
    )
}

fn calls(scratch: Scratch) -> Measurement {
    let how = "System calls over 10,000 files less those over none, by strace -f -c, divided by the files.";
    scanners().into_iter().fold(
        Measurement::new("scan-calls", "System calls a file", Unit::Count("calls a file"), how).at_most(1),
        |measurement, scanner| {
            let scratch = scratch.clone();
            let needs = [scanner.needs, &["strace"]].concat();
            measurement.side(scanner.name, &needs, move || {
                let path = scratch.path()?.display().to_string();
                let empty = format!("{path}.empty");
                fs::create_dir(&empty).map_err(|error| format!("{empty}: {error}"))?;
                let counts = (calls_over(&scanner, &path), calls_over(&scanner, &empty));
                let _ = fs::remove_dir(&empty);
                Ok((counts.0? - counts.1?) / 10_000.0)
            })
        },
    )
}

fn calls_over(scanner: &Scanner, directory: &str) -> Result<f64, String> {
    let log = format!("{directory}.strace");
    let ran = run(&[&["strace", "-f", "-c", "-o", &log], &scanner.words(directory)[..]].concat());
    let text = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    ran?;
    let total = text.lines().find(|line| line.ends_with("total"));
    let total = total.and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    total.ok_or_else(|| "strace printed no total".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_is_removed() {
        let parent = std::env::temp_dir().join(format!("whit-scratch-{}", random::hex()));
        fs::create_dir(&parent).unwrap();
        let taken = Scratch::new(&parent, "x", |_| Ok(()));
        let path = taken.0.path.clone();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("another's"), "").unwrap();
        assert!(taken.path().is_err());
        drop(taken);
        assert!(path.join("another's").exists());
        // Exchanged after it was made.
        let made = Scratch::new(&parent, "y", |path| fs::write(path.join("own"), ""));
        assert!(made.path().unwrap().join("own").exists());
        let own = made.0.path.clone();
        fs::rename(&own, parent.join("aside")).unwrap();
        fs::rename(&path, &own).unwrap();
        drop(made);
        assert!(own.join("another's").exists());
        fs::remove_dir_all(parent).unwrap();
    }
}
