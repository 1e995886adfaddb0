//! Control of a task: signals and niceness, to the very task that is meant.

use facts::sample::Absence;
use facts::task::TaskKey;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal, setpriority_process,
};

use super::files::task_absence;
use super::tasks::procfs::Procfs;
use crate::roots::Roots;
pub use crate::signal::TaskSignal;

/// Sends a signal to a process, if it still is the one that is meant.
///
/// # Errors
/// If it is gone or belongs to another user.
pub fn send(key: TaskKey, signal: TaskSignal) -> Result<(), Absence> {
    send_to_process_of(key, key.pid, signal)
}

/// Sends a signal to a child of this process that has not been reaped: until then its pid is not reused.
///
/// # Errors
/// `Denied` if it has become another user's.
pub fn send_to_child(pid: u32, signal: TaskSignal) -> Result<(), Absence> {
    kill_process(pid_of(pid)?, native(signal)).map_err(task_absence)
}

/// Sends a signal to the process that a thread belongs to: signals are a process's.
///
/// # Errors
/// As above.
pub fn send_to_process_of(key: TaskKey, tgid: u32, signal: TaskSignal) -> Result<(), Absence> {
    let pid = pid_of(tgid)?;
    // Held by its descriptor first, looked at then: what the pid means cannot change any more.
    let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
        // Before 5.3, or in a sandbox: looked at first, and sent then, which is all that can be done.
        Err(Errno::NOSYS | Errno::PERM) => {
            check(key)?;
            return kill_process(pid, native(signal)).map_err(task_absence);
        }
        opened => opened.map_err(task_absence)?,
    };
    check(key)?;
    pidfd_send_signal(&descriptor, native(signal)).map_err(task_absence)
}

/// Changes the niceness of a process or thread.
///
/// # Errors
/// As above; less nice than it was needs CAP_SYS_NICE.
pub fn renice(key: TaskKey, nice: i8) -> Result<(), Absence> {
    let pid = pid_of(key.pid)?;
    check(key)?;
    setpriority_process(Some(pid), nice.into()).map_err(task_absence)
}

fn pid_of(id: u32) -> Result<Pid, Absence> {
    i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(Absence::Gone)
}

/// Checks that the pid still is this task.
fn check(key: TaskKey) -> Result<(), Absence> {
    let mut procfs = Procfs::open(Roots::live().open().map_err(|_| Absence::Unsupported)?);
    let stat = procfs.stat(key.pid)?;
    let found = TaskKey { pid: key.pid, start: procfs.start(&stat) };
    if found.is_same(&key) { Ok(()) } else { Err(Absence::Gone) }
}

pub(super) fn native(signal: TaskSignal) -> Signal {
    match signal {
        TaskSignal::Terminate => Signal::TERM,
        TaskSignal::Kill => Signal::KILL,
        TaskSignal::Interrupt => Signal::INT,
        TaskSignal::Hangup => Signal::HUP,
        TaskSignal::Quit => Signal::QUIT,
        TaskSignal::Stop => Signal::STOP,
        TaskSignal::Continue => Signal::CONT,
        TaskSignal::User1 => Signal::USR1,
        TaskSignal::User2 => Signal::USR2,
    }
}
