//! Addresses of interfaces, and news of them and of links: what did not change is not asked for again.

use std::io;

use facts::linux::genetlink::{Messages, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, Request};
use facts::linux::rtnetlink::{ADDRESS_HEADER_BYTES, Address, RTM_GETADDR};
use facts::sample::{Absence, Sample};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

use super::files::{Buffer, absence};
use super::part::{Changes, Part};

/// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR of linux/rtnetlink.h.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;
/// A dump's datagrams are of at most this.
const DATAGRAM_BYTES: usize = 32 * 1024;

/// Notifications that links or addresses changed.
#[derive(Debug)]
pub(crate) struct NetworkNews {
    socket: OwnedFd,
}

impl NetworkNews {
    /// `None` if the kernel reports no changes: then everything is read each time.
    pub(crate) fn open() -> Option<Self> {
        socket(GROUPS).ok().map(|socket| Self { socket })
    }

    /// Reads the pending notifications. Returns whether there were any.
    pub(crate) fn drain(&self, buffer: &mut Buffer) -> bool {
        let (mut has_news, mut memory) = (false, [0; 8192]);
        loop {
            buffer.calls += 1;
            match recv(&self.socket, &mut memory, RecvFlags::DONTWAIT) {
                // If some were lost, something changed.
                Ok(_) | Err(Errno::NOBUFS) => has_news = true,
                Err(Errno::INTR) => {}
                Err(_) => return has_news,
            }
        }
    }
}

impl AsFd for NetworkNews {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Addresses, and whether they have to be asked for again.
#[derive(Debug)]
pub(crate) struct Addresses {
    known: Result<Vec<Address>, Absence>,
    is_captured: bool,
}

impl Addresses {
    pub(crate) fn open(is_captured: bool) -> Self {
        Self { known: Err(Absence::NotWanted), is_captured }
    }
}

impl Part for Addresses {
    /// Asks for them, if something changed since.
    fn read(&mut self, buffer: &mut Buffer, changes: Changes, sample: &mut Sample) {
        if self.is_captured {
            self.known = Err(Absence::Unsupported);
        } else if changes.network || self.known.is_err() {
            self.known = dump(buffer).map_err(absence);
        }
        sample.addresses.fill(|list| {
            let known = self.known.as_ref().map_err(|absence| *absence)?;
            list.clear();
            list.extend_from_slice(known);
            Ok(())
        });
    }
}

fn socket(groups: u32) -> Result<OwnedFd, Errno> {
    // NETLINK_ROUTE is 0: the family's default.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// All addresses of this network namespace.
fn dump(buffer: &mut Buffer) -> Result<Vec<Address>, Errno> {
    let (mut list, mut memory) = (Vec::new(), vec![0; DATAGRAM_BYTES]);
    buffer.calls += 4;
    let socket = socket(0)?;
    let mut request = Vec::new();
    let header = [0; ADDRESS_HEADER_BYTES];
    let flags = NLM_F_REQUEST | NLM_F_DUMP;
    Request { kind: RTM_GETADDR, flags, sequence: 1, header: &header, attributes: &[] }.push(&mut request);
    send(&socket, &request, SendFlags::empty())?;
    loop {
        buffer.calls += 1;
        let (length, _) = match recv(&socket, &mut memory[..], RecvFlags::DONTWAIT) {
            // The answer waits when the question is out; none is an end, too.
            Err(Errno::AGAIN) => return Ok(list),
            Err(Errno::INTR) => continue,
            received => received?,
        };
        for message in Messages::new(&memory[..length]).map_while(Result::ok) {
            match message.kind {
                NLMSG_DONE => return Ok(list),
                NLMSG_ERROR => {
                    let code = message.error().unwrap_or_default();
                    return Err(
                        Errno::from_io_error(&io::Error::from_raw_os_error(code)).unwrap_or(Errno::IO)
                    );
                }
                _ => list.extend(Address::new(&message)),
            }
        }
    }
}
