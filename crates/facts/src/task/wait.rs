//! What a task that sleeps waits for, by the system call in which it sleeps.
//!
//! The kernel counts no delay for most of it: locks, answers of another process, timers. The call and its arguments say what it asked for. It
//! is the state at one instant: over several readings it is a sample.

mod file_kind;
pub(crate) mod reason;

use crate::linux::system_calls::{self, Argument, Machine, SystemCall};
pub use file_kind::FileKind;
pub use reason::WaitReason;

/// The object that a task waits for, as its arguments name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// The arguments name none, or they are not known.
    None,
    /// A descriptor of its process.
    Descriptor(u32),
    /// An address in the memory of its process.
    Address(u64),
    /// A process.
    Process(u32),
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The reason.
    pub reason: WaitReason,
    /// The system call in which it sleeps; `None` if it is in none.
    pub call: Option<SystemCall>,
    /// The object.
    pub target: WaitTarget,
}

impl Wait {
    /// It sleeps, and nothing is known of why.
    pub const OTHER: Self = Self::without_call(WaitReason::Other);
    /// A thread of the kernel.
    pub const KERNEL_WORK: Self = Self::without_call(WaitReason::KernelWork);

    const fn without_call(reason: WaitReason) -> Self {
        Self { reason, call: None, target: WaitTarget::None }
    }

    /// Returns what a sleeping task waits for, by its system call and the call's first three arguments and fifth one. If the number is below 0,
    /// the task is in no call. `file` is the kind of the file if the first argument is a descriptor. Returns `None` if the numbers of the
    /// machine's calls are not known.
    pub fn of_call(machine: Machine, number: i32, arguments: [u64; 4], file: FileKind) -> Option<Self> {
        if number < 0 {
            return Some(Self::without_call(WaitReason::Page));
        }
        if machine == Machine::Unknown {
            return None;
        }
        let Some((call, argument)) = system_calls::numbered(machine, number) else {
            return Some(Self::without_call(WaitReason::Other));
        };
        let descriptor = WaitTarget::Descriptor(arguments[0] as u32);
        let (reason, target) = match argument {
            Argument::Descriptor => (file.reason(), descriptor),
            Argument::Fixed(WaitReason::Lock) => (WaitReason::Lock, WaitTarget::Address(arguments[0])),
            Argument::Fixed(reason @ (WaitReason::Clients | WaitReason::FileLock)) => (reason, descriptor),
            Argument::Fixed(reason) => (reason, WaitTarget::None),
            Argument::Command if is_lock_command(arguments[1]) => (WaitReason::FileLock, descriptor),
            Argument::Command => (file.reason(), descriptor),
            Argument::Process => {
                let pid = u32::try_from(arguments[0] as i32).ok().filter(|pid| *pid > 0);
                (WaitReason::Child, pid.map_or(WaitTarget::None, WaitTarget::Process))
            }
            // Without descriptors it is a pause; without a time it ends by a signal alone.
            Argument::EventsOf { count, .. } if arguments[count] as u32 != 0 => {
                (WaitReason::Events, WaitTarget::None)
            }
            Argument::EventsOf { time, is_pointer, .. } => {
                let is_endless = if is_pointer { arguments[time] == 0 } else { (arguments[time] as i32) < 0 };
                (if is_endless { WaitReason::Signal } else { WaitReason::Timer }, WaitTarget::None)
            }
            // CLONE_VFORK: until the child has executed a program.
            Argument::Clone if arguments[0] & 0x4000 != 0 => (WaitReason::Child, WaitTarget::None),
            Argument::Clone => (WaitReason::Other, WaitTarget::None),
        };
        Some(Self { reason, call: Some(call), target })
    }

    /// Returns the same of a task whose state has this letter. One that is stopped waits for none of it. Locks, pipes, sockets and timers are
    /// waited for in a sleep that signals end, and disks in one that they do not (D): otherwise something else holds up the call.
    pub fn in_state(self, letter: u8) -> Option<Self> {
        use WaitReason::{Child, Device, Disk, File, Filesystem, Other, Page};
        let is_possible = match letter {
            b'T' | b't' => return None,
            b'D' => matches!(self.reason, Child | Device | Disk | File | Filesystem | Other | Page),
            _ => self.reason != Disk,
        };
        let other = Self { reason: Other, target: WaitTarget::None, ..self };
        Some(if is_possible { self } else { other })
    }

    /// Returns the reason and the call as a number that is not 0.
    pub fn code(self) -> u64 {
        let call = self.call.map_or(0, |call| u64::from(call.0) + 1);
        (call << 8 | self.reason as u64) + 1
    }

    /// Returns what [`Self::code`] wrote; `None` of another number.
    pub fn of_code(code: u64) -> Option<Self> {
        let code = code.checked_sub(1)?;
        let reason = *WaitReason::ALL.get((code & 0xff) as usize)?;
        let call = (code >> 8).checked_sub(1).and_then(|place| u8::try_from(place).ok()).map(SystemCall);
        Some(Self { reason, call: call.filter(|call| call.is_known()), target: WaitTarget::None })
    }
}

