//! Forks, execs and exits as they happen, from the process connector. They need CAP_NET_ADMIN in the initial namespaces.

use std::io;

use facts::linux::proc_connector::{CN_IDX_PROC, ProcessEvent, answer, parse, subscription};
use facts::sample::Absence;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::netlink::{CONNECTOR, SocketAddrNetlink};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with};

use super::files::task_absence;
use super::privilege::Privilege;
use crate::sys::{Datagrams, receive_many};

/// Room for some 20 000 events while whit is busy elsewhere.
const RECEIVE_BUFFER_BYTES: usize = 16 * 1024 * 1024;
const EVENTS_AT_A_TIME: usize = 64;
const EVENT_BYTES: usize = 256;
/// The kernel answers while it takes the message; outside the initial namespaces there is no answer.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A socket with process events.
pub struct ProcessEvents {
    socket: OwnedFd,
    room: Datagrams,
    /// Times that events were lost.
    pub gaps: u64,
}

impl ProcessEvents {
    /// Subscribes.
    ///
    /// # Errors
    /// If the kernel has no process connector, or does not permit it to this user or in this namespace.
    pub fn open() -> Result<Self, Absence> {
        let socket = Privilege::given().during(subscribe).map_err(task_absence)?;
        let mut opened = Self { socket, room: Datagrams::new(EVENTS_AT_A_TIME, EVENT_BYTES), gaps: 0 };
        opened.wait_for_answer()?;
        Ok(opened)
    }

    fn wait_for_answer(&mut self) -> Result<(), Absence> {
        let mut descriptors = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut descriptors, Some(&PATIENCE)) {
            Ok(0) => return Err(Absence::Unsupported),
            Ok(_) => {}
            Err(error) => return Err(task_absence(error)),
        }
        let received = receive_many(self.socket.as_fd(), &mut self.room, libc::MSG_DONTWAIT);
        received.map_err(|error| task_absence(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        match self.room.iter().find_map(answer) {
            Some(0) | None => Ok(()),
            Some(_) => Err(Absence::Denied),
        }
    }

    /// Hands over what has happened, without waiting for more. Where events were lost, `gaps` grows.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn receive(&mut self, mut each: impl FnMut(ProcessEvent)) -> Result<(), Absence> {
        loop {
            match receive_many(self.socket.as_fd(), &mut self.room, libc::MSG_DONTWAIT) {
                Ok(_) => self.room.iter().filter_map(parse).for_each(&mut each),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::AGAIN) => return Ok(()),
                    Some(Errno::NOBUFS) => self.gaps += 1,
                    other => return Err(task_absence(other.unwrap_or(Errno::IO))),
                },
            }
        }
    }
}

fn subscribe() -> Result<OwnedFd, Errno> {
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(CONNECTOR))?;
    set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER_BYTES)
        .or_else(|_| set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER_BYTES))?;
    bind(&socket, &SocketAddrNetlink::new(0, CN_IDX_PROC))?;
    send(&socket, &subscription(0), SendFlags::empty())?;
    Ok(socket)
}

impl AsFd for ProcessEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
