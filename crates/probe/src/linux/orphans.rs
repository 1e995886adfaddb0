//! Processes that commands left behind: those that went into sessions of their own and lost their parents.

use std::collections::{HashMap, HashSet};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::pread;

use super::control::send_to_child;
use super::descendants::adopt_orphans;
use crate::named;
use crate::signal::TaskSignal;
pub use crate::spawn::Known;
use crate::spawn::{RUN_VARIABLE, reap_ended};

/// The longest environment that is looked at: execve(2) accepts some megabytes, which no program uses.
const ENVIRONMENT_BYTES: u64 = 4 << 20;

/// Adopts orphans, and ends those whose run is over. A run is known by a variable in the environment, which children inherit through
/// whatever they do.
#[derive(Debug)]
pub struct Orphans {
    /// proc(5), /proc/PID/task/TID/children: orphans come to the thread that lives longest, the main one.
    children: Option<OwnedFd>,
    list: Vec<u8>,
    /// Those that show no run are ended, too.
    ends_all: bool,
    /// Of each orphan without a run, by its process id, the number of the newest run that was not over when it was first seen: it is of
    /// that or of an older one.
    newest_possible: HashMap<u32, u64>,
}

impl Orphans {
    /// From now on they come here. To be called by the main thread. A command that removes the variable from the environment of a daemon means
    /// the daemon to stay.
    pub fn adopt() -> Self {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        // If the kernel has no subreapers, or does not list children, orphans stay init's.
        let children =
            adopt_orphans().ok().and_then(|()| open("/proc/thread-self/children", flags, Mode::empty()).ok());
        Self { children, list: Vec::new(), ends_all: false, newest_possible: HashMap::new() }
    }

    /// As [`Self::adopt`], but nothing stays: an orphan without the variable, or one of another user, ends when all runs are over that it can
    /// be of.
    pub fn adopt_and_end_all() -> Self {
        Self { ends_all: true, ..Self::adopt() }
    }

    /// Reaps the orphans that have ended, and ends those whose run is not among the `known` any more. Returns 0 if no further sweep is needed
    /// before another run is over: the children of an orphan are seen only after it has ended.
    pub fn sweep(&mut self, known: &[Known<'_>]) -> usize {
        let Self { children: Some(children), list, ends_all, newest_possible } = self else { return 0 };
        read_list(children, list);
        let mut left = 0;
        let mut orphans = HashSet::new();
        let numbers = || known.iter().filter_map(|known| number_of(known.run?));
        let (oldest, newest) = (numbers().min(), numbers().max().unwrap_or(0));
        for word in list.split(|byte| *byte == b' ').filter(|word| word.len() < 10) {
            let pid = std::str::from_utf8(word).ok().and_then(|word| word.parse::<u32>().ok());
            let Some(pid) = pid.filter(|pid| known.iter().all(|known| known.pid != *pid)) else { continue };
            if reap_ended(pid.cast_signed()).is_some() {
                // Its children may have come after the list was read.
                left += 1;
                continue;
            }
            let is_running = |run: &str| known.iter().any(|known| known.run == Some(run));
            let is_over = match run_of(pid).filter(|run| is_own_run(run)) {
                Some(run) => !is_running(&run),
                None if *ends_all => {
                    let newest_possible = *newest_possible.entry(pid).or_insert(newest);
                    oldest.is_none_or(|oldest| oldest > newest_possible)
                }
                None => false,
            };
            // One that has become another user's stays, unless this process may end those.
            if is_over && send_to_child(pid, TaskSignal::Kill).is_ok() {
                left += 1;
            }
            orphans.insert(pid);
        }
        newest_possible.retain(|pid, _| orphans.contains(pid));
        left
    }
}

/// All of it: the kernel gives a page at a time.
fn read_list(children: &OwnedFd, list: &mut Vec<u8>) {
    let mut page = [0; 4096];
    list.clear();
    while let Ok(length @ 1..) = pread(children, &mut page, list.len() as u64) {
        list.extend_from_slice(&page[..length]);
    }
}

/// Returns the number of a run: those of a process are numbered in the order in which they begin.
fn number_of(run: &str) -> Option<u64> {
    run.split_once('.')?.1.parse().ok()
}

/// Returns true if a run is of this process.
fn is_own_run(run: &str) -> bool {
    run.split_once('.').is_some_and(|(pid, _)| pid == std::process::id().to_string())
}

/// The run that a process belongs to; `None` if that cannot be seen.
fn run_of(pid: u32) -> Option<String> {
    let environment = named::read(format!("/proc/{pid}/environ").as_ref(), ENVIRONMENT_BYTES).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value =
        variables.find_map(|variable| variable.strip_prefix(RUN_VARIABLE.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_owned()).ok()
}
