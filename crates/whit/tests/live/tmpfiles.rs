//! `age --tmpfiles` against systemd-tmpfiles: the same trees, cleaned for real by both.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use libtest_mimic::Failed;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::machine::{Scratch, WHIT, shell};
use super::trials::{Need, Trial, exact};

const TREES: &str = include_str!("tmpfiles-trees.txt");
/// Longer than every age in the configurations: times of status and birth cannot be set, they have to pass.
const SETTLED: Duration = Duration::from_secs(41);
/// Each tree is dated for a run of its own, one after the other, so that a slow machine makes none of them old: so far apart at least, and
/// three times as far as a run takes.
const SPACING: Duration = Duration::from_millis(200);
/// What is young becomes old five seconds after the run that a tree is dated for: whatever a run deletes after this time proves nothing.
const LATEST: Duration = Duration::from_secs(4);

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [Need::Root, Need::Program("systemd-tmpfiles")];
    vec![
        exact("age_deletes_what_systemd_tmpfiles_deletes", &needs, same_files),
        exact("the_systems_configurations_are_read_without_being_named", &needs, of_the_system),
    ]
}

/// One of the trees, as it is written down.
struct Tree {
    name: &'static str,
    configuration: Vec<&'static str>,
    entries: Vec<Vec<&'static str>>,
    /// whit refuses the configuration.
    stops: bool,
    /// whit may keep some of what systemd-tmpfiles deletes.
    keeps_more: bool,
}

fn trees() -> Vec<Tree> {
    let mut trees: Vec<Tree> = Vec::new();
    for line in TREES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("tree ") {
            let (configuration, entries) = (Vec::new(), Vec::new());
            trees.push(Tree { name, configuration, entries, stops: false, keeps_more: false });
            continue;
        }
        let tree = trees.last_mut().unwrap();
        match line.strip_prefix("conf ") {
            Some(configuration) => tree.configuration.push(configuration),
            None if line == "stops" => tree.stops = true,
            None if line == "keeps more" => tree.keeps_more = true,
            None => tree.entries.push(line.split(' ').filter(|word| !word.is_empty()).collect()),
        }
    }
    trees
}

impl Tree {
    /// Makes it in a directory, dated for a run at a certain time.
    fn make(&self, root: &Path, run: SystemTime) {
        for entry in &self.entries {
            let path = root.join(entry[1]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match entry[0] {
                "file" => fs::write(&path, "x").unwrap(),
                "symlink" => symlink(entry[2].replace('@', root.to_str().unwrap()), &path).unwrap(),
                "dir" => {
                    fs::create_dir_all(&path).unwrap();
                    if let Some(mode) = entry.get(3).filter(|word| !word.contains('=')) {
                        let mode = u32::from_str_radix(mode, 8).unwrap();
                        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                    }
                }
                kind => panic!("{}: {kind} is not known", self.name),
            }
        }
        // What no line names is very old, and what is in a directory changes it: the deepest are dated first.
        let named: BTreeSet<PathBuf> = self.entries.iter().map(|entry| root.join(entry[1])).collect();
        for path in paths(root).iter().rev().map(|path| root.join(path)).filter(|path| !named.contains(path))
        {
            date(&path, run - Duration::from_secs(1_000_000), run - Duration::from_secs(1_000_000));
        }
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry[1].matches('/').count()));
        for entry in entries {
            let age = entry[if entry[0] == "symlink" { 3 } else { 2 }];
            let of = |letter: &str| entry.iter().find_map(|word| word.strip_prefix(letter)).unwrap_or(age);
            date(&root.join(entry[1]), before(run, of("a=")), before(run, of("m=")));
        }
        let text = self.configuration.join("\n").replace('@', root.to_str().unwrap());
        fs::write(root.with_extension("conf"), format!("{text}\n")).unwrap();
    }

    /// What has to happen just before the run.
    fn touch(&self, root: &Path) {
        for entry in self.entries.iter().filter(|entry| entry.contains(&"c=0")) {
            let path = root.join(entry[1]);
            let mode = fs::metadata(&path).unwrap().mode();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Seconds before a time; after it, if negative.
fn before(run: SystemTime, seconds: &str) -> SystemTime {
    let seconds: f64 = seconds.parse().unwrap();
    let span = Duration::from_secs_f64(seconds.abs());
    if seconds < 0.0 { run + span } else { run - span }
}

fn date(path: &Path, accessed: SystemTime, modified: SystemTime) {
    // Some trees have dates before 1970.
    let of = |time: SystemTime| match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: since.subsec_nanos().into() },
        Err(error) => Timespec { tv_sec: -error.duration().as_secs().cast_signed(), tv_nsec: 0 },
    };
    let times = Timestamps { last_access: of(accessed), last_modification: of(modified) };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// All paths below a directory, which a look makes no younger.
fn paths(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        let handle = File::open(&directory).unwrap();
        let times = handle.metadata().unwrap();
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            found.insert(entry.path().strip_prefix(root).unwrap().to_owned());
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
        }
        let _ = handle.set_times(FileTimes::new().set_accessed(times.accessed().unwrap()));
    }
    found
}

