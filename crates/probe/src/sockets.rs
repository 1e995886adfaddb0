//! Socket calls for large amounts of data.

use std::io;

use rustix::fd::AsFd;
use rustix::net::{RecvFlags, recv};

pub use crate::sys::Datagram;
use crate::sys::{discard_many, set_socket_option};

/// Room for datagrams that are taken off a queue at once.
#[derive(Debug)]
pub struct Datagrams([Datagram; 64]);

impl Default for Datagrams {
    fn default() -> Self {
        Self([Datagram::default(); 64])
    }
}

impl Datagrams {
    /// Discards pending datagrams and returns how long they were and whose.
    ///
    /// # Errors
    /// `WouldBlock` where none waits, and what recvmmsg(2) says.
    pub fn discard(&mut self, socket: impl AsFd) -> io::Result<&[Datagram]> {
        let count = discard_many(socket.as_fd(), &mut self.0)?;
        Ok(&self.0[..count])
    }
}

/// Takes bytes that wait off a stream. Of a TCP socket Linux copies none (tcp(7), MSG_TRUNC); others write them into `memory`,
/// which need not be looked at. How many there were, zero at the end of the stream.
///
/// # Errors
/// `WouldBlock` where none waits, and what recv(2) says.
pub fn discard(stream: impl AsFd, memory: &mut [u8], is_tcp: bool) -> io::Result<usize> {
    let flags = if is_tcp { RecvFlags::TRUNC | RecvFlags::DONTWAIT } else { RecvFlags::DONTWAIT };
    let limit = memory.len();
    let (_, length) = recv(stream, memory, flags)?;
    Ok(length.min(limit))
}

/// The process at the other end of a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The effective user id that it connected with, in this process's user namespace; a user that is not mapped into it has the overflow
    /// id, 65534.
    pub uid: u32,
    /// The effective group id.
    pub gid: u32,
}

/// The kernel's word for it: SO_PEERCRED of unix(7), getpeereid(3) of FreeBSD.
///
/// # Errors
/// If the socket is not connected.
pub fn peer(socket: impl AsFd) -> io::Result<Peer> {
    #[cfg(target_os = "linux")]
    {
        let credentials = rustix::net::sockopt::socket_peercred(socket)?;
        Ok(Peer { uid: credentials.uid.as_raw(), gid: credentials.gid.as_raw() })
    }
    #[cfg(target_os = "freebsd")]
    {
        let (uid, gid) = crate::sys::peer_ids(socket.as_fd())?;
        Ok(Peer { uid, gid })
    }
}

/// SO_RCVLOWAT: a stream is not reported as readable before so many bytes wait, or its end. A reader of much data is woken less often.
///
/// # Errors
/// The errors of setsockopt(2).
pub fn set_receive_low_water(stream: impl AsFd, bytes: u32) -> io::Result<()> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    set_socket_option(stream.as_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
}

/// UDP_SEGMENT (udp(7), Linux 4.18): what is sent at once leaves as datagrams of this length.
///
/// # Errors
/// If the kernel does not know it.
pub fn set_udp_segment(socket: impl AsFd, bytes: u16) -> io::Result<()> {
    const SOL_UDP: libc::c_int = 17;
    const UDP_SEGMENT: libc::c_int = 103;
    if cfg!(target_os = "linux") {
        set_socket_option(socket.as_fd(), SOL_UDP, UDP_SEGMENT, bytes.into())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// SO_REUSEPORT, by which several threads share a port: Linux spreads what comes over all of them, FreeBSD by SO_REUSEPORT_LB.
///
/// # Errors
/// The errors of setsockopt(2).
pub fn share_port(socket: impl AsFd) -> io::Result<()> {
    #[cfg(target_os = "freebsd")]
    let name = libc::SO_REUSEPORT_LB;
    #[cfg(not(target_os = "freebsd"))]
    let name = libc::SO_REUSEPORT;
    set_socket_option(socket.as_fd(), libc::SOL_SOCKET, name, 1)
}

/// Sets how many connections may wait to be accepted, by listen(2) of a socket that listens: the standard library lets 128 wait. Linux
/// forgets the request of one more, and its client asks again after a second. The kernel's limit is net.core.somaxconn.
///
/// # Errors
/// The errors of listen(2).
pub fn set_backlog(listener: impl AsFd, connections: i32) -> io::Result<()> {
    Ok(rustix::net::listen(listener, connections)?)
}

/// How many messages the kernel had no room for in this socket's queue.
///
/// # Errors
/// If the kernel does not report it (before 4.12).
pub fn dropped(socket: impl AsFd) -> io::Result<u64> {
    #[cfg(target_os = "linux")]
    return crate::sys::dropped_messages(socket.as_fd());
    #[cfg(not(target_os = "linux"))]
    {
        let _ = socket;
        Err(io::ErrorKind::Unsupported.into())
    }
}
