//! Facilities that FreeBSD alone has: sysctl(3), kqueue(2).

use std::ffi::{CStr, CString};
use std::{io, mem};

use facts::unit::Nanos;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::{Datagram, Group, SpawnRequest};
use crate::sysctl::Node;

/// sysctl(3): a node's bytes, into memory that is kept.
pub(crate) fn sysctl<'a>(node: Node<'_>, memory: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    if let Some(path) = node.path() {
        return sysctl_by_path(&path, memory);
    }
    match node {
        Node::Entry(name, entry) => {
            let mut path = sysctl_path(&CString::new(name)?)?;
            path.push(entry.cast_signed());
            sysctl_by_path(&path, memory)
        }
        node => {
            let name = CString::new(node.file_name())?;
            sysctl_with(memory, |bytes, length| {
                // SAFETY: the name ends with a zero; `bytes` points to `length` bytes of a vector that is borrowed mutably, or
                // is null to ask for the length alone; nothing is set.
                unsafe { libc::sysctlbyname(name.as_ptr(), bytes, length, std::ptr::null(), 0) }
            })
        }
    }
}

/// By its path of integers.
fn sysctl_by_path<'a>(path: &[libc::c_int], memory: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    sysctl_with(memory, |bytes, length| {
        // SAFETY: as above; the path is as long as is said, and the call changes nothing of it.
        unsafe { libc::sysctl(path.as_ptr(), path.len() as libc::c_uint, bytes, length, std::ptr::null(), 0) }
    })
}

/// Calls with the memory there is, and with more as long as the kernel says that it is too little: lists grow between
/// the question how long they are and the next.
fn sysctl_with(
    memory: &mut Vec<u8>,
    mut call: impl FnMut(*mut libc::c_void, *mut usize) -> libc::c_int,
) -> io::Result<&[u8]> {
    const FIRST_BYTES: usize = 1024;
    const MAX_BYTES: usize = 256 * 1024 * 1024;
    memory.resize(memory.capacity().max(FIRST_BYTES), 0);
    loop {
        let mut length = memory.len();
        if call(memory.as_mut_ptr().cast(), &raw mut length) == 0 {
            return Ok(&memory[..length.min(memory.len())]);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ENOMEM) || memory.len() >= MAX_BYTES {
            return Err(error);
        }
        memory.resize(memory.len() * 2, 0);
    }
}

/// A kqueue(2).
#[derive(Debug)]
pub(crate) struct Queue(OwnedFd);

