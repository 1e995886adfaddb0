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
//! How the program gets into the kernel is in `bpf_programs`.

use std::io;

use facts::linux::bpf_task::{EndOfRound, Item, Items};
use facts::sample::{Absence, Clock};
use facts::task::Accounting;
use facts::task::store::TaskStore;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::bpf_programs::{self, Links};
use crate::linux::files::absence;
use crate::linux::privilege::Privilege;
use crate::linux::system_calls::MACHINE;
use crate::sys::{bpf_begin_round, give_memory_back, system_constant};
use crate::task_source::Refused;

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
        let privilege = Privilege::given();
        let links = privilege.during(bpf_programs::load);
        // The types of the kernel took some MB.
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
