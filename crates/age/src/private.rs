//! Private directories: entries are moved there before they are deleted, so that no other user can exchange them.
//!
//! A private directory is created in the directory whose entries are moved. If the run is killed, the original place of an entry is
//! therefore known: the parent directory. A private directory exists only for one batch of entries.

use std::ffi::{CStr, CString};
use std::io;
use std::sync::Arc;

use probe::directory::{Directory, EntryStatus, Mounts, StatusWanted};

use super::node::Node;
use super::registry::{Identity, Registry, Slot};
use probe::random;

/// How the names of private directories begin; random digits follow, so that another user cannot create them beforehand.
const PREFIX: &[u8] = b".whit-age-";
/// Names that are tried. One is enough unless another user takes or exchanges it in the same moment.
const ATTEMPTS: u32 = 64;
/// The longest name that Linux allows, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Returns true if a directory is named as a private directory is; whit 0.1 used numbers instead of random digits.
pub(super) fn has_private_name(name: &CStr) -> bool {
    name.to_bytes().starts_with(PREFIX)
}

/// Why there is no private directory.
#[derive(Debug)]
pub(super) enum Refused {
    /// This user may not change the directory: nothing in it can be deleted.
    Denied(io::Error),
    /// Every attempt failed: the name was taken, or another user exchanged the new directory.
    Contested,
    /// The filesystem is full, for example.
    Impossible(io::Error),
}

/// An open private directory.
#[derive(Debug)]
pub(super) struct Private {
    node: Arc<Node>,
    name: CString,
    directory: Directory,
    slot: Option<Slot>,
}

