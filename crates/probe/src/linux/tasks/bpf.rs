//! Reads all threads with a BPF task iterator (bpf iter/task, Linux 5.8), about 80 threads per read(2).
//!
//! Threads that did not run since the last round are skipped: most threads of a machine sleep, and the kernel's data about a sleeping
//! thread is usually not in the CPU caches. A round of all threads at 1 Hz takes 0.86 µs a thread, and half of it if only the pid is read;
//! with warm caches 0.3 µs are enough. The last item of a round contains the number of skipped threads and the sum of their fingerprints.
//! If the store does not hold exactly these threads, all threads are read.
//!
//! A program at sched_switch could mark the threads that run, so that a round would visit no others. There is none, because all programs
//! of the machine would pay for it all the time: `perf bench sched pipe` used 4.4 % more CPU (median of 21 pairs, quartiles 0.0 and 9.3;
//! 3.6 % more time), `perf bench sched messaging` 1.4 % (−4.0 and 4.7), on two virtual CPUs.
//!
//! The program is `src/bpf/tasks.bpf.c`, compiled to `tasks.bpf.o` by `make bpf`; `make generated` checks that both agree. aya adapts its
//! accesses to the struct layouts of the running kernel (CO-RE) and loads it. After that, only the file descriptors of the links are kept.
//!
//! Loading costs most where the kernel's verifier searches all types, 5.5 MB of them, for each pointer that it sees being read of a task
//! (`btf_find_by_name_kind`; seen in 6.18). Pointers are therefore read once, before branches: 19 ms of CPU time for each iterator instead of 59.

use std::error::Error;
use std::fmt::Write;
use std::{fs, io};

use aya::maps::MapType;
use aya::programs::{BtfTracePoint, Iter, ProgramError};
use aya::sys::is_map_supported;
use aya::{Btf, EbpfError, EbpfLoader, Endianness};
use facts::linux::bpf_task::{EndOfRound, Item, Items};
use facts::linux::btf;
use facts::sample::{Absence, Clock};
use facts::task::Accounting;
use facts::task::store::TaskStore;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::{Errno, read};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::linux::files::absence;
use crate::linux::privilege::Privilege;
use crate::linux::system_calls::MACHINE;
use crate::sys::{
    bpf_attach_tracepoint, bpf_begin_round, bpf_link_iterator, give_memory_back, system_constant,
};
use crate::task_source::Refused;

const TYPES: &str = "/sys/kernel/btf/vmlinux";
const OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/tasks.bpf.o");
/// What is iterated over.
const ITERATOR: &str = "task";
/// The names of the iterator programs in the object: [`WHOLE`] reports all threads, [`CHANGES`] those that changed.
const WHOLE: &str = "tasks";
const CHANGES: &str = "changes";
/// Programs at tracepoints, and their tracepoints. `freed` sums the CPU time of ended tasks. `exiting` and `executed` record the ids of
/// tasks that exit, and of threads that take over the id of their main thread by execve(2).
const FREED: (&str, &str) = ("freed", "sched_process_free");
const EXITING: (&str, &str) = ("exiting", "sched_process_exit");
const EXECUTED: (&str, &str) = ("executed", "sched_process_exec");
/// Bytes of memory per byte of BTF that loading needs: seven, while aya parses the BTF and relocates the program.
const BYTES_BY_TYPE_BYTE: u64 = 8;
const SPARE_BYTES: u64 = 8 << 20;
/// The most that one read(2) of a BPF iterator returns: its buffer has 8 pages (kernel/bpf/bpf_iter.c).
const READ_BYTES: usize = 32 * 1024;

/// The loaded iterators.
pub(crate) struct BpfTasks {
    links: Links,
    /// Before 5.18 it is looked at at every round.
    privilege: Privilege,
    /// The clock of the last round. A store whose previous clock is equal has all of that round; `None` makes the next round read all.
    last: Option<Clock>,
    /// Ids of tasks that were exiting when the last round read them. The program may have reported their exit before, and does not
    /// report it again.
    exiting: Vec<u32>,
    /// whit runs in a PID namespace. The programs at tracepoints record ids of the initial namespace, which are then useless.
    is_nested: bool,
    /// Delay accounting is off.
    is_uncounted: bool,
    buffer: Vec<u8>,
    page_bytes: u64,
}

