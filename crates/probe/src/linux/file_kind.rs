//! What a system call waits for, by the file that it is about, as far as /proc says.

use facts::cursor::field;
use facts::linux::pid_mountinfo;
use facts::linux::pid_syscall::{PidSyscall, kind_of_link};
use facts::task::wait::{FileKind, Wait};

use super::files::Buffer;
use super::system_calls::MACHINE;
use crate::roots::{Identity, MachineDirectory};

/// Returns what a system call of a process waits for; `None` if it runs, or the numbers of the machine's system calls are not known.
pub(super) fn wait_of_call(
    root: &MachineDirectory,
    buffer: &mut Buffer,
    pid: u32,
    call: PidSyscall,
) -> Option<Wait> {
    let file = call.descriptor().map(|descriptor| kind_of_descriptor(root, buffer, pid, descriptor));
    call.wait(MACHINE, file.unwrap_or(FileKind::Unknown))
}

/// Returns the kind of a descriptor's file, by its link: proc_pid_fd(5). A path says less than the file that it is of, which may be a pipe
/// with a name, or lie on a filesystem that others serve.
fn kind_of_descriptor(root: &MachineDirectory, buffer: &mut Buffer, pid: u32, descriptor: u32) -> FileKind {
    let path = format!("proc/{pid}/fd/{descriptor}");
    match root.link_at(&path).map_or(FileKind::Unknown, |target| kind_of_link(&target)) {
        FileKind::Path if root.identity_at(&path).is_ok_and(Identity::is_pipe) => FileKind::Pipe,
        FileKind::Path => kind_by_mount(root, buffer, pid, descriptor).unwrap_or(FileKind::Path),
        kind => kind,
    }
}

/// `None` if the process does not see the mount, as if it was handed a file from another namespace.
fn kind_by_mount(
    root: &MachineDirectory,
    buffer: &mut Buffer,
    pid: u32,
    descriptor: u32,
) -> Option<FileKind> {
    let description = buffer.read_once(root, &format!("proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let mount = field(description, b"mnt_id:")?.number()?;
    let mounts = buffer.read_once(root, &format!("proc/{pid}/mountinfo")).ok()?;
    pid_mountinfo::filesystem(mounts, mount).map(pid_mountinfo::kind_of_file)
}
