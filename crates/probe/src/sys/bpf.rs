//! bpf(2): maps, programs and what they are attached to.

use std::ffi::CStr;
use std::io;
use std::mem;

use aya_obj::generated::bpf_insn;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// bpf(2): commands, kinds of maps and programs, and what programs are attached to. A command has a struct of attributes. The kernel takes
/// those at its end that are not handed over for zero.
const BPF_MAP_CREATE: libc::c_long = 0;
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_ITER_CREATE: libc::c_long = 33;
const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_PROG_TYPE_TRACING: u32 = 26;
const BPF_TRACE_RAW_TP: u32 = 23;
const BPF_TRACE_ITER: u32 = 28;
/// Each instruction that the verifier walks, and what it knows there.
const LOG_LEVEL: u32 = 1;

/// What a program is loaded for: the id of the kernel's type of it.
#[derive(Clone, Copy)]
pub(crate) enum BpfTarget {
    /// The function of an iterator.
    Iterator(u32),
    /// The type of a tracepoint.
    Tracepoint(u32),
}

/// Makes a map of one value of so many bytes: the variables of an object.
pub(crate) fn bpf_make_variables(value_bytes: u32) -> io::Result<OwnedFd> {
    // The keys have four bytes.
    // SAFETY: no attribute is an address, and the command returns a descriptor.
    unsafe { bpf(BPF_MAP_CREATE, &[BPF_MAP_TYPE_ARRAY, 4, value_bytes, 1, 0]) }
}

/// Loads a program. Of its name 15 bytes are kept. If there is room for a log, the verifier writes it there.
pub(crate) fn bpf_load(
    name: &str,
    instructions: &[bpf_insn],
    license: &CStr,
    target: BpfTarget,
    log: &mut [u8],
) -> io::Result<OwnedFd> {
    let count = u32::try_from(instructions.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let log_bytes = u32::try_from(log.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut kept_name = [0; 16];
    let length = name.len().min(15);
    kept_name[..length].copy_from_slice(&name.as_bytes()[..length]);
    let [code_low, code_high] = halves(instructions.as_ptr().expose_provenance());
    let [license_low, license_high] = halves(license.as_ptr().expose_provenance());
    let [log_low, log_high] =
        if log.is_empty() { [0; 2] } else { halves(log.as_mut_ptr().expose_provenance()) };
    let log_level = if log.is_empty() { 0 } else { LOG_LEVEL };
    let (attach_type, attach_btf_id) = match target {
        BpfTarget::Iterator(id) => (BPF_TRACE_ITER, id),
        BpfTarget::Tracepoint(id) => (BPF_TRACE_RAW_TP, id),
    };
    let mut attributes = vec![BPF_PROG_TYPE_TRACING, count, code_low, code_high, license_low, license_high];
    // Neither the version of a kernel nor flags.
    attributes.extend([log_level, log_bytes, log_low, log_high, 0, 0]);
    attributes.extend(kept_name.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)));
    // No network device; the program's own types and the lines of its source are left out.
    attributes.extend([0, attach_type, 0, 0, 0, 0, 0, 0, 0, 0, 0, attach_btf_id]);
    // SAFETY: the addresses are those of instructions and of a license, which the kernel reads, and of a log of the length that is said,
    // which it writes; all are borrowed until it returns. The command makes a descriptor.
    unsafe { bpf(BPF_PROG_LOAD, &attributes) }
}

/// An address as the attributes have it: of 64 bits, whatever the machine has.
fn halves(address: usize) -> [u32; 2] {
    let address = address as u64;
    let [low, high] = [address as u32, (address >> 32) as u32];
    if cfg!(target_endian = "little") { [low, high] } else { [high, low] }
}

/// Makes a link to a loaded iterator program, from which rounds are begun.
pub(crate) fn bpf_link_iterator(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    // Program, no target, the kind of attachment, no flags; no further information in the rest.
    // SAFETY: no attribute is an address, and the command returns a descriptor.
    unsafe { bpf(BPF_LINK_CREATE, &[program, 0, BPF_TRACE_ITER, 0, 0, 0, 0, 0]) }
}

/// Attaches a loaded program to the tracepoint that it was loaded for, until the descriptor is closed.
pub(crate) fn bpf_attach_tracepoint(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    // No name: the program knows its tracepoint by its type.
    // SAFETY: no attribute is an address, and the command returns a descriptor.
    unsafe { bpf(BPF_RAW_TRACEPOINT_OPEN, &[0, 0, program, 0]) }
}

/// Begins a round: a descriptor from which the program's output is read to its end, once.
pub(crate) fn bpf_begin_round(link: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: no attribute is an address, and the command returns a descriptor.
    unsafe { bpf(BPF_ITER_CREATE, &[link.as_raw_fd().cast_unsigned(), 0]) }
}

/// A command that makes a descriptor.
///
/// # Safety
/// The command is one, and what the addresses among the attributes point to may be read, or written, as it does.
unsafe fn bpf(command: libc::c_long, attributes: &[u32]) -> io::Result<OwnedFd> {
    let (pointer, length) = (attributes.as_ptr(), mem::size_of_val(attributes));
    // SAFETY: the pointer and the length describe `attributes`, which outlives the call; the kernel only reads them. The caller answers
    // for what they point to.
    let descriptor = unsafe { libc::syscall(libc::SYS_bpf, command, pointer, length) };
    let descriptor = i32::try_from(descriptor).ok().filter(|descriptor| *descriptor >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made the descriptor (with CLOEXEC), and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
