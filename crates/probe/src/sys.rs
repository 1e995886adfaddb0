//! Every `unsafe` block of the tree: system calls that rustix does not wrap, and what it takes from the auxiliary vector
//! by a way that does not work under valgrind, where whit's instructions are counted.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem;

use facts::unit::Nanos;
use rustix::fd::{AsRawFd, BorrowedFd};

/// The clock that stands still while the machine sleeps, and the one that goes on.
#[cfg(not(target_os = "freebsd"))]
pub(crate) const CLOCKS_SINCE_BOOT: [libc::clockid_t; 2] = [libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME];
/// FreeBSD's own names for them: clock_gettime(2).
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

#[cfg(target_os = "linux")]
pub(crate) use linux::*;

/// What Linux alone has.
#[cfg(target_os = "linux")]
mod linux {
    use std::{io, mem};

    use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

    use super::system_constant;

    /// madvise(2), MADV_POPULATE_WRITE (Linux 5.14): brings in the whole pages within `memory`. Where the kernel does not
    /// know it, or has no memory, the pages come when they are touched, as ever.
    pub(crate) fn populate<T>(memory: &mut [mem::MaybeUninit<T>]) {
        const AT_LEAST_PAGES: usize = 16;
        let Some(page) = system_constant(libc::_SC_PAGESIZE).and_then(|bytes| usize::try_from(bytes).ok())
        else {
            return;
        };
        let range = memory.as_mut_ptr_range();
        let start = (range.start as usize).next_multiple_of(page);
        let end = range.end as usize / page * page;
        if end.saturating_sub(start) >= AT_LEAST_PAGES * page {
            // SAFETY: the pages from `start` to `end` lie within memory that is borrowed mutably; the call changes none of
            // their content.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_POPULATE_WRITE) };
        }
    }

    /// Room for the datagrams of one [`receive_many`].
    pub(crate) struct Datagrams {
        memory: Box<[u8]>,
        datagram_bytes: usize,
        lengths: Vec<usize>,
        /// Datagrams of the last call that did not fit.
        pub(crate) cut: usize,
    }

    impl Datagrams {
        /// Room for `count` datagrams of at most `datagram_bytes` each.
        pub(crate) fn new(count: usize, datagram_bytes: usize) -> Self {
            Self {
                memory: vec![0; count * datagram_bytes].into(),
                datagram_bytes,
                lengths: Vec::with_capacity(count),
                cut: 0,
            }
        }

