//! Deleting what is old, and nothing else.
//!
//! No call unlinks what was looked at: between the look and unlinkat(2) the name may come to mean another file. So an entry
//! is first moved to a directory that nobody else may enter, looked at there, and then unlinked or put back.

use std::ffi::{CStr, CString};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use facts::age::{AgeBy, AgeSums, Aged, Border, Claim};
use probe::directory::{Directory, EntryKind, EntryStatus, StatusWanted};

use super::node::Node;
use super::scan::{Counts, Visitor};
use super::selection::{Selection, is_private_name, private_name};
use super::visitors::{ListOutput, aged, locked};
use crate::failure::{Failure, say};
use crate::show::age_json;
use crate::show::text::printable_text;

/// How an entry goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Looked at once more where nobody can exchange it.
    Strict,
    /// Unlinked by its name.
    Plain,
    /// Told and left.
    DryRun,
}

/// What goes, and what went.
#[derive(Debug)]
pub(super) struct Deleting<'a> {
    pub(super) way: Way,
    pub(super) selection: &'a Selection,
    pub(super) is_recursive: bool,
    pub(super) now_ns: i64,
    pub(super) border: Option<Mutex<Border>>,
    /// Directories that are empty, and old themselves.
    pub(super) with_empty_directories: bool,
    pub(super) pace: Option<Pace>,
    pub(super) counts: &'a Counts,
    /// A private directory for each thread, made when it is first needed.
    private: Vec<Mutex<Private>>,
    has_said_plain: AtomicBool,
    /// Where these are made.
    top: Directory,
    top_path: Vec<u8>,
    pub(super) told: Mutex<Told>,
    /// Where a dry run's paths go as they are found, and whether each is a document.
    paths_to: Mutex<ListOutput>,
    pub(super) is_json: bool,
}

/// What went and what stayed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) deleted: AgeSums,
    pub(crate) kept: AgeSums,
    /// Marked by the sticky bit, or locked.
    pub(crate) spared: u64,
    /// Exchanged, or written to, between two looks: put back.
    pub(crate) put_back: u64,
    pub(crate) directories: u64,
}

/// At most so many deletions a second, by all threads together.
#[derive(Debug)]
pub(super) struct Pace {
    interval_ns: u64,
    next_ns: AtomicU64,
}

impl Pace {
    pub(super) fn new(per_second: f64) -> Self {
        Self { interval_ns: (1e9 / per_second) as u64, next_ns: AtomicU64::new(0) }
    }

    fn wait(&self) {
        let now = probe::clock_now().monotonic.0;
        let claim = |next: u64| Some(next.max(now) + self.interval_ns);
        let turn = self.next_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).unwrap_or(now);
        std::thread::sleep(Duration::from_nanos(turn.saturating_sub(now)));
    }
}

/// The directory that one thread moves entries to.
#[derive(Debug, Default)]
enum Private {
    #[default]
    Untried,
    Made(Directory),
    Refused,
}

/// What became of an entry.
enum Fate {
    Deleted,
    Spared,
    PutBack,
}

impl<'a> Deleting<'a> {
    pub(super) fn new(
        way: Way,
        selection: &'a Selection,
        top: Directory,
        top_path: &[u8],
        counts: &'a Counts,
    ) -> Self {
        let threads = rayon::current_num_threads().max(1);
        Self {
            way,
            selection,
            is_recursive: false,
            now_ns: 0,
            border: None,
            with_empty_directories: false,
            pace: None,
            counts,
            private: (0..threads).map(|_| Mutex::default()).collect(),
            has_said_plain: AtomicBool::new(false),
            top,
            top_path: top_path.to_vec(),
            told: Mutex::new(Told::default()),
            paths_to: Mutex::new(ListOutput::new()),
            is_json: false,
        }
    }

    /// Whether it is old, or among the oldest beyond the cap.
    fn claim(&self, file: &Aged) -> Option<Claim> {
        if self.selection.is_old(file, self.now_ns) {
            return Some(Claim::default());
        }
        locked(self.border.as_ref()?).claim(file)
    }

    /// It stayed: another goes for the cap.
    fn give_back(&self, claim: Claim) {
        if let Some(border) = &self.border {
            locked(border).give_back(claim);
        }
    }

