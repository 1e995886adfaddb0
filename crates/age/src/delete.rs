//! Deleting what is old, and nothing else.
//!
//! Between a look at a file and unlinkat(2) its name may come to mean another file. So a strict deletion first moves the entry to
//! a private directory, looks at it again there, and then deletes it or puts it back.

use std::ffi::{CStr, CString};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use facts::age::{AgeBy, Aged, Border, Claim};
use facts::unit::Nanos;
use probe::directory::{EntryKind, EntryStatus, StatusWanted};

use super::listing::{EntryWriter, ListOutput};
use super::mutex::locked;
use super::node::Node;
use super::options::DeleteMode;
use super::pace::Pace;
use super::private::{self, Leftover, Private, Refused, has_private_name};
use super::registry::Registry;
use super::report::DeletionCounts;
use super::scan::{Counts, Visitor};
use super::selection::{Selection, aged};
use command::failure::{Failure, write_stderr};
use text::printable::printable_text;

/// The rules of a deletion, and its counts.
#[derive(Debug)]
pub(super) struct Deleting<'a> {
    pub(super) way: DeleteMode,
    pub(super) selection: &'a Selection,
    pub(super) now_ns: i64,
    pub(super) border: Option<Mutex<Border>>,
    /// Also delete directories that are old and empty.
    pub(super) with_empty_directories: bool,
    pub(super) pace: Option<Pace>,
    pub(super) counts: &'a Counts,
    pub(super) registry: &'a Registry,
    /// Strict deletion turned out to be impossible: nothing more is deleted.
    pub(super) is_stopped: AtomicBool,
    pub(super) tally: Mutex<DeletionCounts>,
    /// Nothing younger goes, whatever else is wanted.
    pub(super) keep_newer: Option<Nanos>,
    /// Where the paths of what goes are written as it goes,
    pub(super) paths_to: Mutex<ListOutput>,
    /// and how; `None`: they are not.
    pub(super) writer: Option<EntryWriter<'a>>,
}

/// The outcome of an entry.
enum EntryOutcome {
    Deleted,
    Sticky,
    Locked,
    PutBack,
    /// Put back under this name, since its own was taken.
    PutBackAs(CString),
    /// Not tried, because nothing can be deleted here; the reason was reported.
    Refused,
}

/// The state of one batch of a directory's entries.
#[derive(Debug, Default)]
pub(super) struct Batch {
    tally: DeletionCounts,
    /// Paths of what went.
    paths: Vec<u8>,
    /// Made for the first entry that is deleted; `Some(None)` if that is not possible.
    private: Option<Option<Private>>,
}

