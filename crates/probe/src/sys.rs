//! Every `unsafe` block of the tree is here and, for what one system alone has, in the files below: system calls that rustix
//! does not wrap, and clocks, whose address rustix takes from the auxiliary vector in a way that fails under valgrind, where
//! whit's instructions are counted.

#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", feature = "bpf"))]
mod bpf;
#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod spawn;

#[cfg(all(target_os = "linux", feature = "bpf"))]
pub(crate) use bpf::*;
#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "linux")]
pub(crate) use spawn::spawn;

use std::ffi::{CStr, CString};
use std::io;
use std::mem;

use facts::unit::Nanos;
use rustix::fd::BorrowedFd;

/// The clock that stands still while the machine sleeps, and the one that goes on.
#[cfg(not(target_os = "freebsd"))]
pub(crate) const CLOCKS_SINCE_BOOT: [libc::clockid_t; 2] = [libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME];
/// FreeBSD's own names for them: clock_gettime(2). Before FreeBSD 15 both may stand still during a suspend, which then is
/// no gap.
#[cfg(target_os = "freebsd")]
pub(crate) const CLOCKS_SINCE_BOOT: [libc::clockid_t; 2] = [libc::CLOCK_UPTIME, libc::CLOCK_MONOTONIC];

/// The clock of file times.
#[cfg(target_os = "linux")]
pub(crate) const FILE_CLOCK: libc::clockid_t = libc::CLOCK_REALTIME_COARSE;
/// vfs.timestamp_precision chooses it; at worst it goes by seconds.
#[cfg(target_os = "freebsd")]
pub(crate) const FILE_CLOCK: libc::clockid_t = libc::CLOCK_SECOND;

/// clock_gettime(2): a clock that this kernel has (the youngest that whit asks for came with 2.6.39).
pub(crate) fn clock(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that outlives the call. An unknown clock leaves it as it is.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Nanos(seconds.saturating_mul(Nanos::SECOND.0).saturating_add(time.tv_nsec as u64))
}

#[cfg(target_os = "linux")]
/// sysconf(3): a limit or option of this system; `None` if it has none.
pub(crate) fn system_constant(name: libc::c_int) -> Option<u64> {
    // SAFETY: takes a number and returns one; it touches no memory of ours.
    let value = unsafe { libc::sysconf(name) };
    u64::try_from(value).ok()
}

/// signal(2): gives a signal its default action back, which the process that started whit may have changed (an ignored SIGCHLD
/// reaps children before they can be waited for).
pub(crate) fn default_action(signal: i32) {
    // SAFETY: SIG_DFL is no function; no handler of ours runs.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// sigaction(2): whether a signal is ignored.
pub(crate) fn is_ignored(signal: i32) -> bool {
    // SAFETY: sigaction is a plain C struct, which the call fills; none is set.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// pthread_sigmask(3): blocks these signals for this thread and those it will make. A child inherits what is blocked,
/// unless it is started by [`spawn()`]. Also which of them were not blocked before.
pub(crate) fn block_signals(signals: &[i32]) -> io::Result<(libc::sigset_t, Vec<i32>)> {
    // SAFETY: sigset_t is a plain C struct; sigemptyset makes it valid before anything else reads it.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: `set` is valid for writes during these calls.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: as above; an invalid number is refused with an error.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    // SAFETY: as above; the call fills it.
    let mut before: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: both sets were initialised above and outlive the call.
    match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before) } {
        0 => {
            // SAFETY: `before` is a valid set, which the call reads.
            let was_free = |signal: &&i32| unsafe { libc::sigismember(&raw const before, **signal) == 0 };
            Ok((set, signals.iter().filter(was_free).copied().collect()))
        }
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// pthread_sigmask(3): lets these signals through again, for this thread.
pub(crate) fn unblock_signals(signals: &[i32]) {
    // SAFETY: sigset_t is a plain C struct; sigemptyset makes it valid before anything else reads it.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// A policy of sched(7) for tasks without a deadline.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FairPolicy {
    Other,
    Batch,
}

/// sched_setattr(2): sets policy and slice of this thread, as far as the kernel permits it; `None` is the kernel's own slice. One with
/// another kind of policy is left alone.
#[cfg(target_os = "linux")]
pub(crate) fn schedule_fairly(policy: FairPolicy, slice_ns: Option<u64>) {
    let is_fair = |policy: u32| {
        [libc::SCHED_OTHER, libc::SCHED_BATCH].iter().any(|fair| fair.cast_unsigned() == policy)
    };
    // SAFETY: sched_attr is a plain C struct. The kernel gets its size, and reads and writes no more than that.
    unsafe {
        let mut attributes: libc::sched_attr = mem::zeroed();
        let size = mem::size_of_val(&attributes);
        let read = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0);
        if read != 0 || !is_fair(attributes.sched_policy) {
            return;
        }
        let policy = if policy == FairPolicy::Batch { libc::SCHED_BATCH } else { libc::SCHED_OTHER };
        attributes.sched_policy = policy.cast_unsigned();
        attributes.sched_runtime = slice_ns.unwrap_or(0);
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
    }
}

/// kill(2): sends a signal to a process; to the own group where `pid` is 0.
pub(crate) fn send_signal(pid: libc::pid_t, signal: i32) {
    // SAFETY: takes numbers. No handler of ours runs: whit sets none.
    unsafe { libc::kill(pid, signal) };
}

/// A command to be started.
pub(crate) struct SpawnRequest<'a> {
    /// Paths that are tried one after the other.
    pub(crate) programs: &'a [CString],
    pub(crate) words: &'a [CString],
    pub(crate) environment: &'a [&'a CStr],
    /// Standard input, output and error; none: whit's own.
    pub(crate) streams: [Option<BorrowedFd<'a>>; 3],
    pub(crate) directory: Option<&'a CStr>,
    pub(crate) group: Group,
    /// The user that it runs as; none: whit's own user.
    #[cfg_attr(target_os = "freebsd", allow(dead_code))]
    pub(crate) user: Option<&'a UserIds>,
    /// Resources by their numbers, and the limit of each, soft and hard.
    pub(crate) limits: &'a [(u32, u64)],
    /// Open in the command, too.
    pub(crate) kept: Option<BorrowedFd<'a>>,
    /// Written to by the child, to move itself there.
    #[cfg_attr(target_os = "freebsd", allow(dead_code))]
    pub(crate) cgroup: Option<BorrowedFd<'a>>,
    /// Linux only.
    #[cfg_attr(target_os = "freebsd", allow(dead_code))]
    pub(crate) dies_with_parent: bool,
}

