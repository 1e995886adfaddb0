//! A walk over one directory and what lies below it, by as few system calls as it takes.
//!
//! The thread that lists a directory puts names into batches; any free thread looks up the entries of a batch, so that one wide directory
//! uses all CPUs. No path is built unless it is printed. What waits is bounded: batches by their number, directories by how wide the tree
//! is. A walk over a million files takes 5 MB.

use std::ffi::CStr;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use probe::directory::{Directory, EntryKind, EntryStatus, Mounts, StatusWanted};
use rayon::Scope;

use super::batch::Batch;
use super::node::Node;
use super::selection::Selection;
use command::failure::{without_error_numbers, write_stderr};
use text::printable::printable_text;

/// The most bytes that one call of getdents64 may give: some two thousand names.
const LISTING_BYTES: usize = 64 * 1024;
/// Batches that may wait, each of which is some 32 KiB.
const BATCHES_A_THREAD: usize = 32;

/// Levels of directories that are gone through by one task.
const LEVELS_OF_A_STACK: u32 = 64;

/// A visitor of the entries that are found. Each batch counts for itself and is merged at its end.
pub(super) trait Visitor: Sync {
    /// The counts of a batch.
    type Local: Default;

    /// Returns the status that is needed of an entry beside its name and kind; `None` if these suffice.
    fn wanted(&self) -> Option<StatusWanted>;

    /// Returns true if the visitor handles a directory of this name itself, so that it is not entered.
    fn sets_aside(&self, _node: &Node, _name: &CStr) -> bool {
        false
    }

    /// Returns true if a directory is entered.
    fn enters(&self, _node: &Node) -> bool {
        true
    }

    /// An entry that was selected.
    fn visit(&self, local: &mut Self::Local, node: &Arc<Node>, name: &CStr, status: Option<&EntryStatus>);

    /// The end of a batch.
    fn merge(&self, local: Self::Local);

    /// All in this directory has been visited.
    fn leave(&self, _node: &Node) {}
}

/// Where a walk begins and how far it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach<'a> {
    pub(super) selection: &'a Selection,
    pub(super) is_recursive: bool,
    pub(super) mounts: Mounts,
    /// The time from which ages are reckoned, in nanoseconds since 1970.
    pub(super) now_ns: i64,
}

/// The counts of walks and of their failures.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) calls: AtomicU64,
    pub(super) entries: AtomicU64,
    pub(super) directories: AtomicU64,
    /// Directories that something is mounted on, or that became something else.
    pub(super) left_alone: AtomicU64,
    failures: AtomicU64,
    /// The message of the first failure: a verdict repeats it.
    first_failure: OnceLock<String>,
}

impl Counts {
    pub(super) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    /// Names what could not be done. What is gone needs nothing done.
    pub(super) fn fail(&self, what: &str, path: &[u8], error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.failed(format!("{what} {}: {error}", printable_text(path)));
        }
    }

    /// Counts a failure, and reports it.
    pub(super) fn failed(&self, message: String) {
        write_stderr(&format!("whit: {message}\n"));
        self.count_failure(message);
    }

    /// Counts one that is reported elsewhere.
    pub(super) fn count_failure(&self, message: String) {
        Self::add(&self.failures, 1);
        // Of several threads' first failures one is enough.
        let _ = self.first_failure.set(without_error_numbers(&message).into_owned());
    }

    pub(super) fn failures(&self) -> u64 {
        Self::get(&self.failures)
    }

    pub(super) fn first_failure(&self) -> Option<&str> {
        self.first_failure.get().map(String::as_str)
    }
}

/// One walk.
pub(super) struct Scan<'a, V> {
    reach: Reach<'a>,
    visitor: &'a V,
    counts: &'a Counts,
    wanted: Option<StatusWanted>,
    waiting_batches: AtomicUsize,
    most_batches: usize,
}

impl<'a, V: Visitor> Scan<'a, V> {
    pub(super) fn new(reach: Reach<'a>, visitor: &'a V, counts: &'a Counts) -> Self {
        let threads = rayon::current_num_threads();
        Self {
            reach,
            visitor,
            counts,
            wanted: [visitor.wanted(), reach.selection.wanted()].into_iter().flatten().reduce(union),
            waiting_batches: AtomicUsize::new(0),
            most_batches: if threads == 1 { 0 } else { threads * BATCHES_A_THREAD },
        }
    }

    /// Walks, within a pool of threads.
    pub(super) fn run(&self, top: Directory, path: &[u8]) {
        let top = Node::top(top, path);
        rayon::scope(|scope| self.list(scope, top));
    }

