//! The sockets of this network namespace, and their other ends.

use std::collections::HashMap;
use std::net::SocketAddr;

use facts::linux::genetlink::{Messages, NLM_F_DUMP, NLMSG_DONE};
use facts::linux::socket_tables::{
    InetProtocol, InetSocket, UnixSocket, inet_request, inet_socket, unix_request, unix_socket,
};
use facts::linux::tcp_info::Question;
use facts::task::chain::Object;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::linux::sock_diag::ask;

/// The most sockets of a kind that are read.
const MOST: usize = 100_000;
/// The kernel puts as many answers into a datagram as fit into 32 KiB.
const DATAGRAM_BYTES: usize = 64 * 1024;

/// The sockets of a look.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    inet: Vec<(InetProtocol, InetSocket)>,
    by_inode: HashMap<u32, usize>,
    by_ends: HashMap<(InetProtocol, SocketAddr, SocketAddr), usize>,
    /// The sockets of TCP that listen, and those of UDP that are not connected, by protocol and port.
    receivers: HashMap<(InetProtocol, u16), Vec<usize>>,
    unix: HashMap<u32, UnixSocket>,
}

/// The other end of a socket.
pub(super) struct OtherEnd {
    pub(super) object: Object,
    pub(super) peer: Peer,
}

/// Whose the other end is.
pub(super) enum Peer {
    /// A socket of this machine, by its number; several if it is one of them.
    Here(Vec<u32>),
    /// It is at another address.
    Remote,
    Unknown,
}

impl Sockets {
    pub(super) fn read() -> Self {
        let mut sockets = Self::default();
        for (protocol, is_ipv6) in [
            (InetProtocol::Tcp, false),
            (InetProtocol::Tcp, true),
            (InetProtocol::Udp, false),
            (InetProtocol::Udp, true),
        ] {
            // A kernel without this answers nothing: the other ends are not known then.
            let _ = dump(&inet_request(protocol, is_ipv6), |message| {
                if let Some(socket) = inet_socket(message) {
                    sockets.add(protocol, socket);
                }
            });
        }
        let _ = dump(&unix_request(), |message| {
            if let Some(socket) = unix_socket(message) {
                sockets.unix.insert(socket.inode, socket);
            }
        });
        sockets
    }

    fn add(&mut self, protocol: InetProtocol, socket: InetSocket) {
        let place = self.inet.len();
        if socket.inode != 0 {
            self.by_inode.insert(socket.inode, place);
        }
        if socket.remote.port() == 0 {
            self.receivers.entry((protocol, socket.local.port())).or_default().push(place);
        } else {
            self.by_ends.insert((protocol, socket.local, socket.remote), place);
        }
        self.inet.push((protocol, socket));
    }

    /// All of TCP and UDP.
    pub(super) fn inet(&self) -> &[(InetProtocol, InetSocket)] {
        &self.inet
    }

    /// Returns the other end of a socket; `None` if the socket is not known, or not connected.
    pub(super) fn other_end(&self, inode: u32) -> Option<OtherEnd> {
        if let Some(socket) = self.unix.get(&inode) {
            let peer = self.unix.get(&socket.peer?);
            let name = peer.and_then(|peer| peer.name.clone()).or_else(|| socket.name.clone());
            let peer = peer.map_or(Peer::Unknown, |peer| Peer::Here(vec![peer.inode]));
            return Some(OtherEnd { object: Object::UnixSocket(name), peer });
        }
        let (protocol, socket) = self.by_inode.get(&inode).map(|place| &self.inet[*place])?;
        if socket.remote.port() == 0 {
            return None;
        }
        let is_made_here = self.is_made_here(socket);
        let object =
            Object::Connection { protocol: *protocol, remote: socket.remote, is_made_here, tcp: socket.tcp };
        let other = self.by_ends.get(&(*protocol, socket.remote, socket.local));
        let peer = match other.map(|place| &self.inet[*place].1) {
            Some(other) if other.inode != 0 => Peer::Here(vec![other.inode]),
            // A connection that its server has not accepted is of none: the server is who listens. Without one who receives there.
            Some(_) => self.receivers_at(*protocol, socket.remote),
            None if is_here(socket) && *protocol == InetProtocol::Udp => {
                self.receivers_at(*protocol, socket.remote)
            }
            None if is_here(socket) => Peer::Unknown,
            None => Peer::Remote,
        };
        Some(OtherEnd { object, peer })
    }

    /// Returns the sockets that receive what is sent to an address: those of that very address, or else those of any of its version, or else
    /// those of any.
    fn receivers_at(&self, protocol: InetProtocol, address: SocketAddr) -> Peer {
        let at_port = self.receivers.get(&(protocol, address.port()));
        let sockets = || at_port.into_iter().flatten().map(|place| &self.inet[*place].1);
        let is_of_any = |socket: &&InetSocket| socket.local.ip().is_unspecified();
        let inodes = |is_it: &dyn Fn(&&InetSocket) -> bool| -> Vec<u32> {
            sockets().filter(is_it).map(|socket| socket.inode).filter(|inode| *inode != 0).collect()
        };
        let own = inodes(&|socket| socket.local.ip() == address.ip());
        let of_version =
            || inodes(&|socket| is_of_any(socket) && socket.local.is_ipv4() == address.is_ipv4());
        let of_any = || inodes(&is_of_any);
        let found = [own].into_iter().chain([of_version(), of_any()]).find(|found| !found.is_empty());
        found.map_or(Peer::Unknown, Peer::Here)
    }

    /// Returns whether its process made a connection: the other end listens, or is elsewhere and nothing listens at this one.
    fn is_made_here(&self, socket: &InetSocket) -> bool {
        let is_listened_at = |port: u16| self.receivers.contains_key(&(InetProtocol::Tcp, port));
        match is_here(socket) {
            true => is_listened_at(socket.remote.port()),
            false => !is_listened_at(socket.local.port()),
        }
    }

    /// Returns whether an answer is due on a connection of TCP: its process made it, and has sent after the last that it received.
    pub(super) fn has_answer_due(&self, inode: u32) -> bool {
        let Some((_, socket)) = self.by_inode.get(&inode).map(|place| &self.inet[*place]) else {
            return false;
        };
        let is_unanswered = socket.tcp.is_some_and(|tcp| tcp.question() == Question::Unanswered);
        is_unanswered && socket.remote.port() != 0 && self.is_made_here(socket)
    }
}

/// Returns whether both ends of a socket are on this machine.
fn is_here(socket: &InetSocket) -> bool {
    socket.remote.ip().is_loopback() || socket.remote.ip() == socket.local.ip()
}

/// Asks for all sockets of a kind.
fn dump(header: &[u8], mut each: impl FnMut(&facts::linux::genetlink::Message<'_>)) -> Result<(), Errno> {
    let socket = ask(header, NLM_F_DUMP)?;
    let mut memory = vec![0; DATAGRAM_BYTES];
    let mut count = 0;
    while count < MOST {
        // The kernel makes the next part while this one is read.
        let (length, _) = recv(&socket, &mut memory[..], RecvFlags::DONTWAIT)?;
        for message in Messages::new(&memory[..length]).map_while(Result::ok) {
            if message.kind == NLMSG_DONE {
                return Ok(());
            }
            if let Some(code) = message.error() {
                return Err(Errno::from_raw_os_error(code));
            }
            each(&message);
            count += 1;
        }
    }
    Ok(())
}
