//! `whit age`: figures held against find(1), deletion under attack.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Scratch, WHIT, documents, shell, wait_for, whit};
use super::trials::{Need, Trial, exact};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("ages_agree_with_find", &[], ages),
        exact("a_scan_takes_one_call_a_file", &[Need::Program("strace")], calls),
        exact("what_is_old_goes_and_nothing_else", &[Need::Program("flock")], deletion),
        exact("the_oldest_go_beyond_a_cap", &[], caps),
        exact("what_goes_is_named_and_the_young_are_spared", &[], named_deletion),
        exact("a_configuration_of_tmpfiles_is_obeyed", &[], tmpfiles),
        exact("a_tree_under_attack_loses_nothing_else", &[Need::Root], attack),
    ]
}

pub(crate) fn make(path: &Path, age: Duration) {
    let file = File::create(path).unwrap();
    let time = SystemTime::now() - age;
    file.set_times(FileTimes::new().set_modified(time).set_accessed(time)).unwrap();
}

/// A tree of files with ages up to twenty days and names of all bytes.
fn tree(scratch: &Scratch) {
    for directory in 0..20 {
        let path = scratch.0.join(format!("d{directory}/sub"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..50_u32 {
            let bytes = [1 + (file * 5) as u8 % 46, 0xff, b'\n'];
            let name = [&b"n"[..], &bytes, file.to_string().as_bytes()].concat();
            let place = if file % 2 == 0 { &path } else { path.parent().unwrap() };
            make(&place.join(OsString::from_vec(name)), DAY * (file % 20) + DAY / 2);
        }
        symlink("/etc/passwd", path.join("link")).unwrap();
    }
}

pub(crate) fn find(directory: &Path, words: &str) -> BTreeSet<Vec<u8>> {
    let output = Command::new("find").arg(directory).args(words.split(' ')).arg("-print0").output().unwrap();
    assert!(output.status.success());
    paths(&output.stdout)
}

fn paths(bytes: &[u8]) -> BTreeSet<Vec<u8>> {
    bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

fn list(directory: &Path, words: &[&str]) -> BTreeSet<Vec<u8>> {
    let output = Command::new(WHIT).args(["age", "-0"]).args(words).arg(directory).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    paths(&output.stdout)
}

fn report(directory: &Path, words: &[&str]) -> Value {
    dry_run(directory, words).1
}

/// The same, and before it what would go.
fn dry_run(directory: &Path, words: &[&str]) -> (BTreeSet<Vec<u8>>, Value) {
    let path = directory.to_str().unwrap();
    let mut told = documents(&whit(&[&["age", "--json"], words, &[path]].concat()));
    let report = told.pop().unwrap();
    let path = |told: &Value| told["path"].as_str().unwrap().as_bytes().to_vec();
    (told.iter().map(path).collect(), report)
}

fn ages() -> Result<(), Failed> {
    let scratch = Scratch::new("ages");
    tree(&scratch);
    let directory = &scratch.0;
    assert_eq!(list(directory, &["-r"]), find(directory, "-type f"));
    assert_eq!(list(directory, &["-r", "--older", "7d"]), find(directory, "-type f -mtime +6"));
    assert_eq!(list(directory, &["-r", "--type", "l"]), find(directory, "-type l"));
    assert_eq!(list(&directory.join("d3"), &[]), find(&directory.join("d3"), "-maxdepth 1 -type f"));
    assert_eq!(list(directory, &["-r", "--exclude", "d1*"]), find(directory, "-type f -not -path */d1*"));
    let told = report(directory, &["-r", "--by-directory"]);
    assert_eq!(told["files"], 1000);
    assert_eq!(told["directories"].as_array().map(Vec::len), Some(20));
    let in_ranges: u64 =
        told["ages"].as_array().unwrap().iter().map(|range| range["files"].as_u64().unwrap()).sum();
    assert_eq!(in_ranges, 1000);
    let age_s = |name: &str| told[name].as_u64().unwrap() as f64 / 1e9;
    assert!((age_s("oldest_ns") - 19.5 * 86_400.0).abs() < 600.0, "{told}");
    // As a plugin.
    let verdict = |words: &str| shell(&format!("{WHIT} age -r {words} {}", directory.display()));
    for (words, code) in [
        ("--warn age=30d", 0),
        ("--warn age=7d --crit age=30d", 1),
        ("--crit files=999", 2),
        ("--warn files=5 --crit bytes=1G", 1),
    ] {
        let output = verdict(words);
        assert_eq!(output.status.code(), Some(code), "{words}: {output:?}");
        assert!(String::from_utf8(output.stdout)?.contains("files=1000;"));
    }
    assert_eq!(shell(&format!("{WHIT} age /nonexistent")).status.code(), Some(1));
    // Which limit, which file; and what is wrong with the command line, where a monitoring system looks.
    let line = String::from_utf8(verdict("--crit files=999").stdout)?;
    assert!(line.starts_with("CRITICAL - more files than 999: 1000 files"), "{line}");
    assert!(line.contains("the oldest 19d12h (/"), "{line}");
    let wrong = verdict("--warn age=7");
    assert_eq!(wrong.status.code(), Some(3));
    assert!(String::from_utf8(wrong.stdout)?.starts_with("UNKNOWN - "));
    // A verdict that nobody reads is the same verdict.
    let unread = Command::new("bash")
        .args([
            "-c",
            &format!(
                "{WHIT} age -r --crit files=999 {} | true; exit ${{PIPESTATUS[0]}}",
                directory.display()
            ),
        ])
        .status()?;
    assert_eq!(unread.code(), Some(2));
    Ok(())
}

fn named_deletion() -> Result<(), Failed> {
    let scratch = Scratch::new("named-deletion");
    for days in [1, 5, 9, 20] {
        let path = scratch.0.join(format!("f{days}"));
        make(&path, DAY * days);
        fs::OpenOptions::new().append(true).open(&path)?.set_len(8192)?;
        make(&path, DAY * days);
    }
    let directory = scratch.0.to_str().ok_or("the path")?;
    let told = |words: &[&str]| whit(&[&["age", directory, "--delete"], words].concat());
    assert_eq!(told(&["--older", "10d", "-q", "--list"]), format!("{directory}/f20\n"));
    // All are too many, and the young stay all the same.
    let gone = paths(told(&["--keep-files", "0", "--keep-newer", "4d", "-0"]).as_bytes());
    let named: Vec<_> = gone.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    assert_eq!(named, ["f5", "f9"].map(|name| format!("{directory}/{name}")));
    assert_eq!(fs::read_dir(&scratch.0)?.count(), 1);
    for (words, refusal) in [
        (&["--delete", "--number"][..], "--delete cannot be used with --number"),
        (&["--list", "--long"], "--list and --long are two forms"),
    ] {
        let output = Command::new(WHIT).args(["age", directory, "--older", "1d"]).args(words).output()?;
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr)?.contains(refusal), "{words:?}");
    }
    Ok(())
}

fn calls() -> Result<(), Failed> {
    let scratch = Scratch::new("calls");
    for file in 0..20_000 {
        File::create(scratch.0.join(format!("{file:08}")))?;
    }
    for (words, most) in [("", 1.01), ("--older 1d", 1.01), ("--number", 0.01), ("--list --match x*", 0.01)] {
        let log = scratch.0.with_extension("strace");
        // What every process begins and ends with is taken away.
        let count = |directory: &Path| -> u64 {
            // Threads that wait for work yield as often as chance has it.
            let words = format!(
                "strace -f -c -e 'trace=!sched_yield' -o {} {WHIT} age {words} {}",
                log.display(),
                directory.display()
            );
            assert!(shell(&words).status.success());
            let text = fs::read_to_string(&log).unwrap();
            let total = text.lines().find(|line| line.ends_with("total")).unwrap();
            total.split_whitespace().nth(3).unwrap().parse().unwrap()
        };
        let empty = scratch.0.with_extension("empty");
        fs::create_dir_all(&empty)?;
        let calls = (count(&scratch.0) - count(&empty)) as f64 / 20_000.0;
        println!("{calls:.4} system calls a file with \"{words}\"");
        assert!(calls <= most, "{words}");
        fs::remove_file(log)?;
        fs::remove_dir(empty)?;
    }
    Ok(())
}

fn deletion() -> Result<(), Failed> {
    for way in ["strict", "plain"] {
        let scratch = Scratch::new("deletion");
        tree(&scratch);
        let directory = &scratch.0;
        let (sticky, locked) = (directory.join("sticky"), directory.join("locked"));
        make(&sticky, DAY * 30);
        make(&locked, DAY * 30);
        fs::set_permissions(&sticky, fs::Permissions::from_mode(0o1644))?;
        let mut holder = Command::new("flock").arg(&locked).args(["sleep", "30"]).spawn()?;
        wait_for("it is locked", || {
            let status = Command::new("flock").arg("-n").arg(&locked).arg("true").status();
            status.is_ok_and(|status| !status.success())
        });
        let old = find(directory, "-type f -mtime +6 -not -name locked -not -name sticky");
        let all = find(directory, "-type f");
        assert!(old.len() > 200);
        let option = format!("--delete={way}");
        let (would_go, before) = dry_run(directory, &["-r", "--older", "7d", &option, "--dry-run"]);
        assert_eq!(before["deleted"]["files"], old.len());
        // JSON has no bytes that are no text.
        let as_text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned().into_bytes();
        assert_eq!(would_go, old.iter().map(as_text).collect());
        assert_eq!(find(directory, "-type f"), all, "a dry run deletes nothing");
        let told = report(directory, &["-r", "--older", "7d", &option, "--empty"]);
        assert_eq!(told["deleted"]["files"], old.len(), "{told}");
        assert_eq!(
            (&told["kept_sticky_files"], &told["kept_locked_files"]),
            (&1.into(), &1.into()),
            "{told}"
        );
        let left: BTreeSet<_> = all.difference(&old).cloned().collect();
        assert_eq!(find(directory, "-type f"), left);
        assert_eq!(find(directory, "-name .whit-age*").len(), 0, "the private directories went");
        // Links and young directories stay.
        assert_eq!(find(directory, "-type l").len(), 20);
        holder.kill()?;
        holder.wait()?;
    }
    // Old directories go when they are empty, or have become so.
    let scratch = Scratch::new("directories");
    let path = scratch.0.join("a/b/c");
    fs::create_dir_all(&path)?;
    make(&path.join("old"), DAY * 9);
    shell(&format!("touch -d '9 days ago' {0}/a/b/c {0}/a/b {0}/a", scratch.0.display()));
    let told = report(&scratch.0, &["-r", "--older", "7d", "--delete", "--empty"]);
    assert_eq!(told["deleted_directories"], 3, "{told}");
    assert_eq!(fs::read_dir(&scratch.0)?.count(), 0);
    // What cannot be deleted is named, and a command that would delete everything is not carried out.
    let words = format!("{WHIT} age --delete {}", scratch.0.display());
    assert_eq!(shell(&words).status.code(), Some(2));
    Ok(())
}

fn caps() -> Result<(), Failed> {
    let scratch = Scratch::new("caps");
    for file in 0..200 {
        let path = scratch.0.join(file.to_string());
        fs::write(&path, [7; 8192])?;
        let time = SystemTime::now() - DAY / 24 * file;
        File::options().write(true).open(&path)?.set_times(FileTimes::new().set_modified(time))?;
    }
    let left = || -> BTreeSet<u32> {
        let names = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_str().unwrap().parse().unwrap()).collect()
    };
    let told = report(&scratch.0, &["--delete", "--keep-files", "150"]);
    assert_eq!(told["deleted"]["files"], 50, "{told}");
    assert_eq!(left(), (0..150).collect());
    report(&scratch.0, &["--delete", "--keep-size", "800K"]);
    assert_eq!(left(), (0..100).collect());
    report(&scratch.0, &["--delete", "--keep-size", "100G", "--older", "80h", "--rate", "100"]);
    assert_eq!(left(), (0..80).collect());
    // Many of one age: however many threads, no more go than have to.
    let scratch = Scratch::new("caps-of-one-age");
    (0..5_000).for_each(|file| make(&scratch.0.join(file.to_string()), DAY));
    shell(&format!("find {} -type f -exec touch -d @1700000000 {{}} +", scratch.0.display()));
    for keep in [4_000, 2_999, 17] {
        let told =
            report(&scratch.0, &["--delete=plain", "--workers", "8", "--keep-files", &keep.to_string()]);
        assert_eq!(fs::read_dir(&scratch.0)?.count(), keep, "{told}");
    }
    Ok(())
}

