//! What threads wait for is not known on FreeBSD.

use std::rc::Rc;

use facts::linux::socket_tables::{InetProtocol, InetSocket};
use facts::task::chain::{Awaited, ProcessNow, ThreadNow, WaitSource};

use crate::roots::RootError;

/// Reads nothing.
pub struct WaitReader;

impl WaitReader {
    /// Opens nothing.
    ///
    /// # Errors
    /// None.
    pub fn open() -> Result<Self, RootError> {
        Ok(Self)
    }

    /// Begins a new look.
    pub fn look_again(&mut self) {}

    /// The processes that there are: none is known.
    pub fn pids(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// The sockets of TCP and UDP: none is known.
    pub fn inet_sockets(&mut self) -> Vec<(InetProtocol, InetSocket)> {
        Vec::new()
    }

    /// Returns a process that has a socket open: none is known.
    pub fn owner_of(&mut self, _inode: u32) -> Option<Rc<ProcessNow>> {
        None
    }

    /// The processes that descend from one: none is known.
    pub fn descendants(&mut self, _pid: u32) -> Vec<u32> {
        Vec::new()
    }
}

impl WaitSource for WaitReader {
    fn process(&mut self, _pid: u32) -> Option<Rc<ProcessNow>> {
        None
    }

    fn awaited(&mut self, _thread: &ThreadNow) -> Awaited {
        Awaited::NOTHING
    }
}