    fn remove(&self, node: &Node, name: &CStr, status: &EntryStatus) -> io::Result<Fate> {
        let mut status = *status;
        if let Some(pace) = self.pace.as_ref().filter(|_| self.way != Way::DryRun) {
            pace.wait();
            // Much may have happened meanwhile.
            let now = node.directory.status(name, self.status_wanted())?;
            if !self.is_same(&status, &now) {
                return Ok(Fate::PutBack);
            }
            status = now;
        }
        // Whoever does not want to lose a file says so by its sticky bit or a lock.
        if status.is_sticky || status.kind == EntryKind::File && node.directory.is_file_locked(name) {
            return Ok(Fate::Spared);
        }
        if self.way == Way::DryRun {
            return Ok(Fate::Deleted);
        }
        if self.way == Way::Strict {
            let thread = rayon::current_thread_index().unwrap_or(0) % self.private.len();
            let mut private = locked(&self.private[thread]);
            if matches!(*private, Private::Untried) {
                *private = self.make_private(thread);
            }
            if let Private::Made(directory) = &*private {
                match self.remove_in_private(node, name, &status, directory, thread) {
                    Err(error) if cannot_move(&error) => self.say_plain(&error),
                    done => return done,
                }
            }
        }
        node.directory.unlink(name).map(|()| Fate::Deleted)
    }

    fn make_private(&self, thread: usize) -> Private {
        match self.top.make_private(&self.private_name(thread)) {
            Ok(directory) => Private::Made(directory),
            Err(error) => {
                self.say_plain(&error);
                Private::Refused
            }
        }
    }

    fn private_name(&self, thread: usize) -> CString {
        CString::new(private_name(thread, self.now_ns)).unwrap_or_default()
    }

    /// Said once.
    fn say_plain(&self, error: &io::Error) {
        if !self.has_said_plain.swap(true, Ordering::Relaxed) {
            let path = printable_text(&self.top_path);
            say(&format!(
                "whit: {path}: entries cannot be moved to a private directory there ({error}): some are unlinked by name\n"
            ));
        }
    }

    fn remove_in_private(
        &self,
        node: &Node,
        name: &CStr,
        status: &EntryStatus,
        private: &Directory,
        thread: usize,
    ) -> io::Result<Fate> {
        node.directory.move_to(name, private, name)?;
        let now = private.status(name, self.status_wanted());
        let removed = match now {
            Ok(now) if !self.is_same(status, &now) => Ok(Fate::PutBack),
            // Opening what is no file may do something.
            Ok(now) if now.is_sticky || now.kind == EntryKind::File && private.is_file_locked(name) => {
                Ok(Fate::Spared)
            }
            Ok(_) => private.unlink(name).map(|()| Fate::Deleted),
            Err(_) => Ok(Fate::PutBack),
        };
        if matches!(removed, Ok(Fate::Deleted)) {
            return removed;
        }
        private.move_to(name, &node.directory, name).map_err(|error| {
            let top = printable_text(&self.top_path);
            let kept = format!("{top}/{}", private_name(thread, self.now_ns));
            // Not of the error's own kind: that something is gone is no news, and this is.
            io::Error::other(format!("it was exchanged meanwhile and is kept in {kept}: {error}"))
        })?;
        removed
    }

    /// Whether it is what was looked at, and nobody has written to it since. Moving it has changed its ctime.
    fn is_same(&self, then: &EntryStatus, now: &EntryStatus) -> bool {
        let identity = |status: &EntryStatus| (status.kind, status.device, status.inode, status.bytes);
        identity(then) == identity(now)
            && then.times.modified_ns == now.times.modified_ns
            && (!self.selection.by.accessed || then.times.accessed_ns == now.times.accessed_ns)
    }

    fn status_wanted(&self) -> StatusWanted {
        StatusWanted { times: AgeBy { modified: true, ..self.selection.by }, owner: true, identity: true }
    }