fn tmpfiles() -> Result<(), Failed> {
    let scratch = Scratch::new("tmpfiles");
    let root = scratch.0.display();
    for path in ["tmp/old", "tmp/young", "tmp/kept/old", "tmp/own/old", "cache/a/old", "cache/b/old"] {
        let path = scratch.0.join(path);
        fs::create_dir_all(path.parent().unwrap())?;
        make(&path, if path.ends_with("young") { DAY } else { DAY * 20 });
    }
    let text = format!(
        "q {root}/tmp 1777 root root m:10d\nx {root}/tmp/kept\nd {root}/tmp/own\ne {root}/cache/* - - - m:1w\n"
    );
    let file = scratch.0.join("whit.conf");
    fs::write(&file, text)?;
    whit(&["age", "--tmpfiles", file.to_str().unwrap(), "--delete"]);
    let left: Vec<String> = find(&scratch.0, "-type f -name [oy]*")
        .into_iter()
        .map(|path| String::from_utf8_lossy(&path[scratch.0.as_os_str().len() + 1..]).into_owned())
        .collect();
    assert_eq!(left, ["tmp/kept/old", "tmp/own/old", "tmp/young"]);
    fs::write(&file, "q /tmp\nd /x - - - 5parsecs\n")?;
    let output = shell(&format!("{WHIT} age --tmpfiles {} --delete", file.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr)?.contains("whit.conf:2:12: \"5parsecs\" is not an age"));
    Ok(())
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Ten thousand times somebody exchanges what lies in the tree, while runs of whit delete the old from it.
fn attack() -> Result<(), Failed> {
    const ROUNDS: usize = 4_000;
    let scratch = Scratch::new("attack");
    let (tree, outside) = (scratch.0.join("tree"), scratch.0.join("outside"));
    fs::create_dir_all(&tree)?;
    fs::create_dir_all(&outside)?;
    // All of them old: only where they lie protects them.
    for canary in 0..50 {
        make(&outside.join(format!("canary{canary}")), DAY * 30);
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| {
            // Whatever becomes of it, the others must not wait.
            let _end = OnDrop(|| is_over.store(true, Ordering::Relaxed));
            for round in 0..ROUNDS {
                let directory = tree.join(format!("d{}", round % 7));
                match round % 4 {
                    // Old files, which are what it comes for.
                    0 => {
                        let _ = fs::remove_file(&directory);
                        let _ = fs::create_dir(&directory);
                        for file in 0..8 {
                            let _ = File::create(directory.join(format!("f{file}"))).map(|file| {
                                let time = SystemTime::now() - DAY * 30;
                                file.set_times(FileTimes::new().set_modified(time))
                            });
                        }
                    }
                    // A symlink to the outside in the place of a directory.
                    1 => {
                        let aside = tree.join(format!("aside{round}"));
                        let _ = fs::rename(&directory, &aside);
                        let _ = symlink(&outside, &directory);
                    }
                    // The outside mounted on a directory.
                    2 if round % 100 == 2 => {
                        let point = tree.join("point");
                        let _ = fs::create_dir(&point);
                        let words = format!("mount --bind {} {}", outside.display(), point.display());
                        assert!(shell(&words).status.success());
                        std::thread::sleep(Duration::from_millis(5));
                        assert!(shell(&format!("umount -l {}", point.display())).status.success());
                    }
                    _ => {
                        let _ = fs::rename(&directory, tree.join("moved"));
                        let _ = fs::rename(tree.join("moved"), &directory);
                    }
                }
            }
        });
        let exchanger = scope.spawn(|| exchange(&tree, ROUNDS));
        let mut deleted = 0;
        while !(is_over.load(Ordering::Relaxed) && exchanger.is_finished()) {
            // What fails fails because it is being exchanged; what counts is what is left.
            let words = ["age", "-r", "--older", "7d", "--delete", "--empty", "--json"];
            let output = Command::new(WHIT).args(words).arg(&tree).output().unwrap();
            let told = documents(std::str::from_utf8(&output.stdout).unwrap());
            deleted += told[0]["deleted"]["files"].as_u64().unwrap();
        }
        println!("{ROUNDS} rounds, {deleted} deleted");
        assert!(deleted > 100, "it had nothing to do");
        attacker.join().unwrap();
        exchanger.join().unwrap();
    });
    for canary in 0..50 {
        assert!(outside.join(format!("canary{canary}")).exists(), "canary {canary} was deleted");
    }
    Ok(())
}

/// Puts a young file in the place of an old one, again and again, and looks whether it is still there: it may be aside for a
/// moment, and must come back.
fn exchange(tree: &Path, rounds: usize) {
    let directory = tree.join("exchanged");
    fs::create_dir(&directory).unwrap();
    let new = tree.with_extension("young");
    for round in 0..rounds {
        let target = directory.join(format!("f{}", round % 5));
        File::create(&new).unwrap();
        make(&target, DAY * 30);
        fs::rename(&new, &target).unwrap();
        let is_kept = (0..2_000).any(|attempt| {
            if attempt > 0 {
                std::thread::sleep(Duration::from_micros(500));
            }
            fs::rename(&target, &new).is_ok()
        });
        assert!(is_kept, "{} was young in round {round}", target.display());
    }
}
