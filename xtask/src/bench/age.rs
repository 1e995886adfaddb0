//! `whit age` beside the least that a scan takes and beside other scanners, on a hundred thousand files.

use std::ffi::OsString;
use std::fs::{self, File, FileTimes};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use probe::spawn::Ending;

use super::process::{Spread, pairs};
use super::programs::{Programs, is_there};
use super::row::print_row;
use crate::outcome::Outcome;

const FILES: u64 = 100_000;
const ROUNDS: usize = 9;
const SCANDIR: &str = "import os, sys, time
print(sum(entry.is_file() and time.time() - entry.stat().st_mtime > 86400 for entry in os.scandir(sys.argv[1])))";
const PATHLIB: &str = "import sys, time
from pathlib import Path
print(sum(path.is_file() and time.time() - path.stat().st_mtime > 86400 for path in Path(sys.argv[1]).iterdir()))";

/// A directory that goes at the end.
struct Files(String);

impl Files {
    fn make(parent: &str) -> Result<Self, String> {
        let path = format!("{parent}/whit-bench-age-{}", std::process::id());
        let failed = |error| format!("{path}: {error}");
        fs::create_dir(&path).map_err(failed)?;
        let files = Self(path.clone());
        let now = SystemTime::now();
        for file in 0..FILES {
            let time = FileTimes::new().set_modified(now - Duration::from_secs(file * 5));
            File::create(Path::new(&path).join(format!("{file:08x}.cache")))
                .and_then(|file| file.set_times(time))
                .map_err(failed)?;
        }
        Ok(files)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// On the disk of the tree, and in memory.
pub(crate) fn run(programs: &Programs) -> Outcome {
    for (parent, name) in [("target", "disk"), ("/dev/shm", "tmpfs")] {
        if !Path::new(parent).is_dir() {
            println!("age: there is no {parent}");
            continue;
        }
        let files = Files::make(parent)?;
        let directory = files.0.as_str();
        let alone = [programs.whit.as_str(), "age", "--workers", "1", "--older", "1d", directory];
        let measured = pairs(&alone, &[&programs.scan, directory], ROUNDS)?;
        let what = format!("age, 1 thread, {name}: a bare loop");
        print_row(&what, measured.ours.median, measured.theirs.median, &measured.ratios, "1.15");
        let all = [programs.whit.as_str(), "age", "--older", "1d", directory];
        let fd = if is_there("fdfind") { "fdfind" } else { "fd" };
        let by_fd = [fd, "-t", "f", "--changed-before", "1d", ".", directory];
        if is_there(fd) {
            compare(&format!("age, {name}: fd, CPU"), &all, &by_fd, Cost::Cpu, "0.70")?;
            compare(&format!("age, {name}: fd, time"), &all, &by_fd, Cost::Wall, "0.59")?;
        } else {
            println!("age: fd is not installed");
        }
        let by_find = ["find", directory, "-type", "f", "-mtime", "+1"];
        compare(&format!("age, {name}: find, time"), &all, &by_find, Cost::Wall, "0.50")?;
        let by_scandir = ["python3", "-c", SCANDIR, directory];
        compare(&format!("age, 1 thread, {name}: scandir, time"), &alone, &by_scandir, Cost::Wall, "0.59")?;
        let by_pathlib = ["python3", "-c", PATHLIB, directory];
        compare(&format!("age, 1 thread, {name}: pathlib, time"), &alone, &by_pathlib, Cost::Wall, "0.25")?;
    }
    Ok(())
}

/// The time that is compared.
#[derive(Clone, Copy, PartialEq)]
enum Cost {
    Wall,
    /// The CPU time of all threads.
    Cpu,
}

fn compare(what: &str, ours: &[&str], theirs: &[&str], cost: Cost, limit: &str) -> Outcome {
    if !is_there(theirs[0]) {
        println!("age: {} is not installed", theirs[0]);
        return Ok(());
    }
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (mine, other) = (cost_ns(ours, cost)?, cost_ns(theirs, cost)?);
        if round > 0 {
            own.push(mine);
            others.push(other);
        }
    }
    let ratios = Spread::of(own.iter().zip(&others).map(|(own, other)| own / other).collect());
    print_row(what, Spread::of(own).median, Spread::of(others).median, &ratios, limit);
    Ok(())
}

fn cost_ns(words: &[&str], cost: Cost) -> Result<f64, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", words[0]);
    let nowhere = File::options().write(true).open("/dev/null").map_err(failed)?;
    let start = Instant::now();
    let pid = probe::spawn::Command {
        words: words.iter().map(OsString::from).collect(),
        streams: [None, Some(nowhere.as_fd()), None],
        ..Default::default()
    }
    .start()
    .map_err(failed)?;
    let reaped = probe::spawn::reap(pid).ok_or("nobody to reap")?;
    if reaped.ending != Ending::Exited(0) {
        return Err(format!("{}: {:?}", words[0], reaped.ending));
    }
    Ok(match cost {
        Cost::Wall => start.elapsed().as_nanos() as f64,
        Cost::Cpu => reaped.usage.cpu().0 as f64,
    })
}
