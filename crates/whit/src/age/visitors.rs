//! What is done with entries that stay where they are: summed, printed, or counted for a cap.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io::IsTerminal;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use facts::age::{AgeBy, AgeSums, Aged, Cutoff};
use probe::directory::{EntryKind, EntryStatus, StatusWanted};

use super::mutex::locked;
use super::node::Node;
use super::private::has_private_name;
use super::scan::{Counts, Visitor};
use super::selection::{Selection, aged};
use crate::failure::Failure;
use crate::output::{DRAIN_BYTES, Output};
use text::printable::printable_text;

/// Sums all, and those of each directory at the first level.
#[derive(Debug)]
pub(super) struct Summing {
    pub(super) by: AgeBy,
    pub(super) now_ns: i64,
    pub(super) is_by_directory: bool,
    pub(super) sums: Mutex<Sums>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) all: AgeSums,
    /// By the directory's name; those directly in the top one have none.
    pub(super) by_directory: BTreeMap<CString, AgeSums>,
}

#[derive(Debug, Default)]
pub(super) struct LocalSums {
    sums: AgeSums,
    directory: Option<CString>,
}

impl Visitor for Summing {
    type Local = LocalSums;

    fn wanted(&self) -> Option<StatusWanted> {
        Some(StatusWanted { times: self.by, ..StatusWanted::KIND })
    }

    fn visit(&self, local: &mut LocalSums, node: &Arc<Node>, _name: &CStr, status: Option<&EntryStatus>) {
        let Some(status) = status else { return };
        // A batch is of one directory.
        if self.is_by_directory && local.directory.is_none() {
            local.directory = Some(node.first_level().unwrap_or_default().to_owned());
        }
        local.sums.add(&aged(self.by, status), self.now_ns);
    }

    fn merge(&self, local: LocalSums) {
        let mut sums = locked(&self.sums);
        sums.all.merge(&local.sums);
        if let Some(directory) = local.directory {
            sums.by_directory.entry(directory).or_default().merge(&local.sums);
        }
    }
}

/// Counts, and asks nothing.
#[derive(Debug, Default)]
pub(super) struct Counting(pub(super) AtomicU64);

impl Visitor for Counting {
    type Local = u64;

    fn wanted(&self) -> Option<StatusWanted> {
        None
    }

    fn visit(&self, local: &mut u64, _node: &Arc<Node>, _name: &CStr, _status: Option<&EntryStatus>) {
        *local += 1;
    }

    fn merge(&self, local: u64) {
        Counts::add(&self.0, local);
    }
}

/// Prints the path of each, with this behind it.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) end: u8,
    pub(super) is_for_people: bool,
    pub(super) count: AtomicU64,
    pub(super) output: Mutex<ListOutput>,
}

/// Where the paths are written; `None` after the reader has closed the pipe.
#[derive(Debug)]
pub(super) struct ListOutput {
    output: Output,
    pub(super) failure: Option<Failure>,
}

/// Appends a path as it is for programs, and on a terminal so that it cannot move it.
pub(super) fn push_path(out: &mut Vec<u8>, path: &[u8], is_for_people: bool) {
    match is_for_people {
        true => out.extend_from_slice(printable_text(path).as_bytes()),
        false => out.extend_from_slice(path),
    }
}

impl ListOutput {
    pub(super) fn new() -> Self {
        Self { output: Output::stdout(), failure: None }
    }

    /// Whether paths go to a terminal.
    pub(super) fn is_for_people() -> bool {
        std::io::stdout().is_terminal()
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.output.write(bytes).err();
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LocalPaths {
    text: Vec<u8>,
    /// Of the directory, made once a batch.
    directory: Vec<u8>,
    count: u64,
}

impl Visitor for Listing {
    type Local = LocalPaths;

    fn wanted(&self) -> Option<StatusWanted> {
        None
    }

    fn visit(&self, local: &mut LocalPaths, node: &Arc<Node>, name: &CStr, _status: Option<&EntryStatus>) {
        if local.directory.is_empty() {
            local.directory = node.path(None);
            if local.directory.last() != Some(&b'/') {
                local.directory.push(b'/');
            }
        }
        local.count += 1;
        push_path(&mut local.text, &local.directory, self.is_for_people);
        push_path(&mut local.text, name.to_bytes(), self.is_for_people);
        local.text.push(self.end);
        if local.text.len() >= DRAIN_BYTES {
            self.write(&std::mem::take(&mut local.text));
        }
    }

    fn merge(&self, local: LocalPaths) {
        Counts::add(&self.count, local.count);
        self.write(&local.text);
    }
}

impl Listing {
    fn write(&self, bytes: &[u8]) {
        locked(&self.output).write(bytes);
    }
}

/// Counts by age what is not going anyway, to find what goes beyond a cap.
pub(super) struct Capping<'a> {
    pub(super) selection: &'a Selection,
    pub(super) now_ns: i64,
    pub(super) cutoff: Mutex<Cutoff>,
}

impl Visitor for Capping<'_> {
    type Local = Vec<Aged>;

    fn sets_aside(&self, _node: &Node, name: &CStr) -> bool {
        has_private_name(name)
    }

    fn wanted(&self) -> Option<StatusWanted> {
        Some(StatusWanted { times: self.selection.by, ..StatusWanted::KIND })
    }

    fn visit(&self, local: &mut Vec<Aged>, _node: &Arc<Node>, _name: &CStr, status: Option<&EntryStatus>) {
        // Directories go when they are empty, and for no cap.
        let status = status.filter(|status| status.kind != EntryKind::Directory);
        let file = status.map(|status| aged(self.selection.by, status));
        local.extend(file.filter(|file| !self.selection.is_old(file, self.now_ns)));
    }

    fn merge(&self, local: Vec<Aged>) {
        let mut cutoff = locked(&self.cutoff);
        local.iter().for_each(|file| cutoff.add(file));
    }
}
