//! Which processes and threads there are, by listing /proc.

use std::mem::MaybeUninit;

use facts::cursor::Cursor;
use facts::sample::Absence;
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, OFlags, RawDir, SeekFrom, StatxFlags, seek, statx};
use rustix::io::Errno;

use crate::linux::files::absence;
use crate::linux::files::task_absence;
use crate::roots::MachineDirectory;

/// A descriptor of /proc.
pub(crate) struct Listing {
    proc: Result<MachineDirectory, Absence>,
}

impl Listing {
    pub(crate) fn open(root: &MachineDirectory) -> Self {
        Self { proc: root.directory_at("proc").map_err(absence) }
    }

    pub(crate) fn processes(&self, pids: &mut Vec<u32>) -> Result<(), Absence> {
        let proc = self.proc.as_ref().map_err(|absence| *absence)?;
        list_numbers(proc, pids).map_err(absence)?;
        // This process is in it, unless something else is mounted there.
        if pids.is_empty() && !proc.is_captured() { Err(Absence::Unsupported) } else { Ok(()) }
    }

    pub(crate) fn threads(&self, pid: u32, tids: &mut Vec<u32>) -> Result<(), Absence> {
        let proc = self.proc.as_ref().map_err(|absence| *absence)?;
        let directory =
            proc.open_at(&task_path(pid), OFlags::RDONLY | OFlags::DIRECTORY).map_err(task_absence)?;
        list_numbers(&directory, tids).map_err(task_absence)?;
        if let Some(leader) = tids.iter().position(|tid| *tid == pid) {
            tids.swap(0, leader);
        }
        if tids.is_empty() { Err(Absence::Gone) } else { Ok(()) }
    }

    /// How many threads a process has: /proc/PID/task has a link more for each, and asking for the links alone costs a
    /// third of listing them. 1 where the process is gone.
    pub(crate) fn count_threads(&self, pid: u32) -> u64 {
        let Ok(proc) = &self.proc else { return 1 };
        let links = match proc.is_captured() {
            false => {
                statx(proc, task_path(pid), AtFlags::empty(), StatxFlags::NLINK).map(|stat| stat.stx_nlink)
            }
            true => Ok(0),
        };
        match links {
            Ok(links @ 3..) => u64::from(links - 2),
            // A captured machine lies on a filesystem that may count links differently.
            Ok(_) => {
                let mut tids = Vec::new();
                self.threads(pid, &mut tids).map_or(1, |()| tids.len() as u64)
            }
            Err(_) => 1,
        }
    }
}

fn task_path(pid: u32) -> String {
    format!("{pid}/task")
}

/// The entries of a directory that are numbers.
pub(crate) fn list_numbers(directory: impl AsFd, numbers: &mut Vec<u32>) -> Result<(), Errno> {
    numbers.clear();
    seek(&directory, SeekFrom::Start(0))?;
    let mut memory = [MaybeUninit::uninit(); 32 * 1024];
    let mut listing = RawDir::new(&directory, &mut memory);
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let number = Cursor::new(entry.file_name().to_bytes()).number();
        numbers.extend(number.and_then(|number| u32::try_from(number).ok()));
    }
    Ok(())
}
