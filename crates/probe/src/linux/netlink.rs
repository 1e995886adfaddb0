//! A generic netlink socket: requests in batches, replies many at a time.

use std::io;

use facts::linux::genetlink::{
    CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_CMD_GETFAMILY, GENL_ID_CTRL, Message, Messages,
    NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, Request, push_request,
};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with};

use super::privilege::Privilege;
use crate::sys::{Datagrams, receive_many};

/// Requests in one send. More save little: with 64 a task costs a thirty-second of a call.
pub(crate) const BATCH: usize = 64;
/// A taskstats reply of the newest version known is under 800 bytes; an error carries its request.
const REPLY_BYTES: usize = 2048;
/// A station is reported with the figures of each of its traffic classes, more than 2 KiB; the kernel puts as many into a
/// datagram as fit into 32 KiB.
const LONG_REPLY_BYTES: usize = 32 * 1024;
const LONG_REPLIES: usize = 4;
/// An exit record of a group's last thread carries the group's aggregate beside the thread's own.
const RECORD_BYTES: usize = 4096;

/// A socket, and the memory for its messages.
pub(crate) struct GenericSocket {
    socket: OwnedFd,
    requests: Vec<u8>,
    replies: Datagrams,
    sequence: u32,
    pending: usize,
    /// For taskstats it is looked at when the socket is opened and at every send.
    privilege: Privilege,
}

impl GenericSocket {
    /// Opens one for requests of taskstats and their replies.
    pub(crate) fn open() -> Result<Self, Errno> {
        Self::open_with(Privilege::given(), None, BATCH, REPLY_BYTES)
    }

    /// Opens one for few requests with long replies, which need no privilege.
    pub(crate) fn open_for_long_replies() -> Result<Self, Errno> {
        Self::open_with(Privilege::NONE, None, LONG_REPLIES, LONG_REPLY_BYTES)
    }

    /// Opens one for records that come unasked, with room for so many bytes of them in the kernel.
    pub(crate) fn open_for_records(receive_buffer_bytes: usize) -> Result<Self, Errno> {
        Self::open_with(Privilege::given(), Some(receive_buffer_bytes), BATCH, RECORD_BYTES)
    }

