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

/// All locks of flock(2) that are held. Waiting processes and other lines are left out.
pub fn flocks(bytes: &[u8]) -> impl Iterator<Item = Flock> {
    lines(bytes).filter_map(flock)
}

/// `1: FLOCK  ADVISORY  WRITE 6688 08:01:1234 0 EOF`, in fdinfo with `lock:` before it.
fn flock(mut line: Cursor<'_>) -> Option<Flock> {
    line.skip(b"lock:");
    // Its number; a waiting process has an arrow after it.
    line.word()?;
    if line.word()? != b"FLOCK" {
        return None;
    }
    line.word()?;
    line.word()?;
    let pid = u32::try_from(line.number()?).ok()?;
    line.skip_blanks();
    let mut hexadecimal = || u32::from_str_radix(std::str::from_utf8(line.until(b':')?).ok()?, 16).ok();
    let device = (hexadecimal()?, hexadecimal()?);
    Some(Flock { pid, device, inode: line.number()? })
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
    }
}
