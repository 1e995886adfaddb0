//! One end of the socket pair between the recorder and the server.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use rustix::fd::{AsFd as _, BorrowedFd};
use serde::Serialize;
use serde::de::DeserializeOwned;

use service::frames::{push, take};

const READ_BYTES: usize = 64 * 1024;
/// The most bytes that are received beyond one body before frames are handled.
const MAX_RECEIVED_BYTES: usize = 8 << 20;

/// A nonblocking connection that sends and receives frames.
#[derive(Debug)]
pub struct Link {
    stream: UnixStream,
    queued: Vec<u8>,
    sent_bytes: u64,
    received: Vec<u8>,
    most_body_bytes: usize,
}

impl Link {
    /// Wraps a socket. A received frame whose body is longer than `most_body_bytes` is an error.
    pub fn new(stream: UnixStream, most_body_bytes: usize) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, queued: Vec::new(), sent_bytes: 0, received: Vec::new(), most_body_bytes })
    }

    /// Returns the socket, to wait for.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Returns the number of bytes that are queued and not sent.
    pub fn queued_bytes(&self) -> usize {
        self.queued.len()
    }

    /// Returns the number of bytes that were sent.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Queues a frame.
    pub fn queue(&mut self, head: &impl Serialize, body: &[u8]) {
        push(head, &[body], &mut self.queued);
    }

    /// Sends queued bytes until the socket is full.
    ///
    /// # Errors
    /// If the other end has closed the socket.
    pub fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        let flushed = loop {
            if sent == self.queued.len() {
                break Ok(());
            }
            match self.stream.write(&self.queued[sent..]) {
                Ok(length) => sent += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.queued.drain(..sent);
        self.sent_bytes += sent as u64;
        if self.queued.is_empty() && self.queued.capacity() > READ_BYTES {
            // A round with all tasks is large and rare.
            self.queued = Vec::new();
        }
        flushed
    }

    /// Receives frames until the socket is empty and calls `handle` for each.
    ///
    /// # Errors
    /// If the other end has closed the socket, or a frame is malformed.
    pub fn receive<T: DeserializeOwned>(&mut self, mut handle: impl FnMut(T, &[u8])) -> io::Result<()> {
        let mut chunk = [0; READ_BYTES];
        let ended = loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => break Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.received.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
                Err(error) => break Err(error),
            }
            if self.received.len() > self.most_body_bytes + MAX_RECEIVED_BYTES {
                self.handle(&mut handle)?;
            }
        };
        self.handle(&mut handle)?;
        if self.received.is_empty() && self.received.capacity() > READ_BYTES {
            self.received = Vec::new();
        }
        ended
    }

    fn handle<T: DeserializeOwned>(&mut self, handle: &mut impl FnMut(T, &[u8])) -> io::Result<()> {
        let mut taken = 0;
        while let Some((head, body, length)) = take(&self.received[taken..], self.most_body_bytes)? {
            handle(head, body);
            taken += length;
        }
        self.received.drain(..taken);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_can_be_larger_than_the_socket_buffer() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut one, mut other) = (Link::new(one, 0).unwrap(), Link::new(other, 4 << 20).unwrap());
        let body = vec![7; 3_000_000];
        one.queue(&"first", &body);
        one.queue(&"second", b"");
        let mut found = Vec::new();
        while found.len() < 2 {
            one.flush().unwrap();
            other.receive(|head: String, body: &[u8]| found.push((head, body.len()))).unwrap();
        }
        assert_eq!(found, [("first".to_owned(), body.len()), ("second".to_owned(), 0)]);
        assert_eq!(one.queued_bytes(), 0);
        drop(one);
        assert!(other.receive(|_: String, _| ()).is_err(), "the other end is closed");
    }
}
