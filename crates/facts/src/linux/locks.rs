//! /proc/locks, and the lines of it in /proc/PID/fdinfo: the holders of advisory locks on whole files. proc_locks(5).

use crate::cursor::{Cursor, lines};

/// A lock of flock(2) that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flock {
    /// The process that acquired it. Others may hold it now, since children inherit it.
    pub pid: u32,
    /// The device's numbers.
    pub device: (u32, u32),
    /// The file's number on it.
    pub inode: u64,
}

/// Whose a lock of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// An open file's, of flock(2): processes that inherit the file have it.
    Flock,
    /// A process's, of fcntl(2).
    Process,
    /// An open file's, of fcntl(2), F_OFD_SETLK.
    OpenFile,
}

/// A lock of a file: flock(2), fcntl(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLock {
    /// The number that a held lock shares with those who wait for it.
    pub number: u64,
    /// The process; `None` if the lock belongs to an open file (F_OFD_SETLK) or the process is not seen.
    pub pid: Option<u32>,
    /// The device's numbers.
    pub device: (u32, u32),
    /// The file's number on it.
    pub inode: u64,
    /// The first and the last byte.
    pub range: (u64, u64),
    /// Whose it is.
    pub kind: LockKind,
    /// The process waits for it.
    pub is_awaited: bool,
}

/// All locks that are held or awaited.
pub fn file_locks(bytes: &[u8]) -> impl Iterator<Item = FileLock> {
    lines(bytes).filter_map(file_lock)
}

/// `1: -> POSIX  ADVISORY  WRITE 6688 08:01:1234 0 EOF`; one that is held has no arrow.
fn file_lock(mut line: Cursor<'_>) -> Option<FileLock> {
    line.skip(b"lock:");
    line.skip_blanks();
    let number = line.number()?;
    line.skip(b":");
    let mut kind = line.word()?;
    let is_awaited = kind == b"->";
    if is_awaited {
        kind = line.word()?;
    }
    let kind = match kind {
        b"FLOCK" => LockKind::Flock,
        b"POSIX" => LockKind::Process,
        b"OFDLCK" => LockKind::OpenFile,
        _ => return None,
    };
    line.word()?;
    line.word()?;
    let pid = line.signed()?;
    line.skip_blanks();
    let mut hexadecimal = || u32::from_str_radix(std::str::from_utf8(line.until(b':')?).ok()?, 16).ok();
    let device = (hexadecimal()?, hexadecimal()?);
    let pid = u32::try_from(pid).ok().filter(|pid| *pid != 0);
    let inode = line.number()?;
    let range = (line.number().unwrap_or(0), line.number().unwrap_or(u64::MAX));
    Some(FileLock { number, pid, device, inode, range, kind, is_awaited })
}

/// All locks of flock(2) that are held. Waiting processes and other lines are left out.
pub fn flocks(bytes: &[u8]) -> impl Iterator<Item = Flock> {
    let held = file_locks(bytes).filter(|lock| lock.kind == LockKind::Flock && !lock.is_awaited);
    held.map(|lock| Flock { pid: lock.pid.unwrap_or(0), device: lock.device, inode: lock.inode })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_locks_are_listed() {
        let text = b"1: FLOCK  ADVISORY  WRITE 6688 08:01:1234 0 EOF\n\
            1: -> FLOCK  ADVISORY  WRITE 7000 08:01:1234 0 EOF\n\
            2: POSIX  ADVISORY  READ 5 fe:00:9 128 128\n\
            pos:\t0\nlock:\t1: FLOCK  ADVISORY  READ 12 00:2a:77 0 EOF\n3: FLOCK";
        let held: Vec<_> = flocks(text).map(|flock| (flock.pid, flock.device, flock.inode)).collect();
        assert_eq!(held, [(6688, (8, 1), 1234), (12, (0, 42), 77)]);
        let all: Vec<_> = file_locks(text).map(|lock| (lock.number, lock.pid, lock.is_awaited)).collect();
        assert_eq!(
            all,
            [(1, Some(6688), false), (1, Some(7000), true), (2, Some(5), false), (1, Some(12), false)]
        );
        let ofd = file_locks(b"4: OFDLCK ADVISORY  WRITE -1 00:2a:77 0 EOF\n").next().unwrap();
        assert_eq!((ofd.pid, ofd.device, ofd.inode), (None, (0, 42), 77));
        assert_eq!((ofd.range, ofd.kind), ((0, u64::MAX), LockKind::OpenFile));
    }
}
