//! Processes at one instant, and what their threads wait for.

use core::net::SocketAddr;
use std::rc::Rc;

use crate::linux::socket_tables::InetProtocol;
use crate::linux::tcp_info::TcpInfo;
use crate::task::wait::Wait;

/// Reads processes as they are now.
pub trait WaitSource {
    /// Reads a process with its threads; `None` if it is gone.
    fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>>;

    /// Finds the object that a thread waits for, and who can end the wait.
    fn awaited(&mut self, thread: &ThreadNow) -> Awaited;
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessNow {
    /// Its id.
    pub pid: u32,
    /// Its threads.
    pub threads: Vec<ThreadNow>,
}

impl ProcessNow {
    /// The name of its first thread, which is that of its program.
    pub fn comm(&self) -> &str {
        self.threads.first().map_or("", |leader| &leader.comm)
    }
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadNow {
    /// Its id.
    pub tid: u32,
    /// That of its process.
    pub pid: u32,
    /// Its name.
    pub comm: String,
    /// What it does.
    pub activity: Activity,
}

impl ThreadNow {
    /// Returns whether it has nothing to do: it waits for any work.
    pub fn is_idle(&self) -> bool {
        matches!(self.activity, Activity::Waits(wait) if wait.reason.is_idle())
    }
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It is on a CPU, or could be.
    Runs,
    /// It sleeps.
    Waits(Wait),
    /// It sleeps, and why may not be read: mostly it is another user's.
    Hidden,
    /// A signal stopped it.
    Stopped,
    /// A debugger holds it.
    Traced,
    /// It has ended, and its parent has not collected it.
    Ended,
}

/// The object of a wait, and who can end it.
#[derive(Clone, Debug, PartialEq)]
pub struct Awaited {
    /// The object.
    pub object: Object,
    /// Who can end the wait.
    pub on: Dependence,
    /// It waits for room, and not for data.
    pub is_for_room: bool,
}

impl Awaited {
    /// Nothing is known beyond the reason, which explains itself.
    pub const NOTHING: Self = Self::new(Object::None, Dependence::None);
    /// Whom it waits for is not known.
    pub const UNKNOWN: Self = Self::new(Object::None, Dependence::Unknown);

    /// An object that is not waited for room at.
    pub const fn new(object: Object, on: Dependence) -> Self {
        Self { object, on, is_for_room: false }
    }
}

/// Who can end a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Dependence {
    /// No task of this machine: the reason explains itself.
    None,
    /// A task that is not known.
    Unknown,
    /// A process that may not be looked at: mostly it is another user's.
    OtherUser,
    /// One of these processes.
    Processes {
        /// Their ids.
        pids: Vec<u32>,
        /// It follows from what was seen, and was not seen itself.
        is_probable: bool,
    },
    /// A thread.
    Thread {
        /// Its process.
        pid: u32,
        /// Its id.
        tid: u32,
        /// As above.
        is_probable: bool,
    },
}

/// The object of a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// It is not known.
    None,
    /// A lock at an address of its process.
    Lock(u64),
    /// The end of a thread of its process.
    ThreadEnd,
    /// A file, by its path.
    File(String),
    /// A pipe.
    Pipe,
    /// A socket of unix(7), with the name to which one of its ends is bound.
    UnixSocket(Option<String>),
    /// A socket of TCP or UDP.
    Connection {
        /// The protocol.
        protocol: InetProtocol,
        /// The other end.
        remote: SocketAddr,
        /// Its process made the connection, and did not accept it.
        is_made_here: bool,
        /// TCP's own account.
        tcp: Option<TcpInfo>,
    },
    /// Several descriptors.
    Descriptors(u32),
}
