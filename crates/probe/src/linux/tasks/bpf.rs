//! Tasks by whit's own iterators in the kernel: every thread with every figure, some hundred threads a call. Threads that did not run
//! since the last round are left out: most of a machine's threads sleep, and the memory of a sleeper is cold. The end of a round says
//! how many were left out and which they were, in a sum of fingerprints; if the store does not hold exactly these, everything is read.
//!
//! The program is `src/bpf/tasks.bpf.c`, compiled to the object beside it, in which each access to a kernel's struct can be
//! moved to where the running kernel has the field. aya does that and loads it; then nothing of aya is kept.

use std::error::Error;
use std::fmt::Write;
use std::io;

use aya::programs::{BtfTracePoint, Iter, ProgramError};
use aya::{Btf, EbpfError, EbpfLoader};
use facts::linux::bpf_task::{EndOfRound, Item, Items};
use facts::sample::{Absence, Clock};
use facts::task::store::TaskStore;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::{Errno, read};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::linux::files::absence;
use crate::linux::privilege::Privilege;
use crate::sys::{
    bpf_attach_tracepoint, bpf_begin_round, bpf_link_iterator, give_memory_back, system_constant,
};
use crate::task_source::Refused;

const OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/tasks.bpf.o");
/// The programs' names in it: every thread whole, or what changed.
const WHOLE: &str = "tasks";
const CHANGES: &str = "changes";
/// Programs at tracepoints: what ended tasks used, and which ids are given up.
const FREED: (&str, &str) = ("freed", "sched_process_free");
const EXITING: (&str, &str) = ("exiting", "sched_process_exit");
const EXECUTED: (&str, &str) = ("executed", "sched_process_exec");
/// While types are read and the program is moved onto them memory grows to seven times their length.
const BYTES_BY_TYPE_BYTE: u64 = 8;
const SPARE_BYTES: u64 = 8 << 20;
/// What the kernel gives at most in one read.
const READ_BYTES: usize = 32 * 1024;

/// The loaded iterators.
pub(crate) struct BpfTasks {
    links: Links,
    /// Before 5.18 it is looked at at every round.
    privilege: Privilege,
    /// The clock of the last round, by which its store is recognised.
    last: Option<Clock>,
    /// Tasks that had started to exit in the last round: they disappear without further notice.
    exiting: Vec<u32>,
    /// The reader is in a PID namespace, where the notices of ids do not hold.
    is_nested: bool,
    buffer: Vec<u8>,
    page_bytes: u64,
}

struct Links {
    whole: OwnedFd,
    /// With the notices of ids that were given up; `None` if the kernel does not permit those.
    changes: Option<(OwnedFd, [OwnedFd; 2])>,
    /// If the kernel does not permit it, the CPU time of ended tasks is not known exactly.
    freed: Option<OwnedFd>,
}

/// What a round has read.
pub(super) struct Round {
    /// Whether every task was put into the store that exists.
    pub(super) is_whole: bool,
    /// Threads that the iterator has seen.
    pub(super) threads: usize,
}

/// The end of a round, with the ids.
struct End {
    skipped: usize,
    fingerprints: u64,
    given_up: Vec<u32>,
}

impl BpfTasks {
    /// Loads the program.
    pub(crate) fn open() -> Result<Self, Refused> {
        // Before 5.11 what the kernel keeps for a program counts as locked memory.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None });
        if !can_reserve(types_bytes() * BYTES_BY_TYPE_BYTE + SPARE_BYTES) {
            let detail =
                "the kernel's types want more memory than there may be while they are read (ulimit -v, -d)";
            return Err(Refused::new(Absence::Exhausted, detail.to_owned()));
        }
        let privilege = Privilege::given();
        let links = privilege.during(load);
        // The types of the kernel took some 30 MB.
        give_memory_back();
        let page_bytes = system_constant(libc::_SC_PAGESIZE).unwrap_or(4096);
        let (exiting, buffer) = (Vec::new(), vec![0; READ_BYTES]);
        Ok(Self { links: links?, privilege, last: None, exiting, is_nested: false, buffer, page_bytes })
    }

    /// Puts the threads that the iterator shows into a store whose round has begun. Of `left_out` the iterator knows nothing.
    pub(super) fn read(&mut self, store: &mut TaskStore, left_out: &[u32]) -> Result<Round, Absence> {
        let is_followed =
            self.last.take() == Some(store.clock_before()) && self.links.changes.is_some() && !self.is_nested;
        let threads = if is_followed { self.read_changes(store, left_out)? } else { None };
        let round = match threads {
            Some(threads) => Round { is_whole: false, threads },
            // What was left out is not what the store holds: tasks came and went at the wrong moment.
            None => {
                store.start_over();
                let (threads, _) = self.put(store, true)?;
                Round { is_whole: true, threads }
            }
        };
        self.last = Some(store.clock());
        Ok(round)
    }

    /// Puts what changed and removes what ended. Returns the number of threads; `None` if the store does not hold exactly the others.
    fn read_changes(&mut self, store: &mut TaskStore, left_out: &[u32]) -> Result<Option<usize>, Absence> {
        let mut removed = std::mem::take(&mut self.exiting);
        let (put, end) = self.put(store, false)?;
        let Some(end) = end else { return Ok(None) };
        removed.extend(end.given_up);
        removed.sort_unstable();
        removed.dedup();
        let unseen = left_out.iter().filter(|tid| removed.binary_search(tid).is_err());
        if store.stale(removed.iter().chain(unseen)) != (end.skipped, end.fingerprints) {
            return Ok(None);
        }
        removed.into_iter().for_each(|pid| store.remove(pid));
        Ok(Some(put + end.skipped))
    }

