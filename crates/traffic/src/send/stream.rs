//! The bytes of a connection, in plain or in TLS.

use std::io::{self, ErrorKind, Read, Write};

use http_client::{TlsConnection, TlsServer};
use rustix::fd::OwnedFd;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// A socket that is connected and does not block, with TLS if there is some.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) socket: OwnedFd,
    tls: Option<Box<TlsConnection>>,
}

impl Stream {
    /// Takes a socket, in plain if no server of TLS is given.
    ///
    /// # Errors
    /// If the name of the server cannot stand in a handshake.
    pub(super) fn new(socket: OwnedFd, server: Option<&TlsServer>) -> io::Result<Self> {
        let tls = server.map(TlsServer::connect).transpose().map_err(io::Error::other)?;
        Ok(Self { socket, tls: tls.map(Box::new) })
    }

    /// Goes on with the handshake of TLS. Returns whether it is over; a plain stream has none.
    ///
    /// # Errors
    /// If the server speaks no TLS, is not trusted, or ends the connection.
    pub(super) fn shake_hands(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        match tls.complete_io(&mut Wire(&self.socket)) {
            Ok(_) => Ok(!tls.is_handshaking()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(http_client::described_tls(error)),
        }
    }

    /// Sends some of the bytes. Returns how many.
    ///
    /// # Errors
    /// `WouldBlock` if none can be sent now; the socket's errors.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return Wire(&self.socket).write(bytes) };
        // What was taken before goes first: nothing is kept without bound.
        push(tls, &self.socket)?;
        let length = tls.writer().write(bytes)?;
        match push(tls, &self.socket) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(length),
        }
    }

    /// Receives what is there. Returns how many bytes, 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; the socket's errors, and those of TLS.
    pub(super) fn receive(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return Wire(&self.socket).read(memory) };
        loop {
            match push(tls, &self.socket) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
            match tls.reader().read(memory) {
                // An end without a farewell is one.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
            if tls.read_tls(&mut Wire(&self.socket))? == 0 {
                return Ok(0);
            }
            if let Err(error) = tls.process_new_packets() {
                // The server learns why.
                let _ = push(tls, &self.socket);
                return Err(io::Error::other(error));
            }
        }
    }

    /// Says to the peer that this was all.
    pub(super) fn close(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _ = push(tls, &self.socket);
        }
        let _ = shutdown(&self.socket, Shutdown::Write);
    }
}

/// Sends what TLS has made of what was written.
fn push(tls: &mut TlsConnection, socket: &OwnedFd) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(&mut Wire(socket)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            written => _ = written?,
        }
    }
    Ok(())
}

/// The socket as the standard library has readers and writers. It raises no SIGPIPE.
struct Wire<'s>(&'s OwnedFd);

impl Read for Wire<'_> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let (length, _) = recv(self.0, memory, RecvFlags::DONTWAIT)?;
        Ok(length)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.0, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
