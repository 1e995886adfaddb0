//! Loads the programs of the task iterator, adapted to the running kernel.
//!
//! The source is `src/bpf/tasks.bpf.c`, compiled to `tasks.bpf.o` by `make bpf`; `make generated` checks that both agree. aya-obj adapts
//! its accesses to the struct layouts of the running kernel (CO-RE). After loading, only the file descriptors of the links are kept.
//!
//! A loader that reads all of the kernel's types, as aya does, twice, takes longer than all else here. It gets those that the programs
//! name ([`Types::part`]): 30 ms of CPU time less, and 25 MB of memory. What is left is mostly the kernel's verifier, which searches all
//! types, 5.5 MB of them, for each pointer that it sees being read of a task (`btf_find_by_name_kind`; seen in 6.18). Pointers are
//! therefore read once, before branches: 19 ms of CPU time for each iterator instead of 59.

use std::collections::HashSet;
use std::error::Error;
use std::{fs, io, mem};

use aya_obj::btf::Btf;
use aya_obj::{Function, Object};
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
/// Bytes of memory per byte of BTF that loading needs: not more than three.
const BYTES_BY_TYPE_BYTE: u64 = 4;
const SPARE_BYTES: u64 = 8 << 20;
/// What the verifier may say of a program that it refuses: a line for each instruction, of which there are some thousands.
const MAX_LOG_BYTES: usize = 4 << 20;

/// An ELF file is read in place, and begins where its largest numbers may.
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
        let program = programs.load(name, BpfTarget::Iterator(id))?;
        bpf_link_iterator(program.as_fd()).map_err(|error| refused("linking an iterator", &error))
    };
    let (whole, changes) = (link(WHOLE)?, link(CHANGES)?);
    let attach = |(name, tracepoint): (&str, &str)| {
        let id = types.typedef(&format!("btf_trace_{tracepoint}"))?;
        let program = programs.load(name, BpfTarget::Tracepoint(id)).ok()?;
        bpf_attach_tracepoint(program.as_fd()).ok()
    };
    let freed = attach(FREED);
    let notices = attach(EXITING).zip(attach(EXECUTED));
    Ok(Links { whole, changes: notices.map(|(exiting, executed)| (changes, [exiting, executed])), freed })
}

/// The programs of the object, with the layouts and the variables that they access.
struct Programs {
    object: Object,
    /// The maps in the kernel that have the variables: programs that were loaded keep them.
    _variables: Vec<OwnedFd>,
}

impl Programs {
    fn adapted(types: &Types<'_>) -> Result<Self, Refused> {
        let own = btf::of_object(&OBJECT.0).ok_or_else(|| lacking("the object has no BTF"))?;
        let own = Types::parse(own).map_err(|error| unsupported(&error))?;
        let mut object = Object::parse(&OBJECT.0).map_err(|error| unsupported(&error))?;
        let maps = mem::take(&mut object.maps);
        // Comes first: where bpf(2) is not permitted, as by a container's seccomp filter, this is what says so.
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

    fn load(&self, name: &str, target: BpfTarget) -> Result<OwnedFd, Refused> {
        let missing = || Refused::new(Absence::Malformed, format!("the object has no program {name}"));
        let program = self.object.programs.get(name).ok_or_else(missing)?;
        let Function { instructions, .. } =
            self.object.functions.get(&program.function_key()).ok_or_else(missing)?;
        let load = |log: &mut [u8]| bpf_load(name, instructions, &program.license, target, log);
        load(&mut []).map_err(|error| {
            let mut log = vec![0; MAX_LOG_BYTES];
            // Once more, to hear why.
            let _ = load(&mut log);
            let log =
                String::from_utf8_lossy(&log[..log.iter().position(|byte| *byte == 0).unwrap_or(log.len())]);
            let fault = fault(&log).map(|fault| format!(". The verifier says: {fault}")).unwrap_or_default();
            Refused::new(reason(&error), format!("loading {name}: {error}{fault}"))
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

/// Of the log of the kernel's verifier, which has a line for each instruction, the one with the fault, which comes last but for statistics.
fn fault(log: &str) -> Option<&str> {
    let statistics = ["processed ", "verification time ", "stack depth "];
    let is_fault = |line: &&str| !line.is_empty() && !statistics.iter().any(|start| line.starts_with(start));
    log.lines().rev().find(is_fault)
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
    use super::*;

    #[test]
    fn of_a_log_the_fault_is_kept() {
        let log = "arg#0 unsupported\n0: R1=ctx\nType 'x' is not a struct\nverification time 9 usec\nstack depth 120+0\nprocessed 11205 insns (limit 1000000)\n";
        assert_eq!(fault(log), Some("Type 'x' is not a struct"));
        assert_eq!(fault("processed 2 insns\n"), None);
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
}
