//! Loads the programs of the task iterator, adapted to the running kernel.
//!
//! The source is `src/bpf/tasks.bpf.c`, compiled to `tasks.bpf.o` by `make bpf`; `make generated` checks that both agree. aya-obj adapts
//! its accesses to the struct layouts of the running kernel (CO-RE). After loading, only the file descriptors of the links are kept.
//!
//! A loader that reads all of the kernel's types, as aya does, twice, takes longer than all else here. It gets those that the programs
//! name ([`Types::part`]): 50 of 65 ms of CPU time less, and 16 MB of memory. What is left is mostly the kernel's verifier, which searches all
//! types, 5.5 MB of them, for each pointer that it sees being read of a task (`btf_find_by_name_kind`; seen in 6.18). Pointers are
//! therefore read once, before branches: 19 ms of CPU time for each iterator instead of 59.

use std::collections::HashSet;
use std::error::Error;
use std::{fs, io, mem};

use aya_obj::Object;
use aya_obj::btf::Btf;
use facts::linux::btf::{self, Types};
use facts::sample::Absence;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::Errno;

use crate::linux::files::absence;
use crate::sys::{BpfTarget, bpf_attach_tracepoint, bpf_link_iterator, bpf_load, bpf_make_variables};
use crate::task_source::Refused;

const TYPES: &str = "/sys/kernel/btf/vmlinux";
const OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!("../../bpf/tasks.bpf.o"));
/// The names of the iterator programs in the object: [`WHOLE`] reports all threads, [`CHANGES`] those that changed.
const WHOLE: &str = "tasks";
const CHANGES: &str = "changes";
/// Programs at tracepoints, and their tracepoints. `freed` sums the CPU time of ended tasks. `exiting` and `executed` record the ids of
/// tasks that exit, and of threads that take over the id of their main thread by execve(2).
const FREED: (&str, &str) = ("freed", "sched_process_free");
const EXITING: (&str, &str) = ("exiting", "sched_process_exit");
const EXECUTED: (&str, &str) = ("executed", "sched_process_exec");
/// Bytes of memory per byte of BTF that loading may need. It takes two and a half: the BTF, an index of it, and its strings twice.
const BYTES_BY_TYPE_BYTE: u64 = 4;
const SPARE_BYTES: u64 = 8 << 20;
/// What the verifier may say of a program that it refuses: a line for each instruction that it walks, some ten thousand.
const MAX_LOG_BYTES: usize = 4 << 20;
/// As libbpf has it.
const MAX_ATTEMPTS: usize = 5;

/// aya-obj reads the ELF file in place, and wants its numbers aligned.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

/// What keeps the programs in the kernel.
pub(super) struct Links {
    /// The iterator of all threads.
    pub(super) whole: OwnedFd,
    /// The iterator of changes, and the links of the two tracepoint programs that it needs ([`EXITING`], [`EXECUTED`]). `None` if these
    /// could not be attached.
    pub(super) changes: Option<(OwnedFd, [OwnedFd; 2])>,
    /// The link of [`FREED`]. `None` if it could not be attached: the CPU time of ended tasks is then not known exactly.
    pub(super) freed: Option<OwnedFd>,
}

/// Loads and attaches them.
pub(super) fn load() -> Result<Links, Refused> {
    if !can_reserve(types_bytes() * BYTES_BY_TYPE_BYTE + SPARE_BYTES) {
        let detail = "not enough memory to read the kernel's BTF; raise the limits of address space and data (ulimit -v, -d)";
        return Err(Refused::new(Absence::Exhausted, detail.to_owned()));
    }
    let no_types = |error: &dyn Error| Refused::new(Absence::Unsupported, format!("no BTF: {error}"));
    let types = fs::read(TYPES).map_err(|error| no_types(&error))?;
    let types = Types::parse(&types).map_err(|error| no_types(&error))?;
    let programs = Programs::adapted(&types)?;
    let link = |name| {
        let id =
            types.function("bpf_iter_task").ok_or_else(|| lacking("the kernel has no iterator of tasks"))?;
        let program = programs.load_needed(name, BpfTarget::Iterator(id))?;
        bpf_link_iterator(program.as_fd()).map_err(|error| refused("linking an iterator", &error))
    };
    let (whole, changes) = (link(WHOLE)?, link(CHANGES)?);
    let attach = |(name, tracepoint): (&str, &str)| {
        let id = types.typedef(&format!("btf_trace_{tracepoint}"))?;
        let program = programs.load(name, BpfTarget::Tracepoint(id), &mut []).ok()?;
        bpf_attach_tracepoint(program.as_fd()).ok()
    };
    let freed = attach(FREED);
    let notices = attach(EXITING).zip(attach(EXECUTED));
    Ok(Links { whole, changes: notices.map(|(exiting, executed)| (changes, [exiting, executed])), freed })
}