impl Deleting<'_> {
    /// Returns a claim on a file that is old, or among the oldest beyond the cap.
    fn claim(&self, file: &Aged) -> Option<Claim> {
        if self.is_spared(file) {
            return None;
        }
        if self.selection.is_old(file, self.now_ns) {
            return Some(Claim::default());
        }
        locked(self.border.as_ref()?).claim(file)
    }

    /// Returns true if the file is too young to be deleted. A file of unknown time counts as too young.
    fn is_spared(&self, file: &Aged) -> bool {
        self.keep_newer.is_some_and(|newer| file.time_ns.is_none() || !file.is_old(newer, self.now_ns))
    }

    /// It stayed: another goes for the cap.
    fn give_back(&self, claim: Claim) {
        if let Some(border) = &self.border {
            locked(border).give_back(claim);
        }
    }

    fn remove(
        &self,
        batch: &mut Batch,
        node: &Arc<Node>,
        name: &CStr,
        status: &EntryStatus,
    ) -> io::Result<EntryOutcome> {
        let mut status = *status;
        if self.is_stopped.load(Ordering::Relaxed) {
            return Ok(EntryOutcome::Refused);
        }
        if let Some(pace) = self.pace.as_ref().filter(|_| self.way != DeleteMode::DryRun) {
            pace.wait();
            // Much may have happened meanwhile.
            let now = node.directory.status(name, self.status_wanted())?;
            if !self.is_same(&status, &now) {
                return Ok(EntryOutcome::PutBack);
            }
            status = now;
        }
        // The sticky bit and locks are how a user says that a file must stay.
        if status.is_sticky {
            return Ok(EntryOutcome::Sticky);
        }
        if status.kind == EntryKind::File && node.directory.is_file_locked(name) {
            return Ok(EntryOutcome::Locked);
        }
        match self.way {
            DeleteMode::DryRun => Ok(EntryOutcome::Deleted),
            DeleteMode::Plain => node.directory.unlink(name).map(|()| EntryOutcome::Deleted),
            DeleteMode::Strict => match batch.private.get_or_insert_with(|| self.make_private(node)) {
                Some(private) => self.remove_in(private, name, &status),
                None => Ok(EntryOutcome::Refused),
            },
        }
    }

    /// None if there can be none, which is reported: once for each batch.
    fn make_private(&self, node: &Arc<Node>) -> Option<Private> {
        match Private::make(node, self.registry) {
            Ok(private) => return Some(private),
            Err(Refused::Denied(error)) => self.counts.fail("cannot delete in", &node.path(None), &error),
            Err(Refused::Contested) => {
                let error =
                    io::Error::other("another user exchanges every private directory that whit makes there");
                self.counts.fail("cannot delete in", &node.path(None), &error);
            }
            Err(Refused::Impossible(error)) => self.stop(node, &error),
        }
        None
    }

    /// Strict deletion never turns into plain deletion by itself: what can be made to fail would not protect anything.
    fn stop(&self, node: &Node, error: &io::Error) {
        if !self.is_stopped.swap(true, Ordering::Relaxed) {
            let path = printable_text(&node.path(None));
            self.counts.failed(format!(
                "{path}: strict deletion is not possible: {error}. Nothing more is deleted. \
                 --delete=plain deletes by name, without a second look"
            ));
        }
    }

    fn remove_in(&self, private: &Private, name: &CStr, status: &EntryStatus) -> io::Result<EntryOutcome> {
        if let Err(error) = private.take(name) {
            if cannot_move(&error) {
                self.stop(private.node(), &error);
                return Ok(EntryOutcome::Refused);
            }
            return Err(error);
        }
        let fate = match private.status(name, self.status_wanted()) {
            Ok(now) if !self.is_same(status, &now) => EntryOutcome::PutBack,
            Ok(now) if now.is_sticky => EntryOutcome::Sticky,
            // Opening a device or FIFO can have side effects.
            Ok(now) if now.kind == EntryKind::File && private.is_file_locked(name) => EntryOutcome::Locked,
            Ok(_) => EntryOutcome::Deleted,
            Err(_) => EntryOutcome::PutBack,
        };
        let failure = match fate {
            EntryOutcome::Deleted => match private.delete(name) {
                Ok(()) => return Ok(fate),
                Err(error) => Some(error),
            },
            _ => None,
        };
        match (private.put_back(name), failure) {
            (Ok(None), None) => Ok(fate),
            (Ok(Some(other)), None) => Ok(EntryOutcome::PutBackAs(other)),
            (Ok(None), Some(error)) => Err(error),
            (Ok(Some(other)), Some(error)) => Err(io::Error::other(format!(
                "{error}; it is called {} now",
                printable_text(other.to_bytes())
            ))),
            // Not of the error's own kind: the file is not gone.
            (Err(error), _) => {
                let path = printable_text(&private.path());
                Err(io::Error::other(format!(
                    "it was exchanged and could not be put back ({error}): it is in {path}, and the next run tries again"
                )))
            }
        }
    }

    /// Returns true if it is the entry that was looked at, and nothing was written to it since. Moving it has changed its ctime.
    fn is_same(&self, then: &EntryStatus, now: &EntryStatus) -> bool {
        let identity = |status: &EntryStatus| (status.kind, status.device, status.inode, status.bytes);
        identity(then) == identity(now)
            && then.times.modified_ns == now.times.modified_ns
            && (!self.selection.by.accessed || then.times.accessed_ns == now.times.accessed_ns)
    }

    fn status_wanted(&self) -> StatusWanted {
        let times = self.selection.by.union(self.selection.directory_by());
        StatusWanted { times: AgeBy { modified: true, ..times }, owner: true, identity: true }
    }

    /// Removes a directory that was old before anything in it was deleted, and is the same still. No call removes one that is
    /// not empty.
    fn remove_directory(&self, node: &Node, parent: &Node) -> io::Result<()> {
        let Some(then) = node.status.get().filter(|_| self.with_empty_directories) else { return Ok(()) };
        let selection = self.selection;
        let is_owners = selection.owner.is_none() || selection.owner == then.uid;
        let is_named = selection.may_take(node.name.to_bytes(), EntryKind::Unknown);
        let is_kept =
            selection.keeps_first_level && parent.depth == 0 || selection.protects(|| node.path(None));
        let age = aged(selection.directory_by(), then);
        let is_in_range = selection.newer.is_none_or(|newer| selection.is_new(&age, newer, self.now_ns));
        let is_old = selection.is_old(&age, self.now_ns) && is_in_range && !self.is_spared(&age);
        if !is_owners || !is_named || is_kept || then.is_sticky || !is_old {
            return Ok(());
        }
        let now = parent.directory.status(&node.name, self.status_wanted())?;
        if (now.device, now.inode) == (then.device, then.inode) {
            parent.directory.remove_directory(&node.name)?;
            locked(&self.tally).directories += 1;
        }
        Ok(())
    }

    fn report_leftover(&self, node: &Node, name: &CStr, leftover: Leftover) {
        let path = printable_text(&node.path(Some(name)));
        let is_dry_run = self.way == DeleteMode::DryRun;
        let mut tally = locked(&self.tally);
        let (names, error) = match leftover {
            Leftover::InUse => return,
            Leftover::Unproven => {
                tally.unproven += 1;
                return write_stderr(&format!(
                    "whit: {path}: left alone: it is called as a killed run's directory is, but this user's whit has no \
                     record of having made it\n"
                ));
            }
            Leftover::Restored(names) => (names, None),
            Leftover::Kept(names, error) => (names, Some(error)),
        };
        tally.restored += names.len() as u64;
        let verb = if is_dry_run { "would be moved" } else { "was moved" };
        for name in names {
            let name = printable_text(&node.path(Some(&name)));
            write_stderr(&format!(
                "whit: {name}: {verb} back from {path}, where a run that was killed had it\n"
            ));
        }
        if let Some(error) = error {
            self.counts.fail("cannot move everything back from", &node.path(Some(name)), &error);
        }
    }

    /// The end of the walk.
    ///
    /// # Errors
    /// If the paths could not be written.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        locked(&self.paths_to).failure.take().map_or(Ok(()), Err)
    }
}

