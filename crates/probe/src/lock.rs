//! Advisory locks on whole files, flock(2): the same that flock(1) and shells take.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use facts::linux::locks::{Flock, flocks};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

/// How often /proc/locks is read until it shows who has a lock.
const MAX_READINGS: usize = 5;

/// A file that can be locked. Closing it gives the lock back, unless a command has inherited it.
#[derive(Debug)]
pub struct LockFile {
    file: OwnedFd,
    path: PathBuf,
    /// It is open for reading alone.
    is_read_only: bool,
    is_shared: bool,
}

/// How taking a lock ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is ours.
    Yes,
    /// Another process holds it, and the timeout is over.
    No,
}

impl LockFile {
    /// Opens a file, or a directory; a file that is not there is made, empty. It is open for reading alone, so that a command that
    /// inherits it cannot write to it.
    ///
    /// # Errors
    /// If it may not be opened.
    pub fn open(path: &Path, is_shared: bool) -> io::Result<Self> {
        // A FIFO must not hold whit up.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let mode = Mode::from_raw_mode(0o666);
        let file = match open(path, flags | OFlags::CREATE, mode) {
            // A directory cannot be made so, nor a file on a filesystem or in a directory that is read-only here.
            Err(Errno::ISDIR | Errno::ROFS | Errno::ACCESS) => open(path, flags, Mode::empty()),
            opened => opened,
        }?;
        Ok(Self { file, path: path.to_owned(), is_read_only: true, is_shared })
    }

    /// NFS locks exclusively only what is open for writing.
    fn reopen_for_writing(&mut self) -> io::Result<()> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        self.file = open(&self.path, flags, Mode::empty())?;
        self.is_read_only = false;
        Ok(())
    }

    /// Gives the lock back, also where other processes have inherited it.
    ///
    /// # Errors
    /// If the filesystem has no locks.
    pub fn release(&self) -> io::Result<()> {
        Ok(flock(&self.file, FlockOperation::Unlock)?)
    }

    fn operation(&self, is_blocking: bool) -> FlockOperation {
        match (self.is_shared, is_blocking) {
            (false, true) => FlockOperation::LockExclusive,
            (false, false) => FlockOperation::NonBlockingLockExclusive,
            (true, true) => FlockOperation::LockShared,
            (true, false) => FlockOperation::NonBlockingLockShared,
        }
    }

    /// Acquires the lock if it is free.
    ///
    /// # Errors
    /// If the filesystem has no locks.
    pub fn try_take(&mut self) -> io::Result<Taken> {
        loop {
            match flock(&self.file, self.operation(false)) {
                Ok(()) => return Ok(Taken::Yes),
                Err(Errno::WOULDBLOCK) => return Ok(Taken::No),
                Err(Errno::INTR) => {}
                Err(Errno::BADF) if self.is_read_only => self.reopen_for_writing()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for the lock: for so long, or without end. The kernel's own queue is waited in, so that no wake-up is lost.
    ///
    /// # Errors
    /// As above.
    pub fn take(&self, patience: Option<Duration>) -> io::Result<Taken> {
        let Some(patience) = patience else { return wait(self.file.as_fd(), self.operation(true)) };
        // The call has no time limit of its own; a thread waits, on the same open file. Where the time is over before it
        // is done it is left behind, for the end of this process to end.
        let (file, operation) = (self.file.try_clone()?, self.operation(true));
        let (sender, receiver) = channel();
        std::thread::Builder::new().name("lock".to_owned()).spawn(move || {
            // After the timeout the receiver is gone.
            let _ = sender.send(wait(file.as_fd(), operation));
        })?;
        match receiver.recv_timeout(patience) {
            Ok(taken) => taken,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(Taken::No),
        }
    }

    /// The processes that hold it, as far as /proc shows. /proc/locks contains the process that acquired it, which may have passed it
    /// on and ended since, so that its pid may belong to another process by now. A process is a holder if one of its open files has the
    /// lock.
    pub fn holders(&self) -> Vec<Holder> {
        let Ok(file) = fs::metadata(&self.path) else { return Vec::new() };
        let place = ((rustix::fs::major(file.dev()), rustix::fs::minor(file.dev())), file.ino());
        let is_it = |flock: &Flock| (flock.device, flock.inode) == place;
        let takers = || {
            let locks = fs::read("/proc/locks").unwrap_or_default();
            flocks(&locks).filter(is_it).map(|flock| flock.pid).collect::<Vec<u32>>()
        };
        // The kernel gives it in pieces: a lock that goes in between can hide another one.
        let takers =
            (0..MAX_READINGS).map(|_| takers()).find(|takers| !takers.is_empty()).unwrap_or_default();
        let has_it = |pid: &u32| open_locks(*pid).iter().any(is_it);
        if takers.iter().all(has_it) {
            return takers.into_iter().map(Holder::Has).collect();
        }
        // A shell that started whit has passed it on to whit as well; that is left out if others hold it.
        let (own, others): (Vec<u32>, Vec<u32>) =
            processes().filter(has_it).partition(|pid| *pid == std::process::id());
        let holders: Vec<Holder> =
            if others.is_empty() { own } else { others }.into_iter().map(Holder::Has).collect();
        if holders.is_empty() { takers.into_iter().map(Holder::Took).collect() } else { holders }
    }
}

/// A process that holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The process with this pid has the lock.
    Has(u32),
    /// The process with this pid acquired it; the present holder cannot be seen.
    Took(u32),
}

/// The locks that a process's open files have; `None` if it may not be looked at.
fn open_locks(pid: u32) -> Vec<Flock> {
    let files = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read(file.path()).ok());
    texts.flat_map(|text| flocks(&text).collect::<Vec<_>>()).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

impl AsFd for LockFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn wait(file: BorrowedFd<'_>, operation: FlockOperation) -> io::Result<Taken> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(Taken::Yes),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("whit-lock-{}-{name}", std::process::id()))
    }

    #[test]
    fn locks_exclude_and_the_time_is_over() {
        let path = path("exclude");
        let mut first = LockFile::open(&path, false).unwrap();
        let mut second = LockFile::open(&path, false).unwrap();
        assert_eq!(first.try_take().unwrap(), Taken::Yes);
        assert_eq!(second.try_take().unwrap(), Taken::No);
        assert_eq!(second.take(Some(Duration::from_millis(20))).unwrap(), Taken::No);
        if Path::new("/proc/locks").exists() {
            assert_eq!(second.holders(), [Holder::Has(std::process::id())]);
        }
        drop(first);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn readers_share() {
        let path = path("share");
        let mut locks = [true, true, false].map(|is_shared| LockFile::open(&path, is_shared).unwrap());
        let taken = locks.each_mut().map(|lock| lock.try_take().unwrap());
        assert_eq!(taken, [Taken::Yes, Taken::Yes, Taken::No]);
        fs::remove_file(path).unwrap();
    }
}
