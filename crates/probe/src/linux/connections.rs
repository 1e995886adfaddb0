//! Users of the connections of this machine.
//!
//! They are asked for by sock_diag(7): reading /proc/net/tcp would take 6 ms a request on a machine with large tables.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use facts::linux::genetlink::Messages;
use facts::linux::{sock_diag, tcp_table};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::sock_diag::ask;

/// Finds the users of connections.
#[derive(Debug, Default)]
pub struct ConnectionUsers {
    /// The kernel looks for connections by their addresses: one that it does not find is gone.
    has_found: AtomicBool,
}

impl ConnectionUsers {
    /// The user of the connection from one address to another on this machine; `None` if the kernel does not know it, or no process has it
    /// any more. Looked up by its addresses; where the kernel was built without that, in the table of all connections.
    pub fn user(&self, from: SocketAddr, to: SocketAddr) -> Option<u32> {
        match user(from, to) {
            Ok(user) => {
                self.has_found.store(true, Ordering::Relaxed);
                user
            }
            // A client that resets connections makes nothing wait for the table.
            Err(Errno::NOENT) if self.has_found.load(Ordering::Relaxed) => None,
            Err(_) => {
                let path = if from.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
                tcp_table::user_of(&std::fs::read(path).ok()?, from, to)
            }
        }
    }
}

fn user(from: SocketAddr, to: SocketAddr) -> Result<Option<u32>, Errno> {
    let socket = ask(&sock_diag::request(from, to), 0)?;
    // The answer waits when the question is out.
    let mut memory = [0; 1024];
    let (length, _) = recv(&socket, &mut memory[..], RecvFlags::DONTWAIT)?;
    let answer = Messages::new(&memory[..length]).find_map(Result::ok).ok_or(Errno::BADMSG)?;
    // ENOENT is that there is no such connection, but also that the kernel cannot look for it.
    match answer.error() {
        Some(code) => Err(Errno::from_raw_os_error(code)),
        None => Ok(sock_diag::user(&answer, from, to)),
    }
}
