//! /proc/PID/mountinfo: the filesystem of a mount that a process sees. proc_pid_mountinfo(5), since Linux 2.6.26.

use crate::cursor::lines;
use crate::task::wait::FileKind;

/// Returns the name of the filesystem of a mount, whose number is that of `mnt_id:` in proc_pid_fdinfo(5), such as `ext4`.
pub fn filesystem(bytes: &[u8], mount: u64) -> Option<&[u8]> {
    let mut line = lines(bytes).find(|line| line.clone().number() == Some(mount))?;
    // Behind the options are fields of any number, which a hyphen ends.
    while line.word()? != b"-" {}
    line.word()
}

/// Returns the kind of a file of such a filesystem: as the kernel's programs tell it by the magic number of the superblock.
pub fn kind_of_file(filesystem: &[u8]) -> FileKind {
    match filesystem {
        b"fuse" | b"fuseblk" | b"virtiofs" => FileKind::UserspaceFilesystem,
        b"nfs" | b"nfs4" | b"cifs" | b"smb3" | b"9p" | b"ceph" | b"afs" => FileKind::RemoteFilesystem,
        _ if filesystem.starts_with(b"fuse.") => FileKind::UserspaceFilesystem,
        _ => FileKind::Path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_linux_6_18() {
        let text = b"22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n\
            220 22 0:52 / /mnt rw,nosuid shared:3 master:2 - fuse.sshfs a:/ rw,user_id=0\n\
            221 22 0:53 / /a\\040-\\040b rw - nfs4 server:/x rw\n";
        let kind = |mount| filesystem(text, mount).map(kind_of_file);
        assert_eq!(kind(22), Some(FileKind::Path));
        assert_eq!(kind(220), Some(FileKind::UserspaceFilesystem));
        assert_eq!(kind(221), Some(FileKind::RemoteFilesystem));
        assert_eq!(kind(2), None);
        for torn in [&b"22 1 254:0 / / rw,relatime"[..], b"22 1 254:0 / / rw - ", b"22"] {
            assert_eq!(filesystem(torn, 22), None);
        }
    }
}
