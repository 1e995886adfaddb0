//! The process that answers one question.

use std::collections::HashMap;
use std::io;

use facts::linux::pid_limits::most_open_files;
use facts::linux::pid_syscall::kind_of_link;
use facts::task::chain::{Link, OfUser, chain_of};
use probe::privilege::{self, Kept};
use probe::task_detail::TaskFiles;
use probe::waits::WaitReader;
use probe::{Roots, limit_own_memory};
use text::chain::LinkLine;

use super::{FileCount, Inspection, LinkEntry, OpenFiles};

/// The most memory of the process, in bytes.
const MOST_MEMORY: u64 = 256 << 20;
/// The most open files whose kinds are looked at.
const MOST_FILES: usize = 4096;

/// Looks at a process, and returns what is found as JSON; empty if the process is gone. `uid`: the user whose processes are shown; `None`:
/// all.
///
/// # Errors
/// If the kernel refuses a resource.
pub fn inspect(pid: u32, uid: Option<u32>) -> io::Result<Vec<u8>> {
    limit_own_memory(MOST_MEMORY);
    privilege::drop_all_but(&[Kept::OthersProcesses, Kept::OthersFiles])?;
    let failed = |error: probe::roots::RootError| io::Error::other(error.to_string());
    let mut reader = WaitReader::open().map_err(failed)?;
    let mut files = TaskFiles::open(&Roots::live()).map_err(failed)?;
    let mut users = HashMap::new();
    let mut is_theirs = |pid| {
        let mut user = || *users.entry(pid).or_insert_with(|| files.inspecting_user(pid));
        uid.is_none_or(|uid| user() == Ok(uid))
    };
    let is_shown = is_theirs(pid);
    let chain = chain_of(&mut OfUser::new(&mut reader, &mut is_theirs), pid);
    let Some(chain) = chain else { return Ok(Vec::new()) };
    let link = |link: &Link| {
        let LinkLine { before, name, after } = LinkLine::of(link);
        LinkEntry { depth: link.depth, pid: link.thread.pid, before, name, after }
    };
    let links = chain.links.iter().map(link).collect();
    let open_files = if is_shown { open_files(&mut files, pid) } else { None };
    Ok(serde_json::to_vec(&Inspection { links, open_files })?)
}

/// Counts the open files of a process; `None` if they may not be read.
fn open_files(files: &mut TaskFiles, pid: u32) -> Option<OpenFiles> {
    let (found, count) = files.open_files(pid, MOST_FILES).ok()?;
    let most = files.limits(pid).ok().and_then(|limits| most_open_files(&limits));
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    for file in found.iter().filter(|_| count <= MOST_FILES) {
        *counts.entry(kind_of_link(&file.target).name()).or_default() += 1;
    }
    let mut kinds: Vec<FileCount> =
        counts.into_iter().map(|(kind, count)| FileCount { kind, count }).collect();
    kinds.sort_by_key(|one| (std::cmp::Reverse(one.count), one.kind));
    Some(OpenFiles { count, most, kinds })
}
