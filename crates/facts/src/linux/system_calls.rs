//! The system calls in which a task can sleep: their numbers, and what each waits for.
//!
//! arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h; section 2 of the man pages.

use crate::task::wait::reason::WaitReason;

/// The numbers of a kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// aarch64.
    Aarch64,
    /// Its numbers are not known.
    Unknown,
}

/// A system call, by its place in the table. The order is part of the format of the history: new ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall(pub(crate) u8);

impl SystemCall {
    /// Its name.
    pub fn name(self) -> &'static str {
        CALLS.get(usize::from(self.0)).map_or("", |row| row.0)
    }

    /// Returns whether it waits for room, and not for data.
    pub fn is_for_room(self) -> bool {
        self.name().contains("write") || self.name().starts_with("send")
    }

    pub(crate) fn is_known(self) -> bool {
        usize::from(self.0) < CALLS.len()
    }
}

/// What a call waits for, and the argument that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The file whose descriptor is the first argument.
    Descriptor,
    /// Always the same.
    Fixed(WaitReason),
    /// fcntl(2): the second argument says for what.
    Command,
    /// A child, or that whose id is the first argument.
    Process,
    /// Descriptors, whose number is an argument.
    EventsOf {
        /// The place of their number.
        count: usize,
        /// The place of the time, and whether that is a pointer. 3 is the fifth argument.
        time: usize,
        is_pointer: bool,
    },
    /// A child that borrows its memory, if the flags say so.
    Clone,
}

const NONE: i32 = -1;
const FILE: Argument = Argument::Fixed(WaitReason::File);
const CHILD: Argument = Argument::Fixed(WaitReason::Child);
const TIMER: Argument = Argument::Fixed(WaitReason::Timer);
const PIPE: Argument = Argument::Fixed(WaitReason::Pipe);
const LOCK: Argument = Argument::Fixed(WaitReason::Lock);
const EVENTS: Argument = Argument::Fixed(WaitReason::Events);
const SIGNAL: Argument = Argument::Fixed(WaitReason::Signal);
const CLIENTS: Argument = Argument::Fixed(WaitReason::Clients);
const MESSAGE: Argument = Argument::Fixed(WaitReason::Message);
const SUBMITTED: Argument = Argument::Fixed(WaitReason::Submitted);
const OTHER: Argument = Argument::Fixed(WaitReason::Other);
use Argument::Descriptor;