/// On a filesystem that cannot move without replacing.
fn cannot_move(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, Unsupported};
    matches!(error.kind(), InvalidInput | Unsupported)
}

impl Visitor for Deleting<'_> {
    type Local = Batch;

    fn wanted(&self) -> Option<StatusWanted> {
        Some(self.status_wanted())
    }

    fn sets_aside(&self, node: &Node, name: &CStr) -> bool {
        if !has_private_name(name) {
            return false;
        }
        self.report_leftover(
            node,
            name,
            private::restore(node, name, self.registry, self.way == DeleteMode::DryRun),
        );
        true
    }

    fn enters(&self, node: &Node) -> bool {
        // Before deleting changes it.
        if let Ok(status) = node.directory.own_status(self.status_wanted()) {
            let _ = node.status.set(status);
        }
        let is_locked = node.directory.is_locked();
        if is_locked {
            locked(&self.tally).locked_directories += 1;
        }
        !is_locked
    }

    fn leave(&self, node: &Node) {
        if self.way == DeleteMode::DryRun || self.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Some(parent) = node.parent.as_deref() else { return };
        match self.remove_directory(node, parent) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                self.counts.fail("cannot remove", &node.path(None), &error);
            }
            _ => {}
        }
    }

    fn visit(&self, batch: &mut Batch, node: &Arc<Node>, name: &CStr, status: Option<&EntryStatus>) {
        let Some(status) = status else { return };
        let file = aged(self.selection.by, status);
        // A directory goes when it has been left, and if that was asked for.
        let is_directory = status.kind == EntryKind::Directory;
        let Some(claim) = (!is_directory).then(|| self.claim(&file)).flatten() else {
            batch.tally.kept.add(&file, self.now_ns);
            return;
        };
        let fate = self.remove(batch, node, name, status);
        let tally = &mut batch.tally;
        if let Ok(EntryOutcome::Deleted) = fate {
            tally.deleted.add(&file, self.now_ns);
            if let Some(writer) = &self.writer {
                writer.push(&mut batch.paths, &node.path(Some(name)), &file);
            }
            return;
        }
        // Another program was faster: for the cap it is gone as well.
        if !matches!(&fate, Err(error) if error.kind() == io::ErrorKind::NotFound) {
            self.give_back(claim);
            tally.kept.add(&file, self.now_ns);
        }
        match fate {
            Ok(EntryOutcome::Deleted) => {}
            Ok(EntryOutcome::Sticky) => tally.sticky += 1,
            Ok(EntryOutcome::Locked) => tally.locked += 1,
            Ok(EntryOutcome::PutBack) => tally.put_back += 1,
            Ok(EntryOutcome::Refused) => tally.failed += 1,
            Ok(EntryOutcome::PutBackAs(other)) => {
                tally.put_back += 1;
                self.counts.failed(format!(
                    "{}: exchanged while it was looked at, twice: the younger file is kept, as {}",
                    printable_text(&node.path(Some(name))),
                    printable_text(&node.path(Some(&other)))
                ));
            }
            Err(error) => {
                tally.failed += u64::from(error.kind() != io::ErrorKind::NotFound);
                self.counts.fail("cannot delete", &node.path(Some(name)), &error);
            }
        }
    }

    fn merge(&self, batch: Batch) {
        if let Some(private) = batch.private.flatten() {
            let path = private.path();
            if let Err(error) = private.close(self.registry) {
                self.counts.fail("cannot remove", &path, &error);
            }
        }
        let mut tally = locked(&self.tally);
        tally.deleted.merge(&batch.tally.deleted);
        tally.kept.merge(&batch.tally.kept);
        tally.sticky += batch.tally.sticky;
        tally.locked += batch.tally.locked;
        tally.put_back += batch.tally.put_back;
        tally.failed += batch.tally.failed;
        drop(tally);
        if !batch.paths.is_empty() {
            locked(&self.paths_to).write(&batch.paths);
        }
    }
}