        /// What the last call received; a datagram that did not fit is left out.
        pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
            let chunks = self.memory.chunks_exact(self.datagram_bytes);
            chunks.zip(&self.lengths).filter_map(|(chunk, length)| chunk.get(..*length))
        }
    }

    /// recvmmsg(2): as many datagrams as wait, up to the room; waits for the first unless `flags` says not to.
    pub(crate) fn receive_many(
        socket: BorrowedFd<'_>,
        room: &mut Datagrams,
        flags: i32,
    ) -> io::Result<usize> {
        room.lengths.clear();
        room.cut = 0;
        const AT_MOST: usize = 64;
        let count = (room.memory.len() / room.datagram_bytes).min(AT_MOST);
        // SAFETY: iovec and mmsghdr are plain C structs for which all zeros is a valid value.
        let mut vectors: [libc::iovec; AT_MOST] = unsafe { mem::zeroed() };
        // SAFETY: as above.
        let mut headers: [libc::mmsghdr; AT_MOST] = unsafe { mem::zeroed() };
        for ((chunk, vector), header) in
            room.memory.chunks_exact_mut(room.datagram_bytes).zip(&mut vectors).zip(&mut headers)
        {
            *vector = libc::iovec { iov_base: chunk.as_mut_ptr().cast(), iov_len: chunk.len() };
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: `headers` holds `count` headers, each with one vector that points to memory which `room` owns, borrowed
        // mutably for the call; no address and no control data are asked for. The kernel writes within those lengths.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count as libc::c_uint,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        for header in &headers[..received] {
            let is_cut = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
            room.cut += usize::from(is_cut);
            room.lengths.push(if is_cut { usize::MAX } else { header.msg_len as usize });
        }
        Ok(received)
    }

    /// How many messages the kernel could not put into this socket's queue since it was opened: `SK_MEMINFO_DROPS` of
    /// SO_MEMINFO (Linux 4.12).
    pub(crate) fn dropped_messages(socket: BorrowedFd<'_>) -> io::Result<u64> {
        const SO_MEMINFO: libc::c_int = 55;
        const DROPS: usize = 8;
        let mut values = [0u32; 9];
        let mut length = mem::size_of_val(&values) as libc::socklen_t;
        // SAFETY: the pointer and the length describe `values`, which outlives the call; the kernel writes no more.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                SO_MEMINFO,
                values.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        match result {
            0 => Ok(u64::from(values[DROPS])),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// signalfd(2): blocks these signals and gives a descriptor that is readable when one has come.
    pub(crate) fn signal_descriptor(signals: &[i32]) -> io::Result<OwnedFd> {
        let set = super::block_signals(signals)?;
        // SAFETY: `set` outlives the call; -1 asks for a new descriptor.
        let descriptor =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made the descriptor, and nothing else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }
}

#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;

/// What FreeBSD alone has.
#[cfg(target_os = "freebsd")]
mod freebsd {
    use std::ffi::CStr;
    use std::{io, mem};

    use facts::unit::Nanos;
    use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

    /// sysctlbyname(3): a node by its name, into memory that is kept; its bytes.
    pub(crate) fn sysctl_by_name<'a>(name: &CStr, memory: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        sysctl_with(memory, |bytes, length| {
            // SAFETY: the name ends with a zero; `bytes` points to `length` bytes of a vector that is borrowed mutably, or
            // is null to ask for the length alone; nothing is set.
            unsafe { libc::sysctlbyname(name.as_ptr(), bytes, length, std::ptr::null(), 0) }
        })
    }

    /// sysctl(3): a node by its path of integers.
    pub(crate) fn sysctl_by_path<'a>(path: &[libc::c_int], memory: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        sysctl_with(memory, |bytes, length| {
            // SAFETY: as above; the path is as long as is said, and the call changes nothing of it.
            unsafe {
                libc::sysctl(path.as_ptr(), path.len() as libc::c_uint, bytes, length, std::ptr::null(), 0)
            }
        })
    }

    /// Calls with the memory there is, and with more as long as the kernel says that it is too little: lists grow between
    /// the question how long they are and the next.
    fn sysctl_with(
        memory: &mut Vec<u8>,
        mut call: impl FnMut(*mut libc::c_void, *mut usize) -> libc::c_int,
    ) -> io::Result<&[u8]> {
        const FIRST_BYTES: usize = 1024;
        const MOST_BYTES: usize = 256 * 1024 * 1024;
        memory.resize(memory.capacity().max(FIRST_BYTES), 0);
        loop {
            let mut length = memory.len();
            if call(memory.as_mut_ptr().cast(), &raw mut length) == 0 {
                return Ok(&memory[..length.min(memory.len())]);
            }
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(libc::ENOMEM) || memory.len() >= MOST_BYTES {
                return Err(error);
            }
            memory.resize(memory.len() * 2, 0);
        }
    }

    /// A kqueue(2).
    #[derive(Debug)]
    pub(crate) struct Queue(OwnedFd);

    /// What a queue is asked for, or tells.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum QueueEvent {
        /// A descriptor has something to read, or its other end is closed.
        Readable(RawFd),
        /// Nobody reads any more what is written to a descriptor.
        Abandoned(RawFd),
        /// A signal came.
        Signal(i32),
    }

    impl Queue {
        pub(crate) fn new() -> io::Result<Self> {
            // SAFETY: takes nothing.
            let descriptor = unsafe { libc::kqueue() };
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the kernel has just made the descriptor, and nothing else owns it.
            Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
        }

        /// Asks for an event from now on, with a token that comes back with it. Closing a descriptor takes it back.
        pub(crate) fn add(&self, event: QueueEvent, token: u64) -> io::Result<()> {
            self.change(event, token, libc::EV_ADD)
        }

        /// No longer asks for it.
        pub(crate) fn delete(&self, event: QueueEvent) -> io::Result<()> {
            self.change(event, 0, libc::EV_DELETE)
        }

        fn change(&self, event: QueueEvent, token: u64, flags: u16) -> io::Result<()> {
            let (ident, filter) = match event {
                QueueEvent::Readable(descriptor) => (descriptor as usize, libc::EVFILT_READ),
                QueueEvent::Abandoned(descriptor) => (descriptor as usize, libc::EVFILT_EMPTY),
                QueueEvent::Signal(number) => (number as usize, libc::EVFILT_SIGNAL),
            };
            // SAFETY: struct kevent is a plain C struct for which all zeros is a valid value.
            let mut change: libc::kevent = unsafe { mem::zeroed() };
            (change.ident, change.filter, change.flags) = (ident, filter, flags);
            change.udata = token as *mut libc::c_void;
            // SAFETY: one change, which outlives the call, and no room for events; the kernel does not follow `udata`.
            let done = unsafe {
                libc::kevent(
                    self.0.as_raw_fd(),
                    &raw const change,
                    1,
                    std::ptr::null_mut(),
                    0,
                    std::ptr::null(),
                )
            };
            if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        }

        /// Waits, at most for a timeout, and hands over each event with its token.
        pub(crate) fn wait(
            &self,
            timeout: Option<Nanos>,
            mut each: impl FnMut(QueueEvent, u64),
        ) -> io::Result<()> {
            const AT_MOST: usize = 32;
            // SAFETY: as above.
            let mut events: [libc::kevent; AT_MOST] = unsafe { mem::zeroed() };
            let timeout = timeout.map(|timeout| libc::timespec {
                tv_sec: (timeout.0 / Nanos::SECOND.0) as libc::time_t,
                tv_nsec: (timeout.0 % Nanos::SECOND.0) as libc::c_long,
            });
            let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: no changes; room for as many events as is said, borrowed mutably; the timeout is null or outlives the
            // call.
            let count = unsafe {
                libc::kevent(
                    self.0.as_raw_fd(),
                    std::ptr::null(),
                    0,
                    events.as_mut_ptr(),
                    AT_MOST as libc::c_int,
                    timeout,
                )
            };
            let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
            for event in &events[..count] {
                let told = match event.filter {
                    libc::EVFILT_SIGNAL => QueueEvent::Signal(event.ident as i32),
                    libc::EVFILT_EMPTY if event.flags & libc::EV_EOF == 0 => continue,
                    libc::EVFILT_EMPTY => QueueEvent::Abandoned(event.ident as RawFd),
                    _ => QueueEvent::Readable(event.ident as RawFd),
                };
                each(told, event.udata as u64);
            }
            Ok(())
        }
    }

    impl AsFd for Queue {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    /// sysctlnametomib(3): the path of integers of a node, behind which more may be put.
    pub(crate) fn sysctl_path(name: &CStr) -> io::Result<Vec<libc::c_int>> {
        const LONGEST: usize = 24; // CTL_MAXNAME
        let mut path = vec![0; LONGEST];
        let mut length = LONGEST;
        // SAFETY: the name ends with a zero, and `path` has room for as many integers as is said.
        let done = unsafe { libc::sysctlnametomib(name.as_ptr(), path.as_mut_ptr(), &raw mut length) };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
        path.truncate(length);
        Ok(path)
    }

    /// There is no such advice.
    pub(crate) fn populate<T>(_memory: &mut [mem::MaybeUninit<T>]) {}
}
