//! /proc/self/mounts: what is mounted where. fstab(5), proc_pid_mounts(5).

use crate::cursor::{Malformed, lines};

/// One mount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// `/dev/sda1`, `server:/export`, `tmpfs`.
    pub source: Vec<u8>,
    /// Where, with the kernel's octal escapes undone.
    pub target: Vec<u8>,
    /// `ext4`.
    pub filesystem: Vec<u8>,
    /// `rw,relatime`; of a v1 cgroup mount its controllers are among them.
    pub options: Vec<u8>,
}

impl Mount {
    /// Returns true if `option` is one of its comma-separated options.
    pub fn has_option(&self, option: &[u8]) -> bool {
        self.options.split(|byte| *byte == b',').any(|known| known == option)
    }

    /// Returns true if it stores files on a device or another machine, rather than showing the kernel's state or memory.
    pub fn is_storage(&self) -> bool {
        self.can_hang()
            || self.source.starts_with(b"/dev/")
            || matches!(self.filesystem.as_slice(), b"zfs" | b"btrfs")
    }

    /// Returns true if a call on it can wait for another machine or process, and so for ever.
    pub fn can_hang(&self) -> bool {
        const REMOTE: [&[u8]; 17] = [
            b"nfs",
            b"nfs4",
            b"cifs",
            b"smb3",
            b"smbfs",
            b"9p",
            b"ceph",
            b"afs",
            b"glusterfs",
            b"lustre",
            b"ncpfs",
            b"virtiofs",
            b"autofs",
            b"davfs",
            b"coda",
            b"orangefs",
            b"beegfs",
        ];
        REMOTE.contains(&self.filesystem.as_slice()) || self.filesystem.starts_with(b"fuse")
    }
}

/// Fills `mounts` from the bytes of /proc/self/mounts.
///
/// # Errors
/// If a line has fewer than four words.
pub fn parse(bytes: &[u8], mounts: &mut Vec<Mount>) -> Result<(), Malformed> {
    mounts.clear();
    for mut line in lines(bytes) {
        let mut word =
            |expected| line.word().map(|word| unescaped(word).collect()).ok_or(line.expected(expected));
        let source = word("what is mounted")?;
        let target = word("where it is mounted")?;
        let filesystem = word("a filesystem")?;
        let options = word("mount options")?;
        mounts.push(Mount { source, target, filesystem, options });
    }
    Ok(())
}

/// Undoes `\040` and its like.
pub fn unescaped(word: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (&first, after) = rest.split_first()?;
        match rest {
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', after @ ..] => {
                rest = after;
                Some((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'))
            }
            _ => {
                rest = after;
                Some(first)
            }
        }
    })
}

/// Returns true if /proc, by the bytes of /proc/self/mounts, keeps other users' processes from members of these groups: its options
/// hidepid and gid, proc(5).
pub fn hides_processes(bytes: &[u8], groups: &[u32]) -> bool {
    let mut mounts = Vec::new();
    // Of a line that is malformed, and of what follows it, nothing is known.
    if parse(bytes, &mut mounts).is_err() {
        return true;
    }
    let mut procs = mounts.iter().filter(|mount| mount.filesystem == b"proc" && mount.target == b"/proc");
    // The last covers those before it.
    let Some(proc) = procs.next_back() else { return false };
    let value = |name: &[u8]| {
        let mut options = proc.options.split(|byte| *byte == b',');
        options.find_map(|option| option.strip_prefix(name))
    };
    let is_exempt =
        value(b"gid=").is_some_and(|gid| groups.iter().any(|group| group.to_string().as_bytes() == gid));
    value(b"hidepid=").is_some_and(|hidden| hidden != b"0" && hidden != b"off") && !is_exempt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_names_are_escaped_in_octal() {
        let mut mounts = Vec::new();
        parse(b"/dev/sda1 /mnt/two\\040words ext4 rw 0 0\nhost:/x /n\\9 nfs4 rw 0 0\n", &mut mounts).unwrap();
        assert_eq!(mounts[0].target, b"/mnt/two words");
        assert!(!mounts[0].can_hang());
        assert_eq!(mounts[1].target, b"/n\\9");
        assert!(mounts[1].can_hang());
    }

    #[test]
    fn processes_are_hidden_by_the_mount_on_top() {
        let hides = |text: &str| hides_processes(text.as_bytes(), &[4, 100]);
        assert!(!hides("proc /proc proc rw,nosuid 0 0\n"));
        assert!(!hides("proc /proc proc rw,hidepid=0 0 0\nproc /x/proc proc rw,hidepid=2 0 0\n"));
        assert!(hides("proc /proc proc rw 0 0\nproc /proc proc rw,hidepid=invisible 0 0\n"));
        assert!(hides("proc /proc proc rw,gid=10,hidepid=2 0 0\n"));
        assert!(!hides("proc /proc proc rw,gid=100,hidepid=2 0 0\n"));
        assert!(!hides(""));
    }
}
