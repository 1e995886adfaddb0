//! Who has pipes and sockets open: proc_pid_fd(5).

use std::collections::HashMap;

use super::processes::Processes;
use crate::linux::tasks::listing::list_numbers;

/// The most descriptors that are read in a look, which takes some milliseconds for each thousand.
const MOST: usize = 200_000;

/// An open descriptor of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) pid: u32,
    pub(super) descriptor: u32,
}

/// The open descriptors of all processes that may be looked at.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    /// Those of pipes and sockets, by their links; read together, when one of them is asked for.
    pipes_and_sockets: Option<HashMap<String, Vec<Open>>>,
    /// Those of the paths that were asked for.
    by_path: HashMap<String, Vec<Open>>,
}

impl Descriptors {
    /// The descriptors with a link: of a pipe or a socket, or of the files that have a path.
    pub(super) fn of(&mut self, processes: &mut Processes, link: &str) -> Vec<Open> {
        let all = match inode_of(link) {
            Some(_) => self.pipes_and_sockets.get_or_insert_with(|| {
                let mut found: HashMap<String, Vec<Open>> = HashMap::new();
                each(processes, |open, link| {
                    if inode_of(link).is_some() {
                        found.entry(link.to_owned()).or_default().push(open);
                    }
                });
                found
            }),
            None => {
                self.by_path.entry(link.to_owned()).or_insert_with(|| {
                    let mut found = Vec::new();
                    each(processes, |open, other| {
                        if other == link {
                            found.push(open);
                        }
                    });
                    found
                });
                &mut self.by_path
            }
        };
        all.get(link).cloned().unwrap_or_default()
    }
}

/// The number of a pipe or a socket.
pub(super) fn inode_of(link: &str) -> Option<u32> {
    let number = link.strip_prefix("socket:[").or_else(|| link.strip_prefix("pipe:["))?;
    number.strip_suffix(']')?.parse().ok()
}

/// Calls a function for each descriptor of each process, with its link.
fn each(processes: &mut Processes, mut take: impl FnMut(Open, &str)) {
    let (mut left, mut descriptors) = (MOST, Vec::new());
    for pid in processes.pids() {
        let Some(directory) = processes.directory(&format!("proc/{pid}/fd")) else { continue };
        // A process that ends meanwhile has none left.
        let _ = list_numbers(&directory, &mut descriptors);
        for descriptor in descriptors.drain(..) {
            if left == 0 {
                processes.note_unseen();
                return;
            }
            left -= 1;
            if let Ok(link) = directory.link_at(&descriptor.to_string()) {
                take(Open { pid, descriptor }, &link);
            }
        }
    }
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
