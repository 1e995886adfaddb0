//! The agent's end: starts the process that runs plugins, orders, and takes what is reported.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use probe::background_job::Notifier;
use probe::spawn::{Command, Group, reap_ended};
use rustix::fd::BorrowedFd;

use super::frames::{MAX_BODY_BYTES, Order, Report, ReportHead};
use service::frames::{push, take};

const READ_BYTES: usize = 16 * 1024;

/// The process, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Runner {
    pid: u32,
    socket: UnixStream,
    orders: Vec<u8>,
    reports: Vec<u8>,
}

/// A process that was started while this one had privileges that it gives up: plugins can run as other users.
#[derive(Debug)]
pub struct PrivilegedRunner {
    /// `None` once it is used.
    pub(crate) runner: Option<Runner>,
    /// Notified when it is gone: only a process with these privileges can start another one.
    pub(crate) lost: Notifier,
}

impl PrivilegedRunner {
    /// Starts it, as [`CheckOptions::runner`](crate::CheckOptions) says.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(words: &[OsString], lost: Notifier) -> io::Result<Self> {
        Ok(Self { runner: Some(Runner::start(words)?), lost })
    }
}

impl Runner {
    /// Starts it: the words are the command that calls [`super::run()`] with its standard input.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(words: &[OsString]) -> io::Result<Self> {
        let (socket, other) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        let command = Command {
            words: words.to_vec(),
            streams: [Some(other.as_fd()), None, None],
            // What the terminal sends ends the agent, which ends it.
            group: Group::Session,
            ..Command::default()
        };
        let pid = command.start()?;
        Ok(Self { pid, socket, orders: Vec::new(), reports: Vec::new() })
    }

    /// Becomes readable when there are reports, and writable when there is room for orders.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Orders a plugin to be run.
    pub(crate) fn order(&mut self, order: &Order) {
        push(order, &[], &mut self.orders);
    }

    /// Sends what was ordered and takes what was reported.
    ///
    /// # Errors
    /// If the process is gone.
    pub(crate) fn exchange(&mut self, mut take_report: impl FnMut(Report)) -> io::Result<()> {
        while !self.orders.is_empty() {
            match self.socket.write(&self.orders) {
                Ok(sent) => drop(self.orders.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let mut chunk = [0; READ_BYTES];
        loop {
            match self.socket.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.reports.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let mut taken = 0;
        while let Some((head, body, length)) = take::<ReportHead>(&self.reports[taken..], MAX_BODY_BYTES)? {
            taken += length;
            let ReportHead { id, fate, is_gone, cost, output_bytes, is_cut } = head;
            let (output, errors) = body.split_at(output_bytes.min(body.len()));
            let (output, errors) = (output.to_vec(), errors.to_vec());
            take_report(Report { id, fate, is_gone, cost, output, errors, is_cut });
        }
        self.reports.drain(..taken);
        Ok(())
    }
}

impl Drop for Runner {
    /// It ends by itself when its socket is closed; a dead or confused one is not waited for.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        reap_ended(self.pid.cast_signed());
    }
}
