//! Where connections come from: the network, or a Unix socket.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::Request;
use probe::connections::ConnectionUsers;
use probe::sockets;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::clients::ClientKey;
use crate::options::Listen;
use service::unix_socket;

/// How many connections may wait to be accepted: several times what a client opens at once, so that others are accepted after them and
/// need not ask again.
const BACKLOG: i32 = 4096;

/// A socket that is bound, before there is a runtime.
#[derive(Debug)]
pub(super) enum Bound {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

/// A socket that accepts connections.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener, ConnectionUsers),
    Unix(UnixListener),
}

/// One connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The other end of a connection, as far as it is known before a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Peer {
    /// From an address. Its user, if it is of this machine and the kernel knows it.
    Tcp(SocketAddr, Option<u32>),
    /// User and group.
    Unix(sockets::Peer),
}

impl Peer {
    /// Returns the client: on loopback its user, if the kernel knows it.
    pub(super) fn key(self) -> ClientKey {
        match self {
            Self::Unix(peer) => ClientKey::User(peer.uid),
            Self::Tcp(from, Some(uid)) if from.ip().is_loopback() => ClientKey::User(uid),
            Self::Tcp(from, _) => ClientKey::Address(Some(from.ip())),
        }
    }

    /// Returns the other end of a request's connection.
    pub(super) fn of(request: &Request) -> Option<Self> {
        request.extensions().get::<Self>().copied()
    }
}

impl Bound {
    /// Binds.
    ///
    /// # Errors
    /// If the address is taken, or is none of this machine.
    pub(super) fn new(listen: &Listen) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                sockets::set_backlog(&listener, BACKLOG)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            Listen::Unix(path) => Ok(Self::Unix(unix_socket::listen(path)?)),
        }
    }

    /// Returns where it listens, with the port that the kernel chose for port 0.
    ///
    /// # Errors
    /// The errors of getsockname(2).
    pub(super) fn address(&self, asked: &Listen) -> io::Result<Listen> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Self::Unix(_) => Ok(asked.clone()),
        }
    }

    /// Turns it into a listener; must be called within a runtime.
    pub(super) fn listen(self) -> io::Result<Listener> {
        match self {
            Self::Tcp(listener) => TcpListener::from_std(listener)
                .map(|listener| Listener::Tcp(listener, ConnectionUsers::default())),
            Self::Unix(listener) => UnixListener::from_std(listener).map(Listener::Unix),
        }
    }
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Self::Tcp(listener, users) => {
                let (stream, from) = listener.accept().await?;
                let to = stream.local_addr()?;
                let is_here = from.ip().is_loopback() || from.ip() == to.ip();
                let uid = is_here.then(|| users.user(from, to)).flatten();
                Ok((Stream::Tcp(stream), Peer::Tcp(from, uid)))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let peer = sockets::peer(&stream)?;
                Ok((Stream::Unix(stream), Peer::Unix(peer)))
            }
        }
    }
}

/// Calls the same method of either.
macro_rules! either {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Stream::Tcp($stream) => $call,
            Stream::Unix($stream) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_shutdown(context))
    }
}