    /// Reads a round of one of the iterators. Returns how many threads were put, and the end if the program kept all ids.
    fn put(&mut self, store: &mut TaskStore, is_whole: bool) -> Result<(usize, Option<End>), Absence> {
        let link = match &self.links.changes {
            Some((changes, _)) if !is_whole => changes,
            _ => &self.links.whole,
        };
        let (mut count, mut last) = (0, None);
        let (page_bytes, since_boot) = (self.page_bytes, store.clock().boottime);
        let counts_freed = self.links.freed.is_some();
        self.exiting.clear();
        let (exiting, is_nested) = (&mut self.exiting, &mut self.is_nested);
        round(link, self.privilege, &mut self.buffer, |bytes| {
            for item in Items::new(bytes, page_bytes, since_boot) {
                match item {
                    Item::Thread { row, is_exiting } => {
                        count += 1;
                        exiting.extend(is_exiting.then_some(row.key.pid));
                        store.put_exact(&row);
                    }
                    Item::End(end) => {
                        store.ended_on_cpu = counts_freed.then_some(end.ended_on_cpu);
                        *is_nested = end.is_nested;
                        last = (!end.is_overflown && !end.is_nested).then(|| End::of(&end));
                    }
                }
            }
        })?;
        Ok((count, last))
    }

    /// Lets the next round read everything.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// Reads what changed and keeps nothing. The bytes there were.
    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        self.forget();
        let mut length = 0;
        let (changes, _) = self.links.changes.as_ref().ok_or(Absence::Unsupported)?;
        round(changes, self.privilege, &mut self.buffer, |bytes| length += bytes.len())?;
        Ok(length)
    }
}

impl End {
    fn of(end: &EndOfRound<'_>) -> Self {
        let (skipped, given_up) = (end.skipped as usize, end.given_up().collect());
        Self { skipped, fingerprints: end.fingerprints, given_up }
    }
}

fn round(
    link: &OwnedFd,
    privilege: Privilege,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> Result<(), Absence> {
    let errno = |error: io::Error| absence(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    let round = privilege.during(|| bpf_begin_round(link.as_fd())).map_err(errno)?;
    loop {
        match read(&round, &mut *buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => each(&buffer[..length]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(absence(error)),
        }
    }
}

/// How long the description of the kernel's types is; zero where there is none, which [`load`] says.
fn types_bytes() -> u64 {
    statat(CWD, "/sys/kernel/btf/vmlinux", AtFlags::empty()).map_or(0, |found| found.st_size.cast_unsigned())
}

/// Whether there may be so much more memory. To read the types without it would end the process.
fn can_reserve(bytes: u64) -> bool {
    let mut memory: Vec<u8> = Vec::new();
    let is_reserved = usize::try_from(bytes).is_ok_and(|bytes| memory.try_reserve_exact(bytes).is_ok());
    // What is not used the compiler would not reserve.
    std::hint::black_box(memory);
    is_reserved
}

fn load() -> Result<Links, Refused> {
    let no_types = |error| Refused::new(Absence::Unsupported, format!("no BTF: {error}"));
    let types = Btf::from_sys_fs().map_err(no_types)?;
    let mut loader = EbpfLoader::new();
    let mut loaded = loader.btf(Some(&types)).load(OBJECT).map_err(|error: EbpfError| refused(&error))?;
    let mut link = |name| {
        let program: Option<&mut Iter> = loaded.program_mut(name).and_then(|program| program.try_into().ok());
        let program = program
            .ok_or_else(|| Refused::new(Absence::Malformed, format!("the object has no iterator {name}")))?;
        program.load("task", &types).map_err(|error| refused(&error))?;
        let descriptor = program.fd().map_err(|error: ProgramError| refused(&error))?;
        bpf_link_iterator(descriptor.as_fd()).map_err(|error| refused(&error))
    };
    let (whole, changes) = (link(WHOLE)?, link(CHANGES)?);
    let mut attach = |(name, tracepoint): (&str, &str)| {
        let program: &mut BtfTracePoint = loaded.program_mut(name)?.try_into().ok()?;
        program.load(tracepoint, &types).ok()?;
        bpf_attach_tracepoint(program.fd().ok()?.as_fd()).ok()
    };
    let freed = attach(FREED);
    let notices = attach(EXITING).zip(attach(EXECUTED));
    Ok(Links { whole, changes: notices.map(|(exiting, executed)| (changes, [exiting, executed])), freed })
}

/// The reason with all its causes; the kernel's error number, where one is at the bottom of it.
fn refused(error: &(dyn Error + 'static)) -> Refused {
    let mut text = String::new();
    let mut reason = Absence::Unsupported;
    let mut cause = Some(error);
    while let Some(error) = cause {
        let separator = if text.is_empty() { "" } else { ": " };
        // A String takes whatever is written to it; of the verifier's long words the first line will do.
        let _ = write!(text, "{separator}{}", error.to_string().lines().next().unwrap_or_default());
        if let Some(errno) = error.downcast_ref::<io::Error>().and_then(Errno::from_io_error) {
            reason = absence(errno);
        }
        cause = error.source();
    }
    Refused::new(reason, text)
}