impl Private {
    /// Makes one in this directory.
    pub(super) fn make(node: &Arc<Node>, registry: &Registry) -> Result<Self, Refused> {
        for _ in 0..ATTEMPTS {
            let name = [PREFIX, random::hex().as_bytes()].concat();
            let name = CString::new(name).map_err(|error| Refused::Impossible(error.into()))?;
            match node.directory.make_private(&name) {
                Ok(directory) => {
                    let status = directory.own_status(Identity::WANTED).ok();
                    let slot = status.and_then(|status| registry.register(&status));
                    return Ok(Self { node: Arc::clone(node), name, directory, slot });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if is_denied(&error) => return Err(Refused::Denied(error)),
                Err(error) => return Err(Refused::Impossible(error)),
            }
        }
        Err(Refused::Contested)
    }

    /// Moves an entry of the directory here.
    pub(super) fn take(&self, name: &CStr) -> io::Result<()> {
        self.node.directory.move_to(name, &self.directory, name)
    }

    pub(super) fn status(&self, name: &CStr, wanted: StatusWanted) -> io::Result<EntryStatus> {
        self.directory.status(name, wanted)
    }

    pub(super) fn is_file_locked(&self, name: &CStr) -> bool {
        self.directory.is_file_locked(name)
    }

    /// Deletes an entry that was moved here.
    pub(super) fn delete(&self, name: &CStr) -> io::Result<()> {
        self.directory.unlink(name)
    }

    /// Moves an entry back: under its name, or if that is taken by now, beside it. Returns the name in the second case.
    pub(super) fn put_back(&self, name: &CStr) -> io::Result<Option<CString>> {
        move_back(&self.directory, name, &self.node.directory)
    }

    /// The directory whose entries it takes.
    pub(super) fn node(&self) -> &Node {
        &self.node
    }

    /// The path, for people.
    pub(super) fn path(&self) -> Vec<u8> {
        self.node.path(Some(&self.name))
    }

    /// Removes it. What could not be put back stays in it, and the next run tries again.
    pub(super) fn close(mut self, registry: &Registry) -> io::Result<()> {
        match self.node.directory.remove_directory(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            // Renamed by another user, with what could not be put back: its record will prove that whit made it.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && !self.directory.is_empty().unwrap_or(false) =>
            {
                Ok(())
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => {
                self.slot.take().into_iter().for_each(|slot| registry.release(slot));
                Ok(())
            }
        }
    }
}

/// The outcome for a directory that looks like one of a run that was killed.
#[derive(Debug)]
pub(super) enum Leftover {
    /// The run lives, or it ended a moment ago.
    InUse,
    /// There is no proof that this user's whit made it: it stays as it is.
    Unproven,
    /// The files in it have been moved back; these are the names.
    Restored(Vec<CString>),
    /// Some of it could not be moved back and stays there; the names of the rest.
    Kept(Vec<CString>, io::Error),
}

/// Moves the entries that a killed run left in a private directory back to the parent directory. Deletes none of them: they may have
/// been exchanged before they were moved, and the next run finds the old ones in their original place.
pub(super) fn restore(node: &Node, name: &CStr, registry: &Registry, is_dry_run: bool) -> Leftover {
    // Another thread or another run may just be making it. Its lock is not tried, since the one that makes it could then fail to acquire it.
    if node
        .directory
        .status(name, Identity::WANTED)
        .is_ok_and(|status| registry.may_be_in_the_making(&status))
    {
        return Leftover::InUse;
    }
    let directory = match node.directory.open_below(name, Mounts::Left) {
        Ok(directory) => directory,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Leftover::InUse,
        Err(_) => return Leftover::Unproven,
    };
    if !directory.try_lock() {
        return Leftover::InUse;
    }
    let status = directory.own_status(Identity::WANTED).ok().filter(EntryStatus::is_own_and_private);
    let is_own = status.is_some();
    let Some(identity) = status.and_then(|status| Identity::of(&status)).filter(|id| registry.has(id)) else {
        // The run may have been killed before it recorded the directory. Only an empty one is removed, so nothing can be lost.
        let is_removed = is_own && !is_dry_run && node.directory.remove_directory(name).is_ok();
        return if is_removed { Leftover::Restored(Vec::new()) } else { Leftover::Unproven };
    };
    let mut names: Vec<CString> = Vec::new();
    let listed =
        directory.list(Vec::with_capacity(64 * 1024).spare_capacity_mut(), |name, _| names.push(name.into()));
    if let Err(error) = listed {
        return Leftover::Kept(Vec::new(), error);
    }
    if is_dry_run {
        return Leftover::Restored(names);
    }
    let (mut restored, mut first_error) = (Vec::new(), None);
    for name in names {
        match move_back(&directory, &name, &node.directory) {
            Ok(other) => restored.push(other.unwrap_or(name)),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match first_error.map_or_else(|| node.directory.remove_directory(name), Err) {
        Ok(()) => {
            registry.forget(&identity);
            Leftover::Restored(restored)
        }
        Err(error) => Leftover::Kept(restored, error),
    }
}

/// Moves an entry to `to` under its own name or, if that is taken, under another one, which is returned. Never replaces an entry.
fn move_back(from: &Directory, name: &CStr, to: &Directory) -> io::Result<Option<CString>> {
    match from.move_to(name, to, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        moved => return moved.map(|()| None),
    }
    for _ in 0..ATTEMPTS {
        let other = kept_name(name.to_bytes(), &random::hex())?;
        match from.move_to(name, to, &other) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            moved => return moved.map(|()| Some(other)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The name of an entry whose own is taken: shortened at its end if it would be too long.
fn kept_name(name: &[u8], random: &str) -> io::Result<CString> {
    let suffix = format!(".whit-kept-{random}");
    let most = MAX_NAME_BYTES - suffix.len();
    let start = &name[..name.len().min(most)];
    CString::new([start, suffix.as_bytes()].concat()).map_err(io::Error::other)
}

/// Returns true if the error means that entries of the directory cannot be deleted either.
fn is_denied(error: &io::Error) -> bool {
    use io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), NotFound | PermissionDenied | ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_name_is_no_longer_than_a_name_may_be() {
        let kept = |name: &[u8]| kept_name(name, "0123456789abcdef").unwrap();
        assert_eq!(kept(b"a").as_bytes(), b"a.whit-kept-0123456789abcdef");
        assert_eq!(kept(&[b'x'; 255]).as_bytes().len(), 255);
    }

    #[test]
    fn private_directories_are_known_by_their_name() {
        assert!(has_private_name(c".whit-age-0123456789abcdef") && has_private_name(c".whit-age-1-2-3"));
        assert!(!has_private_name(c".whit-ag") && !has_private_name(c"whit-age-1"));
    }
}
