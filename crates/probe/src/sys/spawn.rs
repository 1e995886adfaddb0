//! Starting a command on Linux: a child that shares whit's memory until it executes, as posix_spawn(3) makes one, and that can
//! also be given limits, a session and a descriptor. posix_spawn(3) costs the same, but it cannot set limits, nor the directory with every
//! C library.

use std::ffi::{CString, c_char, c_int, c_void};
use std::{io, mem, ptr};

use rustix::fd::AsRawFd;

use super::{Group, SpawnRequest, UserIds};

/// The child's own stack: system calls alone run on it.
const STACK_BYTES: usize = 16 * 1024;
/// The highest signal number of Linux, real-time signals included.
const LAST_SIGNAL: c_int = 64;

/// Everything that the child needs, made ready before there is one: it may not allocate.
struct Plan {
    programs: Vec<*const c_char>,
    words: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    streams: [c_int; 3],
    directory: *const c_char,
    group: Group,
    user: Option<UserIds>,
    limits: Vec<(u32, u64)>,
    kept: c_int,
    cgroup: c_int,
    dies_with_parent: bool,
    /// The step that the child was at.
    step: Step,
    /// The error of that step.
    error: c_int,
}

/// A step of a child before it is another program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Group,
    Limits,
    User,
    Directory,
    Streams,
    Execute,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Group => "cannot have a group or session of its own",
            Self::Limits => "cannot be given these limits",
            Self::User => "cannot become this user",
            Self::Directory => "cannot change to the directory",
            Self::Streams => "cannot be given its streams",
            Self::Execute => "cannot be executed",
        }
    }
}

/// clone(2) with CLONE_VM and CLONE_VFORK: starts a command with no signal blocked. The id of its process. Costs the same
/// whatever the size of whit's memory, of which nothing is copied.
pub(crate) fn spawn(request: &SpawnRequest<'_>) -> io::Result<libc::pid_t> {
    let strings = |strings: &[CString]| strings.iter().map(|string| string.as_ptr()).collect::<Vec<_>>();
    let ended =
        |strings: &[CString]| strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
    if request.words.is_empty() || request.programs.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut plan = Plan {
        programs: strings(request.programs),
        words: ended(request.words),
        environment: request.environment.iter().map(|one| one.as_ptr()).chain([ptr::null()]).collect(),
        streams: request.streams.map(|stream| stream.map_or(-1, |stream| stream.as_raw_fd())),
        directory: request.directory.map_or(ptr::null(), std::ffi::CStr::as_ptr),
        group: request.group,
        user: request.user.cloned(),
        limits: request.limits.to_vec(),
        kept: request.kept.map_or(-1, |kept| kept.as_raw_fd()),
        cgroup: request.cgroup.map_or(-1, |cgroup| cgroup.as_raw_fd()),
        dies_with_parent: request.dies_with_parent,
        step: Step::Execute,
        error: 0,
    };
    let mut stack = vec![0_u128; STACK_BYTES / mem::size_of::<u128>()];
    // SAFETY: sigset_t is a plain C struct, made valid by sigfillset before it is read. The child runs `run_child` on a
    // stack of its own, of which `top` is the upper end, aligned to 16 bytes; CLONE_VFORK keeps this thread from going on
    // until the child has executed or ended, so that stack, plan and the strings it points to outlive its use of them. No
    // signal can run a handler meanwhile, in either: all are blocked until the child has taken its handlers away.
    let pid = unsafe {
        let mut all: libc::sigset_t = mem::zeroed();
        let mut before: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let top = stack.as_mut_ptr().add(stack.len()).cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(run_child, top, flags, (&raw mut plan).cast());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        if pid < 0 { Err(error) } else { Ok(pid) }
    }?;
    // SAFETY: written by the child, which is done with it.
    let error = unsafe { ptr::read_volatile(&raw const plan.error) };
    if error == 0 {
        return Ok(pid);
    }
    // SAFETY: no status is asked for. The child has ended already; its pid is ours until it is waited for.
    unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
    // SAFETY: as above.
    let step = unsafe { ptr::read_volatile(&raw const plan.step) };
    let error = io::Error::from_raw_os_error(error);
    Err(match (step, request.directory) {
        (Step::Execute, _) => error,
        (Step::Directory, Some(directory)) => {
            io::Error::other(format!("cannot change to {}: {error}", directory.to_string_lossy()))
        }
        (step, _) => io::Error::other(format!("{}: {error}", step.name())),
    })
}

