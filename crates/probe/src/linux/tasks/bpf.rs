//! Tasks by whit's own iterator in the kernel: every thread with every figure, some hundred threads a call.
//!
//! The program is `src/bpf/tasks.bpf.c`, compiled to the object beside it, in which each access to a kernel's struct can be
//! moved to where the running kernel has the field. aya does that and loads it; then nothing of aya is kept.

use std::error::Error;
use std::fmt::Write;
use std::io;

use aya::programs::{Iter, ProgramError};
use aya::{Btf, EbpfError, EbpfLoader};
use facts::linux::bpf_task;
use facts::sample::Absence;
use facts::task::table::TaskTable;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::linux::files::absence;
use crate::sys::{bpf_begin_round, bpf_link_iterator, give_memory_back, system_constant};
use crate::task_reading::Refused;

const OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/tasks.bpf.o");
/// The program's name in it.
const PROGRAM: &str = "tasks";
/// What the kernel gives at most in one read.
const READ_BYTES: usize = 32 * 1024;

/// A loaded iterator.
pub(crate) struct BpfTasks {
    link: OwnedFd,
    buffer: Vec<u8>,
    page_bytes: u64,
}

impl BpfTasks {
    /// Loads the program.
    pub(crate) fn open() -> Result<Self, Refused> {
        // Before 5.11 what the kernel keeps for a program counts as locked memory.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None });
        let link = load();
        // The types of the kernel took some 30 MB.
        give_memory_back();
        let page_bytes = system_constant(libc::_SC_PAGESIZE).unwrap_or(4096);
        Ok(Self { link: link?, buffer: vec![0; READ_BYTES], page_bytes })
    }

    /// Adds all threads that the iterator shows.
    pub(crate) fn read(&mut self, table: &mut TaskTable) -> Result<(), Absence> {
        let page_bytes = self.page_bytes;
        self.round(|bytes| bpf_task::extend(table, bytes, page_bytes))
    }

    /// Reads all and keeps nothing. The bytes there were.
    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        let mut length = 0;
        self.round(|bytes| length += bytes.len())?;
        Ok(length)
    }

    fn round(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), Absence> {
        let errno = |error: io::Error| absence(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let round = bpf_begin_round(self.link.as_fd()).map_err(errno)?;
        loop {
            match read(&round, &mut self.buffer[..]) {
                Ok(0) => return Ok(()),
                Ok(length) => each(&self.buffer[..length]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(absence(error)),
            }
        }
    }
}

fn load() -> Result<OwnedFd, Refused> {
    let no_types = |error| Refused::new(Absence::Unsupported, format!("no BTF: {error}"));
    let types = Btf::from_sys_fs().map_err(no_types)?;
    let mut loader = EbpfLoader::new();
    let mut loaded = loader.btf(Some(&types)).load(OBJECT).map_err(|error: EbpfError| refused(&error))?;
    let program: Option<&mut Iter> = loaded.program_mut(PROGRAM).and_then(|program| program.try_into().ok());
    let program =
        program.ok_or_else(|| Refused::new(Absence::Malformed, "the object has no iterator".into()))?;
    program.load("task", &types).map_err(|error| refused(&error))?;
    let descriptor = program.fd().map_err(|error: ProgramError| refused(&error))?;
    bpf_link_iterator(descriptor.as_fd()).map_err(|error| refused(&error))
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