/// A user, as processes have one: credentials(7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserIds {
    /// The user's number.
    pub uid: u32,
    /// That of the main group.
    pub gid: u32,
    /// The numbers of the other groups.
    pub groups: Vec<u32>,
}

/// Where a command stands among processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// In whit's own group: what the terminal sends reaches both.
    #[default]
    Inherited,
    /// It leads a group.
    Own,
    /// It leads a session, without a terminal.
    Session,
}

/// A datagram that was taken off a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Bytes.
    pub length: usize,
    /// The sender, where the socket's family says so.
    pub sender: Option<std::net::SocketAddr>,
}

/// A child that ended and was reaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    /// As wait(2) gives it.
    pub(crate) status: i32,
    /// Its own, and that of the children it waited for.
    pub(crate) usage: libc::rusage,
}

/// waitid(2): a child that has ended and was not reaped, whichever it is; `None` if there is none.
pub(crate) fn next_ended() -> Option<i32> {
    // SAFETY: siginfo_t is a plain C struct; its zeros are no process.
    let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the pointer is to a local that outlives the call.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) };
    // SAFETY: waitid fills in the fields of SIGCHLD, of which this is one, or leaves zeros.
    let pid = unsafe { info.si_pid() };
    (result == 0 && pid > 0).then_some(pid)
}

/// wait4(2): reaps a child that has ended, whichever it is, without waiting for one; `None` if none has.
pub(crate) fn reap_any() -> Option<Reaped> {
    wait4(-1, libc::WNOHANG)
}

/// wait4(2): the same for one child.
pub(crate) fn reap_ended(pid: i32) -> Option<Reaped> {
    wait4(pid, libc::WNOHANG)
}

/// wait4(2): waits for this child to end, and reaps it; `None` if it is not a child.
pub(crate) fn reap(pid: i32) -> Option<Reaped> {
    loop {
        match wait4(pid, 0) {
            None if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            reaped => return reaped,
        }
    }
}

fn wait4(pid: i32, options: libc::c_int) -> Option<Reaped> {
    let mut status = 0;
    // SAFETY: rusage is a plain C struct of numbers.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: both pointers are to locals that outlive the call.
    let pid = unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) };
    (pid > 0).then_some(Reaped { pid, status, usage })
}

/// getrusage(2) of this process.
pub(crate) fn own_usage() -> libc::rusage {
    // SAFETY: rusage is a plain C struct of numbers.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a local that outlives the call, which cannot fail with these arguments.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage
}

/// setsockopt(2) for an option that is a number.
pub(crate) fn set_socket_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    use rustix::fd::AsRawFd;
    let (pointer, length) = (&raw const value, mem::size_of_val(&value) as libc::socklen_t);
    // SAFETY: the pointer and the length describe `value`, which outlives the call; the kernel only reads it.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, pointer.cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
