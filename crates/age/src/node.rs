//! A directory of a walk, kept open until the last batch in it and below it is done.

use std::ffi::{CStr, CString};
use std::sync::{Arc, OnceLock};

use probe::directory::{Directory, EntryStatus};

/// An open directory, and how it was come by.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) directory: Directory,
    pub(super) parent: Option<Arc<Node>>,
    /// Its name in the parent; of the top its path, as it was given.
    pub(super) name: CString,
    /// Zero at the top.
    pub(super) depth: u32,
    /// Its state before anything in it was deleted.
    pub(super) status: OnceLock<EntryStatus>,
}

impl Node {
    /// Where a walk begins.
    pub(super) fn top(directory: Directory, path: &[u8]) -> Arc<Self> {
        // A path that was opened has no zero in it.
        let name = CString::new(path).unwrap_or_default();
        Arc::new(Self { directory, parent: None, name, depth: 0, status: OnceLock::new() })
    }

    /// A directory in another.
    pub(super) fn below(parent: &Arc<Self>, name: &CStr, directory: Directory) -> Arc<Self> {
        Arc::new(Self {
            directory,
            parent: Some(Arc::clone(parent)),
            name: name.into(),
            depth: parent.depth + 1,
            status: OnceLock::new(),
        })
    }

    /// The path of an entry, or of itself, for people.
    pub(super) fn path(&self, name: Option<&CStr>) -> Vec<u8> {
        let mut parts: Vec<&[u8]> = name.map(CStr::to_bytes).into_iter().collect();
        let mut node = Some(self);
        while let Some(at) = node {
            parts.push(at.name.to_bytes());
            node = at.parent.as_deref();
        }
        let mut path = Vec::new();
        for part in parts.into_iter().rev() {
            if !path.is_empty() && path.last() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(part);
        }
        path
    }

    /// The name of the first directory below the top on the way here; none at the top.
    pub(super) fn first_level(&self) -> Option<&CStr> {
        let mut node = self;
        while node.depth > 1 {
            node = node.parent.as_deref()?;
        }
        (node.depth == 1).then_some(node.name.as_c_str())
    }
}