    fn list<'s>(&'s self, scope: &Scope<'s>, node: Arc<Node>) {
        Counts::add(&self.counts.directories, 1);
        if !self.visitor.enters(&node) {
            Counts::add(&self.counts.left_alone, 1);
            return;
        }
        let (mut entries, mut directories) = (Batch::default(), Batch::default());
        let mut memory = Vec::with_capacity(LISTING_BYTES);
        let selection = self.reach.selection;
        let listed = node.directory.list(memory.spare_capacity_mut(), |name, kind| {
            if kind == EntryKind::Directory && self.visitor.sets_aside(&node, name)
                || selection.excludes(name.to_bytes())
            {
                return;
            }
            if kind == EntryKind::Directory && self.reach.is_recursive {
                directories.push(name, kind);
            }
            let may_be_directory = kind == EntryKind::Unknown;
            if may_be_directory || selection.may_take(name.to_bytes(), kind) {
                entries.push(name, kind);
                if entries.is_full() {
                    self.hand_out(scope, &node, std::mem::take(&mut entries));
                }
            }
        });
        match listed {
            Ok(calls) => Counts::add(&self.counts.calls, calls),
            Err(error) => self.counts.fail("cannot list", &node.path(None), &error),
        }
        drop(memory);
        self.look_up(scope, &node, &entries);
        if !directories.is_empty() {
            self.enter(scope, Arc::clone(&node), directories);
        }
        self.leave(node);
    }

    /// To another thread, unless all have enough to do.
    fn hand_out<'s>(&'s self, scope: &Scope<'s>, node: &Arc<Node>, batch: Batch) {
        if self.waiting_batches.load(Ordering::Relaxed) >= self.most_batches {
            self.look_up(scope, node, &batch);
            return;
        }
        self.waiting_batches.fetch_add(1, Ordering::Relaxed);
        let node = Arc::clone(node);
        scope.spawn(move |scope| {
            self.waiting_batches.fetch_sub(1, Ordering::Relaxed);
            self.look_up(scope, &node, &batch);
            self.leave(node);
        });
    }

    fn look_up<'s>(&'s self, scope: &Scope<'s>, node: &Arc<Node>, batch: &Batch) {
        let mut local = V::Local::default();
        let (mut count, mut calls) = (0, 0);
        let mut directories = Batch::default();
        for (name, kind) in batch.iter() {
            count += 1;
            let wanted = match kind {
                EntryKind::Unknown => Some(self.wanted.unwrap_or(StatusWanted::KIND)),
                _ => self.wanted,
            };
            let status = match wanted.map(|wanted| node.directory.status(name, wanted)).transpose() {
                Ok(status) => status,
                Err(error) => {
                    self.counts.fail("cannot look at", &node.path(Some(name)), &error);
                    continue;
                }
            };
            calls += u64::from(status.is_some());
            if let (EntryKind::Unknown, Some(status)) = (kind, &status) {
                if status.kind == EntryKind::Directory {
                    if self.visitor.sets_aside(node, name) {
                        continue;
                    }
                    if self.reach.is_recursive {
                        directories.push(name, status.kind);
                    }
                }
                if !self.reach.selection.may_take(name.to_bytes(), status.kind) {
                    continue;
                }
            }
            let takes = |status: &EntryStatus| self.reach.selection.takes(status, self.reach.now_ns);
            let kind = status.as_ref().map_or(kind, |status| status.kind);
            if status.as_ref().is_none_or(takes)
                && !self.is_spared(node, name)
                && !self.is_filesystems_own(node, name, kind)
            {
                self.visitor.visit(&mut local, node, name, status.as_ref());
            }
        }
        self.visitor.merge(local);
        Counts::add(&self.counts.entries, count);
        Counts::add(&self.counts.calls, calls);
        if !directories.is_empty() {
            self.enter(scope, Arc::clone(node), directories);
        }
    }

    /// Lines of a configuration name what is to be left alone by its whole path.
    fn is_spared(&self, node: &Node, name: &CStr) -> bool {
        let selection = self.reach.selection;
        selection.keeps_first_level && node.depth == 0 || selection.protects(|| node.path(Some(name)))
    }

    /// Returns true if the entry is the filesystem's own. Reads its status only if its name says so.
    fn is_filesystems_own(&self, node: &Node, name: &CStr, kind: EntryKind) -> bool {
        node.depth == 0
            && self.reach.selection.is_filesystems_own(name.to_bytes(), kind)
            && node.directory.is_mount_point()
            && node.directory.status(name, OWNER).is_ok_and(|status| status.uid == Some(0))
    }

    /// Walks each of these directories; another thread may take half of them.
    fn enter<'s>(&'s self, scope: &Scope<'s>, node: Arc<Node>, mut names: Batch) {
        while let Some(rest) = names.split_half() {
            let node = Arc::clone(&node);
            scope.spawn(move |scope| self.enter(scope, node, rest));
        }
        for (name, _) in names.iter() {
            let selection = self.reach.selection;
            let is_deep = selection.most_levels.is_some_and(|most| node.depth >= most);
            if is_deep
                || selection.protects(|| node.path(Some(name)))
                || self.is_filesystems_own(&node, name, EntryKind::Directory)
            {
                continue;
            }
            // Opening it, its end and its closing.
            Counts::add(&self.counts.calls, 2);
            match node.directory.open_below(name, self.reach.mounts) {
                Ok(directory) => {
                    let below = Node::below(&node, name, directory);
                    // A deep tree must not need a deep stack.
                    if below.depth.is_multiple_of(LEVELS_OF_A_STACK) {
                        scope.spawn(move |scope| self.list(scope, below));
                    } else {
                        self.list(scope, below);
                    }
                }
                Err(error) if is_left_alone(&error) => Counts::add(&self.counts.left_alone, 1),
                Err(error) => self.counts.fail("cannot open", &node.path(Some(name)), &error),
            }
        }
        self.leave(node);
    }

    /// The last reference closes the directory, and then releases its parent.
    fn leave(&self, node: Arc<Node>) {
        let mut leaving = Arc::into_inner(node);
        while let Some(mut node) = leaving {
            self.visitor.leave(&node);
            leaving = node.parent.take().and_then(Arc::into_inner);
        }
    }
}

/// A mount, or what was a directory when it was listed.
fn is_left_alone(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, NotADirectory};
    matches!(error.kind(), CrossesDevices | NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

const OWNER: StatusWanted = StatusWanted { owner: true, ..StatusWanted::KIND };

fn union(a: StatusWanted, b: StatusWanted) -> StatusWanted {
    StatusWanted {
        times: a.times.union(b.times),
        owner: a.owner || b.owner,
        identity: a.identity || b.identity,
    }
}
