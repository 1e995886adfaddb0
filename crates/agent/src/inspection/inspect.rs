//! The process that answers one question.

use std::collections::HashMap;
use std::io;

use facts::linux::pid_limits::most_open_files;
use facts::linux::pid_syscall::kind_of_link;
use facts::task::chain::{Link, chain_of};
use probe::privilege;
use probe::spawn::UserIds;
use probe::task_detail::TaskFiles;
use probe::waits::WaitReader;
use probe::{Roots, limit_own_memory};
use sampling::users;
use text::chain::LinkLine;

use super::{FileCount, Inspection, LOOKING, LinkEntry, OpenFiles, Outcome};

/// The most memory of the process, in bytes: twice what 200,000 descriptors of the machine take.
const MAX_MEMORY: u64 = 64 << 20;
/// Makes the OOM killer choose this process first: proc_pid_oom_score_adj(5).
const OOM_SCORE: &str = "1000";
/// The most open files whose kinds are looked at.
const MAX_FILES: usize = 4096;

/// Looks at a process as a user (`None`: with all privileges that the agent was given), and returns the outcome as JSON.
///
/// # Errors
/// If the kernel refuses a resource.
pub fn inspect(pid: u32, uid: Option<u32>) -> io::Result<Vec<u8>> {
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    limit_own_memory(MAX_MEMORY);
    match take_rights(uid) {
        Ok(()) => {}
        Err(error)
            if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) =>
        {
            return Ok(Outcome::Refused.json());
        }
        Err(error) => return Err(error),
    }
    privilege::refuse_inspection()?;
    let failed = |error: probe::roots::RootError| io::Error::other(error.to_string());
    let mut reader = WaitReader::open().map_err(failed)?;
    let mut files = TaskFiles::open(&Roots::live()).map_err(failed)?;
    let Some(chain) = chain_of(&mut reader, pid) else { return Ok(Outcome::Gone.json()) };
    let link = |link: &Link| {
        let LinkLine { before, name, after } = LinkLine::of(link);
        LinkEntry { depth: link.depth, pid: link.thread.pid, before, name, after }
    };
    let links = chain.links.iter().map(link).collect();
    Ok(Outcome::Found(Inspection { links, open_files: open_files(&mut files, pid) }).json())
}

/// Becomes the user who asks.
fn take_rights(uid: Option<u32>) -> io::Result<()> {
    match uid {
        None => privilege::drop_all_but(&LOOKING),
        Some(uid) => {
            let (gid, groups) = users::groups_of(uid);
            privilege::become_user(&UserIds { uid, gid, groups })
        }
    }
}

/// Counts the open files of a process; `None` if they may not be read.
fn open_files(files: &mut TaskFiles, pid: u32) -> Option<OpenFiles> {
    let (found, count) = files.open_files(pid, MAX_FILES).ok()?;
    let most = files.limits(pid).ok().and_then(|limits| most_open_files(&limits));
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    for file in found.iter().filter(|_| count <= MAX_FILES) {
        *counts.entry(kind_of_link(&file.target).name()).or_default() += 1;
    }
    let mut kinds: Vec<FileCount> =
        counts.into_iter().map(|(kind, count)| FileCount { kind, count }).collect();
    kinds.sort_by_key(|one| (std::cmp::Reverse(one.count), one.kind));
    Some(OpenFiles { count, most, kinds })
}