/// Name, number on x86-64 and on aarch64, and what it waits for.
#[rustfmt::skip]
const CALLS: [(&str, i32, i32, Argument); 88] = [
    ("read", 0, 63, Descriptor),
    ("write", 1, 64, Descriptor),
    ("pread64", 17, 67, Descriptor),
    ("pwrite64", 18, 68, Descriptor),
    ("readv", 19, 65, Descriptor),
    ("writev", 20, 66, Descriptor),
    ("preadv", 295, 69, Descriptor),
    ("pwritev", 296, 70, Descriptor),
    ("preadv2", 327, 286, Descriptor),
    ("pwritev2", 328, 287, Descriptor),
    ("sendfile", 40, 71, OTHER),
    ("copy_file_range", 326, 285, OTHER),
    ("ioctl", 16, 29, Descriptor),
    ("fallocate", 285, 47, Descriptor),
    ("getdents64", 217, 61, Descriptor),
    ("fsync", 74, 82, Descriptor),
    ("fdatasync", 75, 83, Descriptor),
    ("sync_file_range", 277, 84, Descriptor),
    ("ftruncate", 77, 46, Descriptor),
    ("close", 3, 57, OTHER),
    ("connect", 42, 203, Descriptor),
    ("sendto", 44, 206, Descriptor),
    ("recvfrom", 45, 207, Descriptor),
    ("sendmsg", 46, 211, Descriptor),
    ("recvmsg", 47, 212, Descriptor),
    ("recvmmsg", 299, 243, Descriptor),
    ("sendmmsg", 307, 269, Descriptor),
    ("accept", 43, 202, CLIENTS),
    ("accept4", 288, 242, CLIENTS),
    ("flock", 73, 32, Argument::Fixed(WaitReason::FileLock)),
    ("fcntl", 72, 25, Argument::Command),
    ("futex", 202, 98, LOCK),
    ("futex_wait", 455, 455, LOCK),
    ("futex_waitv", 449, 449, LOCK),
    ("poll", 7, NONE, Argument::EventsOf { count: 1, time: 2, is_pointer: false }),
    ("ppoll", 271, 73, Argument::EventsOf { count: 1, time: 2, is_pointer: true }),
    ("select", 23, NONE, Argument::EventsOf { count: 0, time: 3, is_pointer: true }),
    ("pselect6", 270, 72, Argument::EventsOf { count: 0, time: 3, is_pointer: true }),
    ("epoll_wait", 232, NONE, EVENTS),
    ("epoll_pwait", 281, 22, EVENTS),
    ("epoll_pwait2", 441, 441, EVENTS),
    ("nanosleep", 35, 101, TIMER),
    ("clock_nanosleep", 230, 115, TIMER),
    ("wait4", 61, 260, Argument::Process),
    ("waitid", 247, 95, CHILD),
    ("vfork", 58, NONE, CHILD),
    ("clone", 56, 220, Argument::Clone),
    ("clone3", 435, 435, OTHER),
    ("pause", 34, NONE, SIGNAL),
    ("rt_sigsuspend", 130, 133, SIGNAL),
    ("rt_sigtimedwait", 128, 137, SIGNAL),
    ("splice", 275, 76, OTHER),
    ("tee", 276, 77, PIPE),
    ("vmsplice", 278, 75, PIPE),
    ("io_uring_enter", 426, 426, SUBMITTED),
    ("io_getevents", 208, 4, SUBMITTED),
    ("io_pgetevents", 333, 292, SUBMITTED),
    ("semop", 65, 193, MESSAGE),
    ("semtimedop", 220, 192, MESSAGE),
    ("msgsnd", 69, 189, MESSAGE),
    ("msgrcv", 70, 188, MESSAGE),
    ("mq_timedsend", 242, 182, MESSAGE),
    ("mq_timedreceive", 243, 183, MESSAGE),
    ("sync", 162, 81, FILE),
    ("syncfs", 306, 267, Descriptor),
    ("msync", 26, 227, FILE),
    ("open", 2, NONE, FILE),
    ("openat", 257, 56, FILE),
    ("stat", 4, NONE, FILE),
    ("lstat", 6, NONE, FILE),
    ("fstat", 5, 80, Descriptor),
    ("newfstatat", 262, 79, FILE),
    ("statx", 332, 291, FILE),
    ("access", 21, NONE, FILE),
    ("faccessat", 269, 48, FILE),
    ("readlink", 89, NONE, FILE),
    ("readlinkat", 267, 78, FILE),
    ("mkdir", 83, NONE, FILE),
    ("mkdirat", 258, 34, FILE),
    ("unlink", 87, NONE, FILE),
    ("unlinkat", 263, 35, FILE),
    ("rename", 82, NONE, FILE),
    ("renameat2", 316, 276, FILE),
    ("statfs", 137, 43, FILE),
    ("execve", 59, 221, FILE),
    ("restart_syscall", 219, 128, OTHER),
    ("getrandom", 318, 278, OTHER),
    ("exit_group", 231, 94, OTHER),
];

/// Returns the name of the call of a number; `None` if tasks do not sleep in it.
pub fn name_of(machine: Machine, number: i32) -> Option<&'static str> {
    numbered(machine, number).map(|(call, _)| call.name())
}

/// Returns the numbers of the calls whose first argument is a descriptor that says what they wait for, in order.
pub fn numbers_with_file(machine: Machine) -> Vec<i32> {
    let has_file =
        |row: &&(&str, i32, i32, Argument)| matches!(row.3, Argument::Descriptor | Argument::Command);
    let number = |row: &(&str, i32, i32, Argument)| match machine {
        Machine::X86_64 => row.1,
        Machine::Aarch64 => row.2,
        Machine::Unknown => NONE,
    };
    let mut numbers: Vec<i32> =
        CALLS.iter().filter(has_file).map(number).filter(|number| *number != NONE).collect();
    numbers.sort_unstable();
    numbers
}

/// Returns the call of a number, and what it waits for.
pub(crate) fn numbered(machine: Machine, number: i32) -> Option<(SystemCall, Argument)> {
    let place = CALLS.iter().position(|(_, x86_64, aarch64, _)| match machine {
        Machine::X86_64 => *x86_64 == number,
        Machine::Aarch64 => *aarch64 == number,
        Machine::Unknown => false,
    })?;
    Some((SystemCall(u8::try_from(place).ok()?), CALLS[place].3))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_numbers_are_there_once() {
        let names: BTreeSet<&str> = CALLS.iter().map(|row| row.0).collect();
        assert_eq!(names.len(), CALLS.len());
        for column in [CALLS.map(|row| row.1), CALLS.map(|row| row.2)] {
            let numbers: Vec<i32> = column.into_iter().filter(|number| *number != NONE).collect();
            assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
        }
    }
}