/// The programs of the object, with the layouts and the variables that they access.
struct Programs {
    object: Object,
    /// The maps in the kernel that have the variables. Programs keep them once they are loaded.
    _variables: Vec<OwnedFd>,
}

impl Programs {
    fn adapted(types: &Types<'_>) -> Result<Self, Refused> {
        let own = btf::of_object(&OBJECT.0)
            .ok_or_else(|| lacking("the object has no BTF in the byte order of this machine"))?;
        let own = Types::parse(own).map_err(|error| unsupported(&error))?;
        let mut object = Object::parse(&OBJECT.0).map_err(|error| unsupported(&error))?;
        let maps = mem::take(&mut object.maps);
        // Before all else: where bpf(2) is not permitted, as by a container's seccomp filter, this is what says so.
        let variables = maps.values().map(|map| bpf_make_variables(map.value_size()));
        let variables: Vec<OwnedFd> =
            variables.collect::<io::Result<_>>().map_err(|error| refused("making a map", &error))?;
        let named = Btf::parse(&types.part(own.layouts()), object.endianness);
        let named = named.map_err(|error| unsupported(&error))?;
        object.relocate_btf(&named).map_err(|error| unsupported(&error))?;
        let sections: HashSet<usize> = object.functions.keys().map(|(section, _)| *section).collect();
        let placed =
            maps.iter().zip(&variables).map(|((name, map), kept)| (name.as_str(), kept.as_raw_fd(), map));
        object.relocate_maps(placed, &sections).map_err(|error| unsupported(&error))?;
        object.relocate_calls(&sections).map_err(|error| unsupported(&error))?;
        Ok(Self { object, _variables: variables })
    }

    /// Loads one of them. If there is room for a log, the verifier says there what it walks through.
    fn load(&self, name: &str, target: BpfTarget, log: &mut [u8]) -> io::Result<OwnedFd> {
        let program = self.object.programs.get(name);
        let function =
            program.and_then(|program| Some((program, self.object.functions.get(&program.function_key())?)));
        let (program, function) =
            function.ok_or_else(|| io::Error::other("the object has no such program"))?;
        let mut attempt = || bpf_load(name, &function.instructions, &program.license, target, log);
        // The verifier gives up when a signal comes.
        (1..MAX_ATTEMPTS).map(|_| attempt()).find(|loaded| !is_interrupted(loaded)).unwrap_or_else(attempt)
    }

    /// Loads a program without which tasks cannot be read. If the kernel refuses it, it is loaded a second time with a log, which says why.
    fn load_needed(&self, name: &str, target: BpfTarget) -> Result<OwnedFd, Refused> {
        let error = match self.load(name, target, &mut []) {
            Ok(program) => return Ok(program),
            Err(error) => error,
        };
        let mut log = vec![0; MAX_LOG_BYTES];
        match self.load(name, target, &mut log) {
            Ok(program) => return Ok(program),
            // It did not fit, and has no end.
            Err(again) if Errno::from_io_error(&again) == Some(Errno::NOSPC) => log.clear(),
            Err(_) => {}
        }
        let log =
            String::from_utf8_lossy(&log[..log.iter().position(|byte| *byte == 0).unwrap_or(log.len())]);
        Err(match fault(&log) {
            // Whatever the error number is: that of a missing permission is among them.
            Some(fault) => lacking(&format!("loading {name}: {error}. The verifier says: {fault}")),
            None => refused(&format!("loading {name}"), &error),
        })
    }
}