    fn open_with(
        privilege: Privilege,
        receive_buffer_bytes: Option<usize>,
        datagrams: usize,
        datagram_bytes: usize,
    ) -> Result<Self, Errno> {
        let socket = privilege.during(|| {
            let flags = SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(GENERIC))?;
            bind(&socket, &SocketAddrNetlink::new(0, 0))?;
            if let Some(bytes) = receive_buffer_bytes {
                // Beyond net.core.rmem_max only with CAP_NET_ADMIN, which exit records need anyway.
                set_socket_recv_buffer_size_force(&socket, bytes)
                    .or_else(|_| set_socket_recv_buffer_size(&socket, bytes))?;
            }
            Ok::<_, Errno>(socket)
        })?;
        let (requests, replies) = (Vec::with_capacity(BATCH * 32), Datagrams::new(datagrams, datagram_bytes));
        Ok(Self { socket, requests, replies, sequence: 0, pending: 0, privilege })
    }

    /// Gives records twice as much room in the kernel as they had, up to `most` bytes. The room now.
    pub(crate) fn widen(&mut self, bytes: usize, most: usize) -> usize {
        let wider = (bytes * 2).min(most);
        // If it is not permitted, or memory is lacking, it stays as it is.
        let widen = || set_socket_recv_buffer_size_force(&self.socket, wider).is_ok();
        let is_wider = wider > bytes && self.privilege.during(widen);
        if is_wider { wider } else { bytes }
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The number of a family.
    pub(crate) fn family(&mut self, name: &str) -> Result<u16, Errno> {
        let name = [name.as_bytes(), b"\0"].concat();
        self.push(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, &name);
        let mut family = Err(Errno::NOENT);
        self.exchange(|_, reply| {
            family = match reply {
                Err(error) => Err(error),
                Ok(message) => {
                    let id = message.attributes().find(|(kind, _)| *kind == CTRL_ATTR_FAMILY_ID);
                    let id = id.and_then(|(_, value)| value.first_chunk().copied());
                    id.map(u16::from_ne_bytes).ok_or(Errno::BADMSG)
                }
            }
        })?;
        family
    }

    /// Puts a request into the batch; at most [`BATCH`] of them.
    pub(crate) fn push(&mut self, family: u16, command: u8, attribute: u16, value: &[u8]) {
        let sequence = self.sequence.wrapping_add(self.pending as u32);
        push_request(&mut self.requests, family, sequence, command, attribute, value);
        self.pending += 1;
    }

    /// Sends the batch, which is empty then: its first sequence number, and how many requests it had.
    fn send_batch(&mut self) -> Result<(u32, usize), Errno> {
        let (first, count) = (self.sequence, self.pending);
        self.sequence = self.sequence.wrapping_add(count as u32);
        self.pending = 0;
        let sent = self.privilege.during(|| send(&self.socket, &self.requests, SendFlags::empty()));
        self.requests.clear();
        sent.map(|_| (first, count))
    }

    /// Sends the batch and hands each reply, or the kernel's error, to `each` with its place in the batch. The kernel
    /// answers every request while it takes the batch, so the replies wait when the send is done.
    pub(crate) fn exchange(
        &mut self,
        mut each: impl FnMut(usize, Result<Message<'_>, Errno>),
    ) -> Result<(), Errno> {
        let (first, count) = self.send_batch()?;
        let mut answered = 0;
        while answered < count {
            // Asked not to wait: an answer that was lost (ENOBUFS) must not be waited for.
            match receive_many(self.socket.as_fd(), &mut self.replies, libc::MSG_DONTWAIT) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            }
            if self.replies.cut > 0 {
                return Err(Errno::MSGSIZE);
            }
            for message in messages(&self.replies) {
                let index = message.sequence.wrapping_sub(first) as usize;
                if index >= count {
                    continue; // Of an earlier batch that was given up.
                }
                match message.error() {
                    Some(0) => each(index, Ok(message)),
                    Some(code) => each(index, Err(Errno::from_raw_os_error(code))),
                    None => each(index, Ok(message)),
                }
                answered += 1;
            }
        }
        Ok(())
    }

    /// Asks for all there are of something, and hands each to `each`.
    pub(crate) fn dump(
        &mut self,
        family: u16,
        command: u8,
        attribute: (u16, &[u8]),
        mut each: impl FnMut(Message<'_>),
    ) -> Result<(), Errno> {
        let (header, attributes) = ([command, 1, 0, 0], [attribute]);
        let (flags, sequence) = (NLM_F_REQUEST | NLM_F_DUMP, self.sequence);
        Request { kind: family, flags, sequence, header: &header, attributes: &attributes }
            .push(&mut self.requests);
        self.pending = 1;
        self.send_batch()?;
        let mut result = Ok(false);
        // The kernel answers while it takes the question, so what waits is all there is.
        while result == Ok(false) {
            let received = self.receive(|message| match message.error() {
                _ if message.sequence != sequence => {}
                Some(code) => result = Err(Errno::from_raw_os_error(code)),
                None if message.kind == NLMSG_DONE => result = Ok(true),
                None => each(message),
            })?;
            match received {
                None => break,
                Some(0) => {}
                Some(_) => return Err(Errno::MSGSIZE),
            }
        }
        result.map(drop)
    }

    /// Sends the batch of requests that the kernel answers only when it refuses one.
    pub(crate) fn register(&mut self, mut refused: impl FnMut(Errno)) -> Result<(), Errno> {
        self.send_batch()?;
        self.receive(|message| {
            if let Some(code) = message.error().filter(|code| *code != 0) {
                refused(Errno::from_raw_os_error(code));
            }
        })?;
        Ok(())
    }

    /// Receives what comes unasked, without waiting: `None` if nothing waits, else how many messages were longer than
    /// the room for one.
    pub(crate) fn receive(&mut self, each: impl FnMut(Message<'_>)) -> Result<Option<usize>, Errno> {
        match receive_many(self.socket.as_fd(), &mut self.replies, libc::MSG_DONTWAIT) {
            Ok(_) => {}
            Err(error) => {
                return match Errno::from_io_error(&error) {
                    Some(Errno::AGAIN | Errno::INTR) => Ok(None),
                    other => Err(other.unwrap_or(Errno::IO)),
                };
            }
        }
        messages(&self.replies).for_each(each);
        Ok(Some(self.replies.cut))
    }
}

/// The messages of all datagrams, of each up to the first that is cut short.
fn messages(datagrams: &Datagrams) -> impl Iterator<Item = Message<'_>> {
    datagrams.iter().flat_map(|datagram| Messages::new(datagram).map_while(Result::ok))
}