/// F_SETLKW, F_OFD_SETLKW: fcntl(2).
fn is_lock_command(command: u64) -> bool {
    matches!(command as u32, 7 | 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(
        number: i32,
        [first, second]: [u64; 2],
        file: FileKind,
    ) -> (WaitReason, &'static str, WaitTarget) {
        let wait = Wait::of_call(Machine::X86_64, number, [first, second, 1, 1], file).unwrap();
        assert_eq!(Wait::of_code(wait.code()), Some(Wait { target: WaitTarget::None, ..wait }));
        (wait.reason, wait.call.map_or("", SystemCall::name), wait.target)
    }

    #[test]
    fn a_call_and_its_arguments_are_a_reason() {
        use WaitTarget::{Address, Descriptor, Process};
        for (number, arguments, file, expected) in [
            (202, [0x7000, 0], FileKind::Unknown, (WaitReason::Lock, "futex", Address(0x7000))),
            (0, [3, 0], FileKind::Pipe, (WaitReason::Pipe, "read", Descriptor(3))),
            (0, [0, 0], FileKind::Terminal, (WaitReason::Terminal, "read", Descriptor(0))),
            (0, [5, 0], FileKind::Timer, (WaitReason::Timer, "read", Descriptor(5))),
            (45, [4, 0], FileKind::LoopbackSocket, (WaitReason::LocalSocket, "recvfrom", Descriptor(4))),
            (45, [4, 0], FileKind::RemoteSocket, (WaitReason::RemoteSocket, "recvfrom", Descriptor(4))),
            (288, [4, 0], FileKind::OtherSocket, (WaitReason::Clients, "accept4", Descriptor(4))),
            (74, [6, 0], FileKind::Regular, (WaitReason::Disk, "fsync", Descriptor(6))),
            (72, [6, 7], FileKind::Regular, (WaitReason::FileLock, "fcntl", Descriptor(6))),
            (73, [6, 2], FileKind::Regular, (WaitReason::FileLock, "flock", Descriptor(6))),
            (61, [u64::MAX, 0], FileKind::Unknown, (WaitReason::Child, "wait4", WaitTarget::None)),
            (61, [812, 0], FileKind::Unknown, (WaitReason::Child, "wait4", Process(812))),
            (7, [0x7000, 0], FileKind::Unknown, (WaitReason::Timer, "poll", WaitTarget::None)),
            (7, [0x7000, 2], FileKind::Unknown, (WaitReason::Events, "poll", WaitTarget::None)),
            (23, [0, 0], FileKind::Unknown, (WaitReason::Timer, "select", WaitTarget::None)),
            (232, [3, 0], FileKind::EventPoll, (WaitReason::Events, "epoll_wait", WaitTarget::None)),
            (230, [1, 0], FileKind::Regular, (WaitReason::Timer, "clock_nanosleep", WaitTarget::None)),
            (56, [0x4111, 0], FileKind::Unknown, (WaitReason::Child, "clone", WaitTarget::None)),
            (56, [0x11, 0], FileKind::Unknown, (WaitReason::Other, "clone", WaitTarget::None)),
            (-1, [0, 0], FileKind::Unknown, (WaitReason::Page, "", WaitTarget::None)),
            (9999, [0, 0], FileKind::Unknown, (WaitReason::Other, "", WaitTarget::None)),
        ] {
            assert_eq!(wait(number, arguments, file), expected);
        }
        let endless = |number, arguments| {
            Wait::of_call(Machine::X86_64, number, arguments, FileKind::Unknown).unwrap().reason
        };
        assert_eq!(endless(7, [0, 0, u64::from(u32::MAX), 0]), WaitReason::Signal);
        assert_eq!(endless(271, [0, 0, 0, 1]), WaitReason::Signal);
        assert_eq!(endless(23, [0, 0, 0, 0]), WaitReason::Signal);
        assert_eq!(Wait::of_call(Machine::Unknown, 0, [0; 4], FileKind::Pipe), None);
    }

    #[test]
    fn each_reason_is_documented() {
        let rows = include_str!("../../../../docs/TASKS.md").lines();
        for reason in WaitReason::ALL {
            let begin = format!("| {} | ", reason.name());
            let row = rows.clone().find(|row| row.starts_with(&begin)).unwrap_or_else(|| panic!("{begin}"));
            assert_eq!(row.ends_with("| yes |"), reason.is_idle(), "{row}");
        }
    }

    #[test]
    fn a_state_can_contradict_a_call() {
        let of = |number, letter| {
            let wait = Wait::of_call(Machine::X86_64, number, [3, 1, 0, 0], FileKind::Pipe).unwrap();
            wait.in_state(letter).map(|wait| wait.reason)
        };
        // A futex, a pipe, and vfork(2), whose sleep only a deadly signal ends.
        assert_eq!((of(202, b'S'), of(202, b'D')), (Some(WaitReason::Lock), Some(WaitReason::Other)));
        assert_eq!((of(0, b'D'), of(74, b'D')), (Some(WaitReason::Other), Some(WaitReason::Other)));
        assert_eq!((of(0, b'S'), of(0, b'T'), of(0, b't')), (Some(WaitReason::Pipe), None, None));
        assert_eq!(of(58, b'D'), Some(WaitReason::Child));
    }

    #[test]
    fn codes_that_are_none_are_refused() {
        for code in [0, 0xff, u64::MAX, 22] {
            assert_eq!(Wait::of_code(code), None, "{code}");
        }
        let unknown_call = Wait::of_code(0xfe01).unwrap();
        assert_eq!((unknown_call.reason, unknown_call.call), (WaitReason::Lock, None));
    }
}
