//! bpf(2), and what loading a program leaves behind.

use std::io;
use std::mem;

use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// bpf(2), commands of the iterators and the tracepoint. Each takes a struct of its own length; what lies behind it must be zero.
const BPF_RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_ITER_CREATE: libc::c_long = 33;
const BPF_TRACE_ITER: u32 = 28;

/// Makes a link to a loaded iterator program, from which rounds are begun.
pub(crate) fn bpf_link_iterator(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    // Program, no target, the kind of attachment, no flags; no further information in the rest.
    bpf(BPF_LINK_CREATE, &[program, 0, BPF_TRACE_ITER, 0, 0, 0, 0, 0])
}

/// Attaches a loaded program to the tracepoint that it was loaded for, until the descriptor is closed.
pub(crate) fn bpf_attach_tracepoint(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    // No name: the program knows its tracepoint by its type.
    bpf(BPF_RAW_TRACEPOINT_OPEN, &[0, 0, program, 0])
}

/// Begins a round: a descriptor from which the program's output is read to its end, once.
pub(crate) fn bpf_begin_round(link: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    bpf(BPF_ITER_CREATE, &[link.as_raw_fd().cast_unsigned(), 0])
}

fn bpf(command: libc::c_long, attributes: &[u32]) -> io::Result<OwnedFd> {
    let (pointer, length) = (attributes.as_ptr(), mem::size_of_val(attributes));
    // SAFETY: the pointer and the length describe `attributes`, which outlives the call; the kernel only reads them.
    let descriptor = unsafe { libc::syscall(libc::SYS_bpf, command, pointer, length) };
    let descriptor = i32::try_from(descriptor).ok().filter(|descriptor| *descriptor >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made the descriptor (with CLOEXEC), and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
