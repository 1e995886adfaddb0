//! Visitors that leave entries where they are: they sum them, or count them for a cap.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use facts::age::{AgeBy, AgeSums, Aged, Cutoff};
use probe::directory::{EntryKind, EntryStatus, StatusWanted};

use super::extremes::Extremes;
use super::mutex::locked;
use super::node::Node;
use super::private::has_private_name;
use super::scan::{Counts, Visitor};
use super::selection::{Selection, aged};

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
    pub(super) extremes: Extremes,
    /// By the directory's name; those directly in the top one have none.
    pub(super) by_directory: BTreeMap<CString, AgeSums>,
}

#[derive(Debug, Default)]
pub(super) struct LocalSums {
    sums: AgeSums,
    extremes: Extremes,
    directory: Option<CString>,
}

impl Visitor for Summing {
    type Local = LocalSums;

    fn wanted(&self) -> Option<StatusWanted> {
        Some(StatusWanted { times: self.by, ..StatusWanted::KIND })
    }

    fn visit(&self, local: &mut LocalSums, node: &Arc<Node>, name: &CStr, status: Option<&EntryStatus>) {
        let Some(status) = status else { return };
        // A batch is of one directory.
        if self.is_by_directory && local.directory.is_none() {
            local.directory = Some(node.first_level().unwrap_or_default().to_owned());
        }
        let file = aged(self.by, status);
        local.sums.add(&file, self.now_ns);
        local.extremes.add(node, name, &file);
    }

    fn merge(&self, local: LocalSums) {
        let mut sums = locked(&self.sums);
        sums.all.merge(&local.sums);
        sums.extremes.merge(local.extremes);
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

/// Counts by age what is not going anyway, to find what goes beyond a cap.
pub(super) struct Capping<'a> {
    pub(super) selection: &'a Selection,
    pub(super) now_ns: i64,
    pub(super) cutoff: Mutex<Cutoff>,
    /// The disk usage of files that are deleted anyway, in bytes.
    pub(super) going: AtomicU64,
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
        let Some(file) = status.map(|status| aged(self.selection.by, status)) else { return };
        match self.selection.is_old(&file, self.now_ns) {
            true => Counts::add(&self.going, file.allocated.0),
            false => local.push(file),
        }
    }

    fn merge(&self, local: Vec<Aged>) {
        let mut cutoff = locked(&self.cutoff);
        local.iter().for_each(|file| cutoff.add(file));
    }
}
