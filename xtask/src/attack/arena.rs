//! Where an attack takes place: a directory of its own, files of known ages, and runs of whit.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

pub(super) const DAY: Duration = Duration::from_secs(86_400);
/// How the reason begins for which an attack cannot be made here.
pub(super) const SKIPPED: &str = "skipped: ";

static NEXT: AtomicU64 = AtomicU64::new(0);

pub(super) struct Arena {
    program: String,
    place: PathBuf,
}

/// Builds whit; the path of the program.
pub(super) fn build() -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--workspace", "--bins", "--test", "record_layout"])
        .status();
    if !built.map_err(text)?.success() {
        return Err("whit could not be built".to_owned());
    }
    let own = std::env::current_exe().map_err(text)?;
    Ok(own.with_file_name("whit").display().to_string())
}

pub(super) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Arena {
    pub(super) fn new(program: &str) -> Result<Self, String> {
        let target = std::env::current_exe().map_err(text)?.with_file_name("attack");
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = target.join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(place.join("tree")).map_err(text)?;
        Ok(Self { program: program.to_owned(), place })
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.place.join("tree")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.place.join("outside")
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// Starts a deletion of what is older than a week.
    pub(super) fn start(&self, words: &[&str]) -> Result<Child, String> {
        Command::new(&self.program)
            .args(["age", "--delete"])
            .args(words)
            .arg(self.tree())
            .env("XDG_STATE_HOME", self.place.join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(text)
    }

    /// Runs such a deletion to its end.
    pub(super) fn delete(&self, words: &[&str]) -> Result<Output, String> {
        let output = self.start(words)?.wait_with_output().map_err(text)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        match errors.contains("unlinked by name") {
            true => Err(format!("strict deletion gave up being strict: {errors}")),
            false => Ok(output),
        }
    }

    /// Starts one and kills it after a while.
    pub(super) fn delete_and_kill(&self, words: &[&str], after: Duration) -> Result<(), String> {
        let mut run = self.start(words)?;
        std::thread::sleep(after);
        // It may have ended by itself.
        let _ = run.kill();
        run.wait().map(|_| ()).map_err(text)
    }

    /// The names of files below a directory: those that a person finds, and those in private directories.
    pub(super) fn found(&self, directory: &Path) -> Found {
        let mut found = Found::default();
        collect(directory, false, &mut found);
        found
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.place);
    }
}

#[derive(Debug, Default)]
pub(super) struct Found {
    /// The contents, by which files are known whatever they are called.
    pub(super) seen: BTreeSet<String>,
    pub(super) hidden: BTreeSet<String>,
}

fn collect(directory: &Path, is_hidden: bool, found: &mut Found) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_private = entry.file_name().to_string_lossy().starts_with(".whit-age-");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, is_hidden || is_private, found),
            Ok(kind) if kind.is_file() => {
                let content = fs::read_to_string(&path).unwrap_or_default();
                if is_hidden { &mut found.hidden } else { &mut found.seen }.insert(content);
            }
            _ => {}
        }
    }
}

/// Makes a file with its age and, as its content, a name that it keeps.
pub(super) fn make(path: &Path, content: &str, age: Duration) -> Result<(), String> {
    fs::write(path, content).map_err(text)?;
    set_age(path, age)
}

pub(super) fn set_age(path: &Path, age: Duration) -> Result<(), String> {
    let time = SystemTime::now() - age;
    let file = File::open(path).map_err(text)?;
    file.set_times(FileTimes::new().set_modified(time).set_accessed(time)).map_err(text)
}

/// Numbers that differ from run to run (xorshift).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(now.as_nanos() as u64 | 1)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    pub(super) fn micros(&mut self, most: u64) -> Duration {
        Duration::from_micros(self.below(most))
    }
}