/// The size of the kernel's BTF in bytes. Zero if there is none: reading it then returns the error.
fn types_bytes() -> u64 {
    statat(CWD, TYPES, AtFlags::empty()).map_or(0, |found| found.st_size.cast_unsigned())
}

/// Returns true if this amount of memory can be allocated. Rust aborts the process if an allocation fails while the BTF is parsed.
fn can_reserve(bytes: u64) -> bool {
    let mut memory: Vec<u8> = Vec::new();
    let is_reserved = usize::try_from(bytes).is_ok_and(|bytes| memory.try_reserve_exact(bytes).is_ok());
    // Keeps the compiler from removing the allocation, which is not used otherwise.
    std::hint::black_box(memory);
    is_reserved
}

/// Of the verifier's log, which has a line for each instruction that it walks, the one with the fault: it comes last.
fn fault(log: &str) -> Option<&str> {
    log.lines().rev().find(|line| !line.is_empty())
}

fn is_interrupted(loaded: &io::Result<OwnedFd>) -> bool {
    loaded.as_ref().is_err_and(|error| Errno::from_io_error(error) == Some(Errno::AGAIN))
}

/// What could not be adapted to this kernel, with all its causes.
fn unsupported(error: &dyn Error) -> Refused {
    let mut causes = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    Refused::new(Absence::Unsupported, causes.join(": "))
}

fn lacking(what: &str) -> Refused {
    Refused::new(Absence::Unsupported, what.to_owned())
}

fn refused(what: &str, error: &io::Error) -> Refused {
    Refused::new(reason(error), format!("{what}: {error}"))
}

/// What the error number of a system call says.
fn reason(error: &io::Error) -> Absence {
    Errno::from_io_error(error).map_or(Absence::Unsupported, absence)
}

#[cfg(test)]
mod tests {
    use aya_obj::{EbpfSectionKind, Function};

    use super::*;

    #[test]
    fn of_a_log_the_fault_is_kept() {
        let log = "arg#0 unsupported\n0: R1=ctx\nType 'x' is not a struct\n\n";
        assert_eq!(fault(log), Some("Type 'x' is not a struct"));
        assert_eq!(fault(""), None);
    }

    #[test]
    fn the_object_names_the_types_that_it_reads() {
        let own = Types::parse(btf::of_object(&OBJECT.0).unwrap()).unwrap();
        let layouts: Vec<&[u8]> = own.layouts().collect();
        assert!(
            [&b"task_struct"[..], b"mm_struct", b"cgroup_subsys_id"]
                .iter()
                .all(|name| layouts.contains(name))
        );
    }

    /// Others would have to be filled before a program is loaded.
    #[test]
    fn variables_begin_with_zeros() {
        let object = Object::parse(&OBJECT.0).unwrap();
        assert!(object.maps.values().all(|map| map.section_kind() == EbpfSectionKind::Bss));
        assert!(object.maps.values().all(|map| map.data().iter().all(|byte| *byte == 0)));
    }

    /// On the running kernel, if it has types.
    #[test]
    fn a_part_of_the_types_is_as_good_as_all() {
        let Ok(all) = fs::read(TYPES) else { return eprintln!("skipped: {TYPES} is not there") };
        let types = Types::parse(&all).unwrap();
        let own = Types::parse(btf::of_object(&OBJECT.0).unwrap()).unwrap();
        let adapted = |types: &[u8]| {
            let mut object = Object::parse(&OBJECT.0).unwrap();
            object.relocate_btf(&Btf::parse(types, object.endianness).unwrap()).unwrap();
            let instructions = |function: &Function| {
                function.instructions.iter().map(|one| (one.code, one.off, one.imm)).collect::<Vec<_>>()
            };
            object.functions.values().map(instructions).collect::<Vec<_>>()
        };
        assert_eq!(adapted(&types.part(own.layouts())), adapted(&all));
    }
}