/// Prepares and executes. Only system calls: no allocation, no lock, no panic.
extern "C" fn run_child(plan: *mut c_void) -> c_int {
    // SAFETY: the pointer is to the plan of `spawn`, which waits; nothing else uses it. All pointers in it are to strings
    // or arrays that end with a null pointer and live as long.
    unsafe {
        let plan = &mut *plan.cast::<Plan>();
        if let Err(error) = prepare(plan) {
            plan.error = error;
            libc::_exit(127);
        }
        plan.error = execute(plan);
        libc::_exit(127)
    }
}

/// # Safety
/// As for [`run_child`].
unsafe fn prepare(plan: &mut Plan) -> Result<(), c_int> {
    let check = |result: c_int| if result < 0 { Err(errno()) } else { Ok(()) };
    // SAFETY: plain system calls on numbers and on pointers that the plan keeps alive.
    unsafe {
        // Ignored by Rust's runtime. Signals that the parent process has set to be ignored stay so (nohup, background jobs of a script).
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        // A handler of whit's must not run in the child, which shares its memory until it executes the program.
        for signal in 1..=LAST_SIGNAL {
            // Stays zero, which is SIG_DFL, for a number that libc keeps for itself.
            let mut action: libc::sigaction = mem::zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action);
            if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        if plan.cgroup >= 0 {
            // "0" is the process that writes it. Refused, it stays where it is.
            libc::write(plan.cgroup, c"0".as_ptr().cast(), 1);
        }
        plan.step = Step::Group;
        match plan.group {
            Group::Inherited => {}
            Group::Own => check(libc::setpgid(0, 0))?,
            Group::Session => check(libc::setsid())?,
        }
        plan.step = Step::Limits;
        for (resource, limit) in &plan.limits {
            let limit = libc::rlimit { rlim_cur: *limit as _, rlim_max: *limit as _ };
            check(libc::setrlimit(*resource as _, &raw const limit))?;
        }
        plan.step = Step::User;
        if let Some(user) = &plan.user {
            become_user(user)?;
        }
        // A change of the user takes it away.
        if plan.dies_with_parent {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        plan.step = Step::Directory;
        if !plan.directory.is_null() {
            check(libc::chdir(plan.directory))?;
        }
        plan.step = Step::Streams;
        for (number, stream) in (0..).zip(plan.streams) {
            match stream {
                -1 => {}
                stream if stream == number => check(libc::fcntl(stream, libc::F_SETFD, 0))?,
                stream => check(libc::dup2(stream, number))?,
            }
        }
        if plan.kept >= 0 {
            check(libc::fcntl(plan.kept, libc::F_SETFD, 0))?;
        }
        plan.step = Step::Execute;
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()))
    }
}

/// By system calls of the kernel's: those of the C library change every thread of the process that it believes to be in.
///
/// # Safety
/// As for [`run_child`].
unsafe fn become_user(user: &UserIds) -> Result<(), c_int> {
    // The plain names are those of 16-bit numbers where the kernel is as old as that.
    #[cfg(target_pointer_width = "64")]
    use libc::{SYS_setgroups as GROUPS, SYS_setresgid as GROUP, SYS_setresuid as USER};
    #[cfg(target_pointer_width = "32")]
    use libc::{SYS_setgroups32 as GROUPS, SYS_setresgid32 as GROUP, SYS_setresuid32 as USER};
    let check = |result: libc::c_long| if result < 0 { Err(errno()) } else { Ok(()) };
    // SAFETY: plain system calls on numbers, and on an array that the plan keeps alive.
    unsafe {
        check(libc::syscall(GROUPS, user.groups.len(), user.groups.as_ptr()))?;
        check(libc::syscall(GROUP, user.gid, user.gid, user.gid))?;
        check(libc::syscall(USER, user.uid, user.uid, user.uid))
    }
}

/// Tries one path after the other, as execvp(3) does; never a shell. Comes back with the error.
///
/// # Safety
/// As for [`run_child`].
unsafe fn execute(plan: &Plan) -> c_int {
    let mut error = libc::ENOENT;
    for program in &plan.programs {
        // SAFETY: the program is a string, the arrays end with null pointers; comes back only with an error.
        unsafe { libc::execve(*program, plan.words.as_ptr(), plan.environment.as_ptr()) };
        match errno() {
            libc::ENOENT | libc::ENOTDIR => {}
            // Somewhere else in the path it may be permitted.
            libc::EACCES => error = libc::EACCES,
            other => return other,
        }
    }
    error
}

fn errno() -> c_int {
    // SAFETY: the address of this thread's own errno.
    unsafe { *libc::__errno_location() }
}
