//! FreeBSD: everything by sysctl(3), nothing by files.
//!
//! Compiled on every system: the replies come from the kernel, or from the files of a capture. Only the system calls are FreeBSD's
//! own. Written from the manual pages and headers, and never run on a FreeBSD kernel: see ARCHITECTURE.md.
//!
//! Some figures are not what they are on Linux. A thread's wall time is that of its process, whose start every record contains. Names have
//! at most 15 bytes. I/O wait, soft interrupts and stolen time are not counted, and the head of `top` shows them as 0; `buffers` and `slab`
//! of `free` are 0.

pub(crate) mod capture;
pub(crate) mod machine;
mod network;
mod node;
mod replies;
pub(crate) mod survey;
pub(crate) mod tasks;

use std::collections::BTreeMap;
use std::io;

use facts::cursor::Malformed;
use facts::freebsd::{self, boottime, kinfo_proc};
use facts::linux::uptime::Uptime;
use facts::sample::{Absence, Clock};
use rustix::io::Errno;

use crate::roots::{RootError, Roots};
pub(crate) use node::Node;
use replies::Replies;

/// Reads nodes, into one piece of memory that is kept.
#[derive(Debug)]
pub(crate) struct Sysctl {
    memory: Vec<u8>,
    origin: Origin,
    pub(crate) calls: u64,
    /// The replies by the names of their nodes, if they are recorded.
    recorded: Option<BTreeMap<String, Vec<u8>>>,
}

/// Where replies come from.
#[derive(Debug)]
enum Origin {
    #[cfg(target_os = "freebsd")]
    Kernel,
    Capture(Replies),
}

impl Sysctl {
    /// The kernel's, or those of a capture.
    pub(crate) fn open(roots: &Roots) -> Result<Self, RootError> {
        #[cfg(target_os = "freebsd")]
        if !roots.is_captured() {
            return Ok(Self::of(Origin::Kernel));
        }
        let replies = Replies::open(roots).map_err(|errno| roots.error("sysctl", errno.into()))?;
        let mut memory = Vec::new();
        // Every figure is relative to the time of the capture.
        replies.read_beside("uptime", &mut memory).map_err(|errno| roots.error("uptime", errno.into()))?;
        let booted = replies.read(Node::Named("kern.boottime"), &mut memory);
        booted.map_err(|errno| roots.error("sysctl/kern.boottime", errno.into()))?;
        Ok(Self::of(Origin::Capture(replies)))
    }

    fn of(origin: Origin) -> Self {
        Self { memory: Vec::new(), origin, calls: 0, recorded: None }
    }

    /// Records every reply.
    fn recording(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self { recorded: Some(BTreeMap::new()), ..Self::open(roots)? })
    }

    /// The replies that were recorded, by the names of their nodes.
    fn recorded(self) -> BTreeMap<String, Vec<u8>> {
        self.recorded.unwrap_or_default()
    }

    /// A node's bytes.
    pub(crate) fn read(&mut self, node: Node<'_>) -> Result<&[u8], Absence> {
        self.calls += 1;
        let bytes: &[u8] = match &self.origin {
            #[cfg(target_os = "freebsd")]
            Origin::Kernel => crate::sys::sysctl(node, &mut self.memory)
                .map_err(|error| absence(Errno::from_io_error(&error).unwrap_or(Errno::INVAL)))?,
            Origin::Capture(replies) => {
                replies.read(node, &mut self.memory).map_err(absence)?;
                &self.memory
            }
        };
        // The record of one process would take the place of all.
        if let (Some(recorded), false) =
            (&mut self.recorded, matches!(node, Node::Processes { pid: Some(_), .. }))
        {
            let bytes =
                if matches!(node, Node::Processes { .. }) { without_unread(bytes) } else { bytes.to_vec() };
            recorded.insert(node.file_name(), bytes);
        }
        Ok(bytes)
    }

    /// A node that is a number.
    pub(crate) fn number(&mut self, name: &str) -> Result<u64, Absence> {
        self.parse(name, freebsd::number)
    }

    /// A node, and what its bytes mean.
    pub(crate) fn parse<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
    ) -> Result<T, Absence> {
        parse(self.read(Node::Named(name))?).map_err(|_| Absence::Malformed)
    }

    /// A node that is text.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, Absence> {
        let bytes = self.read(Node::Named(name))?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).trim().to_owned())
    }

    /// The time. That of a captured machine stands still: its boot, and its uptime from the file of that name.
    pub(crate) fn clock(&mut self) -> Clock {
        match &self.origin {
            #[cfg(target_os = "freebsd")]
            Origin::Kernel => crate::clock::clock_now(),
            Origin::Capture(replies) => {
                let mut uptime = Uptime::default();
                if replies.read_beside("uptime", &mut self.memory).is_ok() {
                    // What cannot be read of it is zero.
                    let _ = uptime.parse(&self.memory);
                }
                let uptime = uptime.uptime;
                let booted = self.parse("kern.boottime", boottime::parse).unwrap_or_default();
                Clock { monotonic: uptime, boottime: uptime, realtime: booted + uptime }
            }
        }
    }

    /// A file that stands beside the replies of a captured machine.
    fn beside(&mut self, name: &str) -> Option<&[u8]> {
        match &self.origin {
            #[cfg(target_os = "freebsd")]
            Origin::Kernel => None,
            Origin::Capture(replies) => {
                replies.read_beside(name, &mut self.memory).ok()?;
                Some(&self.memory)
            }
        }
    }

    fn is_captured(&self) -> bool {
        match &self.origin {
            #[cfg(target_os = "freebsd")]
            Origin::Kernel => false,
            Origin::Capture(_) => true,
        }
    }
}

/// The bytes of a node by its name.
pub(crate) fn node_bytes(roots: &Roots, name: &str) -> io::Result<Vec<u8>> {
    let mut memory = Vec::new();
    #[cfg(target_os = "freebsd")]
    if !roots.is_captured() {
        return crate::sys::sysctl(Node::Named(name), &mut memory).map(<[u8]>::to_vec);
    }
    Replies::open(roots)?.read(Node::Named(name), &mut memory)?;
    Ok(memory)
}

/// Processes with zeros in place of everything that is not read.
fn without_unread(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    for one in kinfo_proc::each(bytes).map_while(Result::ok) {
        let mut record = vec![0; one.len()];
        for (offset, length) in kinfo_proc::READ {
            record[offset..offset + length].copy_from_slice(&one[offset..offset + length]);
        }
        kept.extend(record);
    }
    kept
}

fn absence(errno: Errno) -> Absence {
    match errno {
        // A name that is not there, an interface or process that went.
        Errno::NOENT | Errno::SRCH | Errno::NXIO => Absence::Gone,
        Errno::PERM | Errno::ACCESS => Absence::Denied,
        Errno::NOMEM | Errno::MFILE | Errno::NFILE => Absence::Exhausted,
        _ => Absence::Unsupported,
    }
}
