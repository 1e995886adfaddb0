//! Tasks by whit's own iterators in the kernel: every thread with every figure, some hundred threads a call; of threads that
//! did not run since the last round no more than their ids, since most of a machine's threads sleep and a sleeper's memory is
//! cold.
//!
//! The program is `src/bpf/tasks.bpf.c`, compiled to the object beside it, in which each access to a kernel's struct can be
//! moved to where the running kernel has the field. aya does that and loads it; then nothing of aya is kept.

use std::error::Error;
use std::fmt::Write;
use std::io;

use aya::programs::{BtfTracePoint, Iter, ProgramError};
use aya::{Btf, EbpfError, EbpfLoader};
use facts::linux::bpf_task::{self, Before, Unseen};
use facts::sample::{Absence, Clock};
use facts::task::table::TaskTable;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::{Errno, read};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::linux::files::absence;
use crate::linux::privilege::Privilege;
use crate::sys::{
    bpf_attach_tracepoint, bpf_begin_round, bpf_link_iterator, give_memory_back, system_constant,
};
use crate::task_reading::Refused;

const OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/tasks.bpf.o");
/// The programs' names in it: every thread whole, or what changed.
const WHOLE: &str = "tasks";
const CHANGES: &str = "changes";
/// What ended tasks used, and where that is counted.
const FREED: &str = "freed";
const FREED_AT: &str = "sched_process_free";
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
    /// The clock of the table that holds the last round.
    last: Option<Clock>,
    buffer: Vec<u8>,
    page_bytes: u64,
}

struct Links {
    whole: OwnedFd,
    changes: OwnedFd,
    /// Where the kernel does not permit it, what ended tasks used is not known to the last.
    freed: Option<OwnedFd>,
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
        Ok(Self { links: links?, privilege, last: None, buffer: vec![0; READ_BYTES], page_bytes })
    }

    /// Adds all threads that the iterator shows to a table that has its clock and no rows. `before` is the table that was read
    /// last, without which everything is read.
    pub(crate) fn read(&mut self, before: &TaskTable, table: &mut TaskTable) -> Result<(), Absence> {
        let is_last = self.last.take() == Some(before.clock);
        if !(is_last && self.read_changes(before, table)?) {
            // Who ended and was born at the wrong moment: rare, and then dear.
            table.clear();
            let (none, page_bytes) = (TaskTable::default(), self.page_bytes);
            let extend = |bytes: &[u8]| bpf_task::extend(table, bytes, &mut Before::new(&none), page_bytes);
            round(&self.links.whole, self.privilege, &mut self.buffer, extend)?
                .map_err(|Unseen| Absence::Malformed)?;
        }
        if self.links.freed.is_none() {
            table.ended_on_cpu = None;
        }
        self.last = Some(table.clock);
        Ok(())
    }

    /// Adds what changed and takes over the rest. Whether all that did not change was known.
    fn read_changes(&mut self, before: &TaskTable, table: &mut TaskTable) -> Result<bool, Absence> {
        let (mut before, page_bytes) = (Before::new(before), self.page_bytes);
        let extend = |bytes: &[u8]| bpf_task::extend(table, bytes, &mut before, page_bytes);
        Ok(round(&self.links.changes, self.privilege, &mut self.buffer, extend)?.is_ok())
    }

    /// The next reading reads everything, because somebody has changed what tasks do not change themselves.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// Reads what changed and keeps nothing. The bytes there were.
    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        self.forget();
        let mut length = 0;
        let count = |bytes: &[u8]| {
            length += bytes.len();
            Ok(())
        };
        round(&self.links.changes, self.privilege, &mut self.buffer, count)?
            .map_err(|Unseen| Absence::Malformed)?;
        Ok(length)
    }
}

fn round(
    link: &OwnedFd,
    privilege: Privilege,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]) -> Result<(), Unseen>,
) -> Result<Result<(), Unseen>, Absence> {
    let errno = |error: io::Error| absence(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    let round = privilege.during(|| bpf_begin_round(link.as_fd())).map_err(errno)?;
    loop {
        match read(&round, &mut *buffer) {
            Ok(0) => return Ok(Ok(())),
            Ok(length) => match each(&buffer[..length]) {
                Ok(()) => {}
                Err(unseen) => return Ok(Err(unseen)),
            },
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
    let freed: Option<&mut BtfTracePoint> =
        loaded.program_mut(FREED).and_then(|program| program.try_into().ok());
    let freed = freed.and_then(|program| {
        program.load(FREED_AT, &types).ok()?;
        bpf_attach_tracepoint(program.fd().ok()?.as_fd()).ok()
    });
    Ok(Links { whole, changes, freed })
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
