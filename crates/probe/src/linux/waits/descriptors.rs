//! Who has pipes and sockets open: proc_pid_fd(5).

use std::collections::HashMap;

use rustix::fs::RawDir;
use std::mem::MaybeUninit;

use super::processes::Processes;
use crate::roots::MachineDirectory;

/// The most descriptors that are read in a look, which takes some milliseconds for each thousand.
const MOST: usize = 200_000;

/// An open descriptor of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) pid: u32,
    pub(super) descriptor: u32,
}

/// The pipes and sockets of all processes that may be looked at.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    by_link: HashMap<String, Vec<Open>>,
    /// Those of files that were asked for.
    by_path: HashMap<String, Vec<Open>>,
}

impl Descriptors {
    pub(super) fn read(processes: &mut Processes) -> Self {
        let mut found = Self::default();
        let mut left = MOST;
        for pid in processes.pids() {
            each(processes, pid, &mut left, |open, link| {
                if inode_of(link).is_some() {
                    found.by_link.entry(link.to_owned()).or_default().push(open);
                }
            });
        }
        found
    }

    /// The descriptors of a pipe or a socket, by its link.
    pub(super) fn of(&self, link: &str) -> &[Open] {
        self.by_link.get(link).map_or(&[], Vec::as_slice)
    }

    /// The descriptors of the files that have a path.
    pub(super) fn of_file(&mut self, processes: &mut Processes, path: &str) -> Vec<Open> {
        if let Some(known) = self.by_path.get(path) {
            return known.clone();
        }
        let (mut found, mut left) = (Vec::new(), MOST);
        for pid in processes.pids() {
            each(processes, pid, &mut left, |open, link| {
                if link == path {
                    found.push(open);
                }
            });
        }
        self.by_path.insert(path.to_owned(), found.clone());
        found
    }
}

/// The number of a pipe or a socket.
pub(super) fn inode_of(link: &str) -> Option<u32> {
    let number = link.strip_prefix("socket:[").or_else(|| link.strip_prefix("pipe:["))?;
    number.strip_suffix(']')?.parse().ok()
}

fn each(processes: &mut Processes, pid: u32, left: &mut usize, mut take: impl FnMut(Open, &str)) {
    let Some(directory) = processes.directory(&format!("proc/{pid}/fd")) else { return };
    for descriptor in numbers(&directory) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        if let Ok(link) = directory.link_at(&descriptor.to_string()) {
            take(Open { pid, descriptor }, &link);
        }
    }
}

fn numbers(directory: &MachineDirectory) -> Vec<u32> {
    let mut numbers = Vec::new();
    let mut memory = [MaybeUninit::uninit(); 8 * 1024];
    let mut listing = RawDir::new(directory, &mut memory);
    // A process that ends meanwhile has none left.
    while let Some(Ok(entry)) = listing.next() {
        numbers.extend(entry.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok()));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_numbers() {
        assert_eq!((inode_of("pipe:[12]"), inode_of("socket:[7]")), (Some(12), Some(7)));
        for link in ["/tmp/pipe:[1]", "pipe:[", "anon_inode:[eventfd]", "socket:[x]"] {
            assert_eq!(inode_of(link), None, "{link}");
        }
    }
}