    /// Takes the private directories away again.
    ///
    /// # Errors
    /// Where a dry run's paths could not be written.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        for (thread, private) in self.private.iter().enumerate() {
            if let Private::Made(_) = std::mem::take(&mut *locked(private)) {
                let name = self.private_name(thread);
                match self.top.remove_directory(&name) {
                    // What is kept there has been named.
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                    Err(error) => {
                        let path = [&self.top_path[..], b"/", name.to_bytes()].concat();
                        self.counts.fail("cannot remove", &path, &error);
                    }
                    Ok(()) => {}
                }
            }
        }
        locked(&self.paths_to).failure.take().map_or(Ok(()), Err)
    }

    /// Removes a directory that was old before anything in it was deleted, and is the same still. No call removes one that is
    /// not empty.
    fn remove_directory(&self, node: &Node, parent: &Node) -> io::Result<()> {
        let is_leftover = is_private_name(node.name.to_bytes());
        let Some(then) = node.status.get().filter(|_| self.with_empty_directories || is_leftover) else {
            return Ok(());
        };
        let selection = self.selection;
        let is_meant = || {
            let is_owners = selection.owner.is_none() || selection.owner == then.uid;
            let is_named = selection.may_take(node.name.to_bytes(), EntryKind::Unknown);
            let is_kept = selection.keeps_first_level && parent.depth == 0
                || !selection.spared.is_empty() && selection.spares(&node.path(None));
            is_owners
                && is_named
                && !is_kept
                && !then.is_sticky
                && selection.is_old(&aged(selection.by, then), self.now_ns)
        };
        // Of a leftover its maker may have come back under the same name.
        if if is_leftover { node.directory.is_locked() } else { !is_meant() } {
            return Ok(());
        }
        let now = parent.directory.status(&node.name, self.status_wanted())?;
        if (now.device, now.inode) == (then.device, then.inode) {
            parent.directory.remove_directory(&node.name)?;
            locked(&self.told).directories += 1;
        }
        Ok(())
    }
}

/// A filesystem that cannot move without replacing, or another than the top's.
fn cannot_move(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, InvalidInput, Unsupported};
    matches!(error.kind(), InvalidInput | Unsupported | CrossesDevices)
}

#[derive(Debug, Default)]
pub(super) struct LocalTold {
    told: Told,
    /// Lines of a dry run.
    paths: Vec<u8>,
}

impl Visitor for Deleting<'_> {
    type Local = LocalTold;

    fn wanted(&self) -> Option<StatusWanted> {
        Some(self.status_wanted())
    }

    fn enters(&self, node: &Node) -> bool {
        // Before deleting changes it.
        if let Ok(status) = node.directory.own_status(self.status_wanted()) {
            let _ = node.status.set(status);
        }
        // What only looks like a run's own is entered where all directories are.
        let is_leftover = is_private_name(node.name.to_bytes()) && node.depth > 0;
        let is_own = node.status.get().is_some_and(EntryStatus::is_own_and_private);
        (self.is_recursive || !is_leftover || is_own) && !node.directory.is_locked()
    }

    fn leave(&self, node: &Node) {
        let Some(parent) = node.parent.as_deref().filter(|_| self.way != Way::DryRun) else { return };
        match self.remove_directory(node, parent) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                self.counts.fail("cannot remove", &node.path(None), &error);
            }
            _ => {}
        }
    }

    fn visit(&self, local: &mut LocalTold, node: &Arc<Node>, name: &CStr, status: Option<&EntryStatus>) {
        let Some(status) = status else { return };
        let told = &mut local.told;
        let file = aged(self.selection.by, status);
        // A directory goes when it has been left, and if that was asked for.
        let is_directory = status.kind == EntryKind::Directory;
        let Some(claim) = (!is_directory).then(|| self.claim(&file)).flatten() else {
            told.kept.add(&file, self.now_ns);
            return;
        };
        match self.remove(node, name, status) {
            Ok(Fate::Deleted) => {
                told.deleted.add(&file, self.now_ns);
                if self.way == Way::DryRun {
                    let path = node.path(Some(name));
                    match self.is_json {
                        true => age_json::push_path(&mut local.paths, &path),
                        false => local.paths.extend_from_slice(&path),
                    }
                    local.paths.push(b'\n');
                }
            }
            Ok(fate) => {
                self.give_back(claim);
                told.kept.add(&file, self.now_ns);
                match fate {
                    Fate::PutBack => told.put_back += 1,
                    _ => told.spared += 1,
                }
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.give_back(claim);
                    told.kept.add(&file, self.now_ns);
                }
                self.counts.fail("cannot delete", &node.path(Some(name)), &error);
            }
        }
    }

    fn merge(&self, local: LocalTold) {
        let mut told = locked(&self.told);
        told.deleted.merge(&local.told.deleted);
        told.kept.merge(&local.told.kept);
        told.spared += local.told.spared;
        told.put_back += local.told.put_back;
        drop(told);
        if !local.paths.is_empty() {
            locked(&self.paths_to).write(&local.paths);
        }
    }
}
