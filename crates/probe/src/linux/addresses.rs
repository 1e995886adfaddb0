//! Addresses of interfaces: asked for once, and again when the kernel says that one came or went.

use std::io;

use facts::linux::genetlink::{Messages, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, Request};
use facts::linux::rtnetlink::{ADDRESS_HEADER_BYTES, Address, RTM_GETADDR};
use facts::sample::{Absence, Reading};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

use super::files::{Buffer, absence};

/// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR of linux/rtnetlink.h.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;
/// A dump's datagrams are of at most this.
const DATAGRAM_BYTES: usize = 32 * 1024;

/// A socket that hears of changes, and what is known since the last.
#[derive(Debug)]
pub(crate) struct Addresses {
    news: Result<OwnedFd, Absence>,
    known: Result<Vec<Address>, Absence>,
    memory: Vec<u8>,
}

impl Addresses {
    pub(crate) fn open(is_captured: bool) -> Self {
        let news = if is_captured { Err(Absence::Unsupported) } else { socket(GROUPS).map_err(absence) };
        let memory = if is_captured { Vec::new() } else { vec![0; DATAGRAM_BYTES] };
        Self { news, known: Err(Absence::NotWanted), memory }
    }

    /// Asks for them if something changed since.
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, reading: &mut Reading<Vec<Address>>) {
        let has_news = self.has_news(buffer);
        if has_news || self.known.is_err() {
            self.known = match &self.news {
                Ok(_) => dump(&mut self.memory, buffer).map_err(absence),
                Err(absence) => Err(*absence),
            };
        }
        reading.fill(|list| {
            let known = self.known.as_ref().map_err(|absence| *absence)?;
            list.clear();
            list.extend_from_slice(known);
            Ok(())
        });
    }

    fn has_news(&mut self, buffer: &mut Buffer) -> bool {
        let Ok(news) = &self.news else { return false };
        let mut has_news = false;
        loop {
            buffer.calls += 1;
            match recv(news, &mut self.memory[..], RecvFlags::DONTWAIT) {
                // Where some were lost, something changed.
                Ok(_) | Err(Errno::NOBUFS) => has_news = true,
                Err(Errno::INTR) => {}
                Err(_) => return has_news,
            }
        }
    }
}

fn socket(groups: u32) -> Result<OwnedFd, Errno> {
    // NETLINK_ROUTE is 0: the family's default.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// All addresses of this network namespace.
fn dump(memory: &mut [u8], buffer: &mut Buffer) -> Result<Vec<Address>, Errno> {
    let mut list = Vec::new();
    buffer.calls += 4;
    let socket = socket(0)?;
    let mut request = Vec::new();
    let header = [0; ADDRESS_HEADER_BYTES];
    let flags = NLM_F_REQUEST | NLM_F_DUMP;
    Request { kind: RTM_GETADDR, flags, sequence: 1, header: &header, attributes: &[] }.push(&mut request);
    send(&socket, &request, SendFlags::empty())?;
    loop {
        buffer.calls += 1;
        let (length, _) = match recv(&socket, &mut *memory, RecvFlags::DONTWAIT) {
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
