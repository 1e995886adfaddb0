//! Every `unsafe` block of the tree is here and in the two files below, one for what each system alone has: system calls that rustix does not wrap, and what it takes from the auxiliary vector
//! by a way that does not work under valgrind, where whit's instructions are counted.

#![allow(unsafe_code)]

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

use std::ffi::CString;
use std::io;
use std::mem;

use facts::unit::Nanos;
use rustix::fd::{AsRawFd, BorrowedFd};

/// The clock that stands still while the machine sleeps, and the one that goes on.
#[cfg(not(target_os = "freebsd"))]
pub(crate) const CLOCKS_SINCE_BOOT: [libc::clockid_t; 2] = [libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME];
/// FreeBSD's own names for them: clock_gettime(2). Before FreeBSD 15 both may stand still during a suspend, which then is
/// no gap.
#[cfg(target_os = "freebsd")]
pub(crate) const CLOCKS_SINCE_BOOT: [libc::clockid_t; 2] = [libc::CLOCK_UPTIME, libc::CLOCK_MONOTONIC];

/// clock_gettime(2): a clock that this kernel has (the youngest that whit asks for came with 2.6.39).
pub(crate) fn clock(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that outlives the call. An unknown clock leaves it as it is.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Nanos(seconds.saturating_mul(Nanos::SECOND.0).saturating_add(time.tv_nsec as u64))
}

/// sysconf(3): a limit or option of this system; none where it has none.
pub(crate) fn system_constant(name: libc::c_int) -> Option<u64> {
    // SAFETY: takes a number and returns one; it touches no memory of ours.
    let value = unsafe { libc::sysconf(name) };
    u64::try_from(value).ok()
}

/// signal(2): gives a signal its default action back, which whoever started whit may have taken (an ignored SIGCHLD
/// reaps children before they can be waited for).
pub(crate) fn default_action(signal: i32) {
    // SAFETY: SIG_DFL is no function; no handler of ours runs.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// pthread_sigmask(3): blocks these signals for this thread and those it will make. A child inherits what is blocked,
/// unless it is started by [`spawn`].
pub(crate) fn block_signals(signals: &[i32]) -> io::Result<libc::sigset_t> {
    // SAFETY: sigset_t is a plain C struct; sigemptyset makes it valid before anything else reads it.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: `set` is valid for writes during these calls.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: as above; an invalid number is refused with an error.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    // SAFETY: `set` was initialised above and outlives the call; no old mask is asked for.
    match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) } {
        0 => Ok(set),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// posix_spawnp(3): starts a command in a process group of its own, with no signal blocked and those that whit or
/// Rust's runtime ignore back to their default actions. The id of its process.
pub(crate) fn spawn(
    words: &[CString],
    environment: &[CString],
    input: BorrowedFd<'_>,
    output: BorrowedFd<'_>,
) -> io::Result<libc::pid_t> {
    let [program, ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let pointers = |strings: &[CString]| -> Vec<*mut libc::c_char> {
        let pointers = strings.iter().map(|string| string.as_ptr().cast_mut());
        pointers.chain([std::ptr::null_mut()]).collect()
    };
    let (words, environment) = (pointers(words), pointers(environment));
    let flags = libc::POSIX_SPAWN_SETPGROUP | libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
    let mut attributes = mem::MaybeUninit::uninit();
    let mut actions = mem::MaybeUninit::uninit();
    let mut pid = 0;
    // SAFETY: both structs are initialised before anything else touches them, and destroyed once. The vectors hold
    // pointers to strings that outlive the call and end with a null pointer; posix_spawnp changes none of them. The
    // descriptors are open for the call. `none` is made valid by sigemptyset before it is read.
    let result = unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        let mut restored: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigemptyset(&raw mut restored);
        for signal in [libc::SIGPIPE, libc::SIGCHLD, libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(&raw mut restored, signal);
        }
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags as libc::c_short);
        libc::posix_spawnattr_setpgroup(attributes.as_mut_ptr(), 0);
        libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), &raw const none);
        libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), &raw const restored);
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), input.as_raw_fd(), 0);
        libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), output.as_raw_fd(), 1);
        let result = libc::posix_spawnp(
            &raw mut pid,
            program.as_ptr(),
            actions.as_ptr(),
            attributes.as_ptr(),
            words.as_ptr(),
            environment.as_ptr(),
        );
        libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
        libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
        result
    };
    if result == 0 { Ok(pid) } else { Err(io::Error::from_raw_os_error(result)) }
}