struct Links {
    whole: OwnedFd,
    /// The iterator of changes, and the links of the two tracepoint programs that it needs ([`EXITING`], [`EXECUTED`]). `None` if these
    /// could not be attached.
    changes: Option<(OwnedFd, [OwnedFd; 2])>,
    /// The link of [`FREED`]. `None` if it could not be attached: the CPU time of ended tasks is then not known exactly.
    freed: Option<OwnedFd>,
}

/// The result of reading a round.
pub(super) struct Round {
    /// All threads were read, not only those that changed.
    pub(super) is_whole: bool,
    /// The number of threads that the iterator has visited, skipped ones included.
    pub(super) threads: usize,
}

/// The last item of a round, with a copy of its ids. See [`EndOfRound`].
struct End {
    skipped: usize,
    fingerprints: u64,
    given_up: Vec<u32>,
}

impl BpfTasks {
    /// Loads the program.
    pub(crate) fn open() -> Result<Self, Refused> {
        // Before 5.11, the kernel counts the memory of BPF programs and maps as locked memory (RLIMIT_MEMLOCK).
        let _ = setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None });
        if !can_reserve(types_bytes() * BYTES_BY_TYPE_BYTE + SPARE_BYTES) {
            let detail = "not enough memory to read the kernel's BTF; raise the limits of address space and data (ulimit -v, -d)";
            return Err(Refused::new(Absence::Exhausted, detail.to_owned()));
        }
        let privilege = Privilege::given();
        let links = privilege.during(load);
        // The types of the kernel took some 30 MB.
        give_memory_back();
        let page_bytes = system_constant(libc::_SC_PAGESIZE).unwrap_or(4096);
        let (exiting, buffer) = (Vec::new(), vec![0; READ_BYTES]);
        Ok(Self {
            links: links?,
            privilege,
            last: None,
            exiting,
            is_nested: false,
            is_uncounted: false,
            buffer,
            page_bytes,
        })
    }

    /// Puts the threads that the iterator reports into a store whose round has begun. `left_out` are threads in the store that the
    /// iterator never reports.
    /// `accounting_on` is what the switch says: turned off, nothing is counted for tasks that have room for it either.
    pub(super) fn read(
        &mut self,
        store: &mut TaskStore,
        left_out: &[u32],
        accounting_on: Option<bool>,
    ) -> Result<Round, Absence> {
        if std::mem::replace(&mut self.is_uncounted, accounting_on == Some(false)) != self.is_uncounted {
            self.last = None;
        }
        let is_followed =
            self.last.take() == Some(store.clock_before()) && self.links.changes.is_some() && !self.is_nested;
        let threads = if is_followed { self.read_changes(store, left_out)? } else { None };
        let round = match threads {
            Some(threads) => Round { is_whole: false, threads },
            // The last round was of another store or failed, no exit notices are available, or the store does not hold exactly
            // the threads that the program skipped (tasks started and ended at the wrong moment). Read all threads.
            None => {
                store.start_over();
                let (threads, _) = self.put(store, true)?;
                Round { is_whole: true, threads }
            }
        };
        self.last = Some(store.clock());
        Ok(round)
    }

    /// Puts the threads that changed and removes those that ended. Returns the number of threads. Returns `None` and removes nothing if
    /// the other threads in the store are not exactly those that the program skipped.
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

    /// Reads a round of one of the iterators. Returns the number of threads that were put, and the last item. That is `None` if the
    /// program could not keep all ids, or whit is in a PID namespace.
    fn put(&mut self, store: &mut TaskStore, is_whole: bool) -> Result<(usize, Option<End>), Absence> {
        let link = match &self.links.changes {
            Some((changes, _)) if !is_whole => changes,
            _ => &self.links.whole,
        };
        let (mut count, mut last) = (0, None);
        let (page_bytes, since_boot) = (self.page_bytes, store.clock().boottime);
        let counts_freed = self.links.freed.is_some();
        self.exiting.clear();
        let is_uncounted = self.is_uncounted;
        let (exiting, is_nested) = (&mut self.exiting, &mut self.is_nested);
        round(link, self.privilege, &mut self.buffer, |bytes| {
            for item in Items::new(bytes, MACHINE, page_bytes, since_boot) {
                match item {
                    Item::Thread { mut row, is_exiting } => {
                        count += 1;
                        if is_uncounted {
                            row.accounting = Accounting::Off;
                        }
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

    /// Makes the next round read all threads.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// Reads the iterator of changes and discards the output, to measure the least cost of a round. The next round reads all threads.
    /// Returns the number of bytes.
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

/// The size of the kernel's BTF in bytes. Zero if there is none: [`load`] then returns the error.
fn types_bytes() -> u64 {
    statat(CWD, TYPES, AtFlags::empty()).map_or(0, |found| found.st_size.cast_unsigned())
}

/// Returns true if this amount of memory can be allocated. Rust aborts the process if an allocation fails while aya parses the BTF.
fn can_reserve(bytes: u64) -> bool {
    let mut memory: Vec<u8> = Vec::new();
    let is_reserved = usize::try_from(bytes).is_ok_and(|bytes| memory.try_reserve_exact(bytes).is_ok());
    // Keeps the compiler from removing the allocation, which is not used otherwise.
    std::hint::black_box(memory);
    is_reserved
}

/// The types that the programs need, and where they are attached, as the kernel has them. All of them would take aya five times as long.
fn types_of_tasks() -> Result<Btf, Box<dyn Error>> {
    let own = btf::of_object(OBJECT).ok_or("the object has none")?;
    let iterator = format!("bpf_iter_{ITERATOR}");
    let tracepoints = [FREED, EXITING, EXECUTED].map(|(_, tracepoint)| format!("btf_trace_{tracepoint}"));
    let mut names = btf::names(own)?;
    names.extend(tracepoints.iter().chain([&iterator]).map(String::as_bytes));
    Ok(Btf::parse(&btf::part(&fs::read(TYPES)?, &names)?, Endianness::default())?)
}

fn load() -> Result<Links, Refused> {
    let types =
        types_of_tasks().map_err(|error| Refused::new(Absence::Unsupported, format!("no BTF: {error}")))?;
    // Where bpf(2) is not permitted, as by a container's seccomp filter, aya would say that the kernel lacks what the program needs.
    is_map_supported(MapType::Array).map_err(|error| refused(&error))?;
    let mut loader = EbpfLoader::new();
    let mut loaded = loader.btf(Some(&types)).load(OBJECT).map_err(|error: EbpfError| refused(&error))?;
    let mut link = |name| {
        let program: Option<&mut Iter> = loaded.program_mut(name).and_then(|program| program.try_into().ok());
        let program = program
            .ok_or_else(|| Refused::new(Absence::Malformed, format!("the object has no iterator {name}")))?;
        program.load(ITERATOR, &types).map_err(|error| refused(&error))?;
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

/// Returns the first line of a message. Of the log of the kernel's verifier, which has a line for each instruction, it keeps the one with
/// the fault, which comes last but for statistics.
fn shortened(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let statistics = ["processed ", "verification time ", "stack depth "];
    let is_fault = |line: &&str| !line.is_empty() && !statistics.iter().any(|start| line.starts_with(start));
    match (first.split_once("Verifier output: "), message.lines().rev().find(is_fault)) {
        (Some((before, _)), Some(fault)) => format!("{before}The verifier says: {fault}"),
        _ => first.to_owned(),
    }
}

/// Converts an error: the text contains all its causes. The reason comes from the error number of the system call, if a cause has one.
fn refused(error: &(dyn Error + 'static)) -> Refused {
    let mut text = String::new();
    let mut reason = Absence::Unsupported;
    let mut cause = Some(error);
    while let Some(error) = cause {
        let separator = if text.is_empty() { "" } else { ": " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{}", shortened(&error.to_string()));
        if let Some(errno) = error.downcast_ref::<io::Error>().and_then(Errno::from_io_error) {
            reason = absence(errno);
        }
        cause = error.source();
    }
    Refused::new(reason, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_verifier_is_its_fault() {
        let log = "BPF_PROG_LOAD returned Invalid argument. Verifier output: arg#0 unsupported\n0: R1=ctx\nType 'x' is not a struct\n\
                   verification time 9 usec\nstack depth 120+0\nprocessed 11205 insns (limit 1000000)\n";
        let fault = "BPF_PROG_LOAD returned Invalid argument. The verifier says: Type 'x' is not a struct";
        assert_eq!(shortened(log), fault);
        assert_eq!(shortened("no BTF: not found"), "no BTF: not found");
    }
}
