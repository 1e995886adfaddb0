//! Facilities that Linux alone has.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::{io, mem};

use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::{Datagram, system_constant};

/// madvise(2), MADV_POPULATE_WRITE (Linux 5.14): brings in the whole pages within `memory`. Where the kernel does not
/// know it, or has no memory, the pages come when they are touched, as ever.
pub(crate) fn populate<T>(memory: &mut [mem::MaybeUninit<T>]) {
    const AT_LEAST_PAGES: usize = 16;
    let Some(page) = system_constant(libc::_SC_PAGESIZE).and_then(|bytes| usize::try_from(bytes).ok()) else {
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

    /// Returns the datagrams that the last call received; a datagram that did not fit is left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let chunks = self.memory.chunks_exact(self.datagram_bytes);
        chunks.zip(&self.lengths).filter_map(|(chunk, length)| chunk.get(..*length))
    }
}

/// recvmmsg(2): as many datagrams as wait, up to the room; waits for the first unless `flags` says not to.
pub(crate) fn receive_many(socket: BorrowedFd<'_>, room: &mut Datagrams, flags: i32) -> io::Result<usize> {
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

/// recvmmsg(2) of nothing but lengths and addresses: takes as many datagrams as wait, up to 64, off the queue without copying them.
/// How many; `datagrams` holds them at its beginning.
pub(crate) fn discard_many(socket: BorrowedFd<'_>, datagrams: &mut [Datagram; 64]) -> io::Result<usize> {
    // SAFETY: mmsghdr is a plain C struct for which all zeros is a valid value: no address, no memory, no control data.
    let mut headers: [libc::mmsghdr; 64] = unsafe { mem::zeroed() };
    // SAFETY: as is sockaddr_in6: an address of no family.
    let mut names: [libc::sockaddr_in6; 64] = unsafe { mem::zeroed() };
    for (header, name) in headers.iter_mut().zip(&mut names) {
        header.msg_hdr.msg_name = (&raw mut *name).cast();
        header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
    }
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: `headers` holds as many headers as the call is given, and outlives it; each points to an address of `names`, whose
    // length it has, and to no other memory to be written to.
    let received = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            headers.len() as libc::c_uint,
            flags as _,
            std::ptr::null_mut(),
        )
    };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    for ((datagram, header), name) in datagrams.iter_mut().zip(&headers).zip(&names).take(received) {
        *datagram = Datagram { length: header.msg_len as usize, sender: socket_address(name) };
    }
    Ok(received)
}

/// An address of IPv4 or IPv6, as the kernel writes it where there is room for the longer one.
fn socket_address(name: &libc::sockaddr_in6) -> Option<SocketAddr> {
    let port = u16::from_be(name.sin6_port);
    match i32::from(name.sin6_family) {
        // sockaddr_in has its four bytes where the other has its flow information.
        libc::AF_INET => Some(SocketAddr::from((Ipv4Addr::from(name.sin6_flowinfo.to_ne_bytes()), port))),
        libc::AF_INET6 => {
            let address = Ipv6Addr::from(name.sin6_addr.s6_addr);
            Some(SocketAddr::V6(SocketAddrV6::new(address, port, 0, name.sin6_scope_id)))
        }
        _ => None,
    }
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

/// signalfd(2): blocks these signals and gives a descriptor that is readable when one has come, and those that were not blocked before.
pub(crate) fn signal_descriptor(signals: &[i32]) -> io::Result<(OwnedFd, Vec<i32>)> {
    let (set, blocked) = super::block_signals(signals)?;
    // SAFETY: `set` outlives the call; -1 asks for a new descriptor.
    let descriptor = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made the descriptor, and nothing else owns it.
    Ok((unsafe { OwnedFd::from_raw_fd(descriptor) }, blocked))
}

/// malloc_trim(3): returns the allocator's unused memory to the kernel, if the C library can.
#[cfg(target_env = "gnu")]
pub(crate) fn give_memory_back() {
    // SAFETY: the call touches only memory that is not allocated.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators than glibc's keep little.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn give_memory_back() {}

/// mallopt(3), M_ARENA_MAX: all threads allocate from one arena, if the C library has arenas.
#[cfg(target_env = "gnu")]
pub(crate) fn share_one_arena() {
    // SAFETY: the call changes a number of the allocator, under its lock.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Other allocators than glibc's have no arena for each thread.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn share_one_arena() {}