fn same_files() -> Result<(), Failed> {
    let scratch = Scratch::new("tmpfiles-peer");
    let trees = trees();
    assert!(trees.len() >= 40);
    let begun = Instant::now();
    let conf = scratch.0.join("empty.conf");
    fs::write(&conf, "")?;
    let conf = conf.display();
    shell(&format!("systemd-tmpfiles --clean {conf}; {WHIT} age --tmpfiles {conf} --delete"));
    let spacing = SPACING.max(begun.elapsed() * 3);
    let first_run = SystemTime::now() + SETTLED;
    let run_of = |place: usize| first_run + spacing * place as u32;
    let root_of = |side: &str, tree: &Tree| scratch.0.join(side).join(tree.name).join("t");
    for (place, tree) in trees.iter().enumerate() {
        for side in ["systemd", "whit"] {
            tree.make(&root_of(side, tree), run_of(place));
        }
    }
    let mut wrong = Vec::new();
    let (mut deleted_by_systemd, mut late) = (0, 0);
    for (place, tree) in trees.iter().enumerate() {
        std::thread::sleep(run_of(place).duration_since(SystemTime::now()).unwrap_or_default());
        let clean = |side: &str, words: &[&str], last: &[&str]| -> (BTreeSet<PathBuf>, Output) {
            let root = root_of(side, tree);
            tree.touch(&root);
            let before = paths(&root);
            let output = Command::new(words[0])
                .args(&words[1..])
                .arg(root.with_extension("conf"))
                .args(last)
                .env("XDG_STATE_HOME", scratch.0.join("state"))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            (before.difference(&paths(&root)).cloned().collect(), output)
        };
        let (expected, _) = clean("systemd", &["systemd-tmpfiles", "--clean"], &[]);
        let (deleted, output) = clean("whit", &[WHIT, "age", "--tmpfiles"], &["--delete"]);
        if run_of(place).elapsed().is_ok_and(|passed| passed > LATEST) {
            late += 1;
            continue;
        }
        deleted_by_systemd += expected.len();
        let is_same = match tree {
            Tree { stops: true, .. } => deleted.is_empty() && output.status.code() == Some(1),
            Tree { keeps_more: true, .. } => deleted.is_subset(&expected),
            _ => deleted == expected,
        };
        if !is_same {
            wrong.push(format!(
                "{}: systemd-tmpfiles deletes {expected:?}, whit {deleted:?}: {output:?}",
                tree.name
            ));
        }
    }
    println!("{late} of {} trees were cleaned too late to compare", trees.len());
    assert!(late < trees.len() / 4, "{late} trees were cleaned too late");
    assert!(deleted_by_systemd > 100, "systemd-tmpfiles deleted {deleted_by_systemd} files");
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// In a namespace of mounts where the system has one file, a hidden one and a directory of its own.
fn of_the_system() -> Result<(), Failed> {
    let scratch = Scratch::new("tmpfiles-system");
    let root = scratch.0.display();
    let script = format!(
        "mount -t tmpfs none /etc/tmpfiles.d && mount -t tmpfs none /usr/lib/tmpfiles.d && \
         mkdir -p {root}/a {root}/b && touch -d '30 days ago' {root}/a/old {root}/b/old && \
         echo 'd {root}/a - - - m:7d' > /usr/lib/tmpfiles.d/a.conf && \
         echo 'd {root}/b - - - m:7d' > /usr/lib/tmpfiles.d/b.conf && ln -s /dev/null /etc/tmpfiles.d/b.conf && \
         {WHIT} age --tmpfiles --delete"
    );
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).stdin(Stdio::null()).output()?;
    let told = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && told.contains("deleted 1 file"), "{told}");
    assert!(!scratch.0.join("a/old").exists() && scratch.0.join("b/old").exists(), "{told}");
    Ok(())
}