/// A change or an event of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueEvent {
    /// A descriptor has something to read, or its other end is closed.
    Readable(RawFd),
    /// A descriptor has something to read, or its other end is closed; reported again only when more comes.
    NewReadable(RawFd),
    /// A descriptor has room to write, or its other end is closed; reported again only when there was no room meanwhile.
    NewWritable(RawFd),
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
        let is_edge = matches!(event, QueueEvent::NewReadable(_) | QueueEvent::NewWritable(_));
        let once = if is_edge { libc::EV_CLEAR } else { 0 };
        self.change(event, token, libc::EV_ADD | once)
    }

    /// No longer asks for it.
    pub(crate) fn delete(&self, event: QueueEvent) -> io::Result<()> {
        self.change(event, 0, libc::EV_DELETE)
    }

    fn change(&self, event: QueueEvent, token: u64, flags: u16) -> io::Result<()> {
        let (ident, filter) = match event {
            QueueEvent::Readable(descriptor) | QueueEvent::NewReadable(descriptor) => {
                (descriptor as usize, libc::EVFILT_READ)
            }
            QueueEvent::NewWritable(descriptor) => (descriptor as usize, libc::EVFILT_WRITE),
            QueueEvent::Signal(number) => (number as usize, libc::EVFILT_SIGNAL),
        };
        // SAFETY: struct kevent is a plain C struct for which all zeros is a valid value.
        let mut change: libc::kevent = unsafe { mem::zeroed() };
        (change.ident, change.filter, change.flags) = (ident, filter, flags);
        change.udata = token as *mut libc::c_void;
        // SAFETY: one change, which outlives the call, and no room for events; the kernel does not follow `udata`.
        let done = unsafe {
            libc::kevent(self.0.as_raw_fd(), &raw const change, 1, std::ptr::null_mut(), 0, std::ptr::null())
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits, at most for a timeout, and hands over each event with its token and whether the other end is closed.
    pub(crate) fn wait(
        &self,
        timeout: Option<Nanos>,
        mut each: impl FnMut(QueueEvent, u64, bool),
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
            let reported = match event.filter {
                libc::EVFILT_SIGNAL => QueueEvent::Signal(event.ident as i32),
                libc::EVFILT_WRITE => QueueEvent::NewWritable(event.ident as RawFd),
                _ => QueueEvent::Readable(event.ident as RawFd),
            };
            each(reported, event.udata as u64, event.flags & libc::EV_EOF != 0);
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
fn sysctl_path(name: &CStr) -> io::Result<Vec<libc::c_int>> {
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

/// posix_spawnp(3): starts a command with no signal blocked and the one that Rust's runtime ignores back to its default
/// action. The id of its process. Limits, a directory, a session and a kept descriptor it cannot set.
pub(crate) fn spawn(request: &SpawnRequest<'_>) -> io::Result<libc::pid_t> {
    let SpawnRequest { words, environment, streams, group, .. } = *request;
    if request.directory.is_some()
        || !request.limits.is_empty()
        || request.kept.is_some()
        || request.user.is_some()
        || group == Group::Session
    {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let ([program, ..], false) = (words, request.programs.is_empty()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let pointers = |strings: &[CString]| -> Vec<*mut libc::c_char> {
        let pointers = strings.iter().map(|string| string.as_ptr().cast_mut());
        pointers.chain([std::ptr::null_mut()]).collect()
    };
    let words = pointers(words);
    let environment: Vec<*mut libc::c_char> =
        environment.iter().map(|one| one.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect();
    let of_group = if group == Group::Own { libc::POSIX_SPAWN_SETPGROUP } else { 0 };
    let flags = of_group | libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
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
        // Ignored by Rust's runtime; what is caught gets its default action by being executed.
        libc::sigaddset(&raw mut restored, libc::SIGPIPE);
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags as libc::c_short);
        libc::posix_spawnattr_setpgroup(attributes.as_mut_ptr(), 0);
        libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), &raw const none);
        libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), &raw const restored);
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        for (stream, number) in streams.iter().zip(0..) {
            if let Some(stream) = stream {
                libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), stream.as_raw_fd(), number);
            }
        }
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

/// Datagrams one by one, without copying them.
pub(crate) fn discard_many(
    socket: rustix::fd::BorrowedFd<'_>,
    datagrams: &mut [Datagram; 64],
) -> std::io::Result<usize> {
    use rustix::net::{RecvFlags, recvfrom};
    let mut nothing = [0_u8; 1];
    for (count, datagram) in datagrams.iter_mut().enumerate() {
        match recvfrom(socket, &mut nothing[..], RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
            Ok((_, length, sender)) => {
                let sender = sender.and_then(|sender| std::net::SocketAddr::try_from(sender).ok());
                *datagram = Datagram { length, sender };
            }
            Err(_) if count > 0 => return Ok(count),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(datagrams.len())
}

/// getpeereid(3).
pub(crate) fn peer_ids(socket: rustix::fd::BorrowedFd<'_>) -> std::io::Result<(u32, u32)> {
    use rustix::fd::AsRawFd;
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: both pointers are valid for the call, which writes an id to each.
    let result = unsafe { libc::getpeereid(socket.as_raw_fd(), &mut uid, &mut gid) };
    if result == 0 { Ok((uid, gid)) } else { Err(io::Error::last_os_error()) }
}
