//! /proc/PID/task/TID/syscall: the system call in which a thread sleeps. Since 2.6.27; proc_pid_syscall(5). Readable by who may trace it.

use super::system_calls::Machine;
use crate::cursor::Malformed;
use crate::task::wait::{FileKind, Wait};

const MALFORMED: Malformed =
    Malformed { offset: 0, expected: "running, or the number of a system call and its arguments" };

/// The system call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PidSyscall {
    /// It is on a CPU or could be.
    Running,
    /// It sleeps in a program of 32 bits, whose calls have other numbers.
    Foreign,
    /// It sleeps: the number of its call, below 0 if it is in none, and the first three arguments and the fifth.
    Asleep {
        /// As the machine numbers them.
        number: i32,
        /// As it has them in its registers.
        arguments: [u64; 4],
    },
}

impl PidSyscall {
    /// Parses the file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let text = str::from_utf8(bytes).map_err(|_| MALFORMED)?.trim_end();
        if text == "running" {
            return Ok(Self::Running);
        }
        let mut words = text.split(' ');
        let number = words.next().and_then(|number| number.parse().ok()).ok_or(MALFORMED)?;
        let hexadecimal = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        let words: Option<Vec<u64>> = words.map(hexadecimal).collect();
        let words = words.ok_or(MALFORMED)?;
        // Six arguments if there is a call, and the pointers to stack and program.
        let (arguments, [stack, program]) = match (number, &words[..]) {
            (..0, [stack, program]) => ([0; 4], [*stack, *program]),
            (0.., [first, second, third, _, fifth, _, stack, program]) => {
                ([*first, *second, *third, *fifth], [*stack, *program])
            }
            _ => return Err(MALFORMED),
        };
        // A program of 32 bits has other numbers.
        let is_native = stack > u64::from(u32::MAX) || program > u64::from(u32::MAX);
        Ok(if is_native { Self::Asleep { number, arguments } } else { Self::Foreign })
    }

    /// Returns the first argument, which may be a descriptor.
    pub fn descriptor(self) -> Option<u32> {
        match self {
            Self::Asleep { number: 0.., arguments } => u32::try_from(arguments[0]).ok(),
            _ => None,
        }
    }

    /// Returns what it waits for; `None` if it runs, or the numbers of the machine's calls are not known.
    pub fn wait(self, machine: Machine, file: FileKind) -> Option<Wait> {
        match self {
            Self::Running => None,
            Self::Foreign => Some(Wait::OTHER),
            Self::Asleep { number, arguments } => Wait::of_call(machine, number, arguments, file),
        }
    }
}

/// Returns the kind of a file by the link in /proc/PID/fd: proc_pid_fd(5). Whose the other end of a socket is, and on which filesystem a path
/// is, the link does not say.
pub fn kind_of_link(target: &str) -> FileKind {
    if let Some(name) = target.strip_prefix("anon_inode:") {
        return match name.trim_matches(['[', ']']) {
            "eventpoll" => FileKind::EventPoll,
            "eventfd" => FileKind::EventCounter,
            "timerfd" => FileKind::Timer,
            "signalfd" => FileKind::Signals,
            "inotify" | "fanotify" => FileKind::Watches,
            "io_uring" => FileKind::Ring,
            _ => FileKind::Anonymous,
        };
    }
    if target.starts_with("socket:[") {
        return FileKind::OtherSocket;
    }
    if target.starts_with("pipe:[") {
        return FileKind::Pipe;
    }
    let is_terminal = target.strip_prefix("/dev/").is_some_and(|name| {
        let number = ["pts/", "ttyS", "tty"].iter().find_map(|prefix| name.strip_prefix(prefix));
        name == "console" || number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
    });
    match target {
        _ if is_terminal => FileKind::Terminal,
        _ if target.starts_with("/dev/") => FileKind::Device,
        _ if target.starts_with('/') => FileKind::Path,
        _ => FileKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::wait::{WaitReason, WaitTarget};

    #[test]
    fn the_files_of_linux_6_18() {
        let lock = PidSyscall::parse(
            b"202 0x7f31d2dff990 0x109 0x1f7f 0x0 0x0 0xffffffff 0x7f31d25fe940 0x7f31d2c8d1f4\n",
        );
        let wait = lock.unwrap().wait(Machine::X86_64, FileKind::Unknown).unwrap();
        assert_eq!((wait.reason, wait.target), (WaitReason::Lock, WaitTarget::Address(0x7f31_d2df_f990)));
        let read =
            PidSyscall::parse(b"0 0x3 0x7ffc1 0x2000 0x0 0x0 0x0 0x7ffce3a0ff18 0x7f31d2c8d1f4\n").unwrap();
        assert_eq!(read.descriptor(), Some(3));
        assert_eq!(read.wait(Machine::X86_64, kind_of_link("pipe:[1234]")).unwrap().reason, WaitReason::Pipe);
        let page = PidSyscall::parse(b"-1 0x7ffe3b2a5f68 0x55d1c2\n").unwrap();
        assert_eq!(
            (page.descriptor(), page.wait(Machine::X86_64, FileKind::Unknown).unwrap().reason),
            (None, WaitReason::Page)
        );
        assert_eq!(PidSyscall::parse(b"running\n"), Ok(PidSyscall::Running));
        // read(2) of a program of 32 bits.
        let foreign = PidSyscall::parse(b"3 0x3 0xffc1 0x1 0x0 0x0 0x0 0xffa0ff18 0xf7f0d549\n").unwrap();
        assert_eq!(foreign.wait(Machine::X86_64, FileKind::Pipe), Some(Wait::OTHER));
        for text in
            ["", "x", "202", "202 0x7f", "202 12 0x3", "0 0x1 0x1 0x1 0x1 0x1 0x1 0x1", "-1 0x1", "\u{e9}"]
        {
            assert!(PidSyscall::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn links_have_kinds() {
        for (target, kind) in [
            ("anon_inode:[eventpoll]", FileKind::EventPoll),
            ("anon_inode:inotify", FileKind::Watches),
            ("anon_inode:[pidfd]", FileKind::Anonymous),
            ("socket:[81]", FileKind::OtherSocket),
            ("/dev/pts/3", FileKind::Terminal),
            ("/dev/ttyS0", FileKind::Terminal),
            ("/dev/tty", FileKind::Terminal),
            ("/dev/ttyUSB0", FileKind::Device),
            ("/dev/pts/ptmx", FileKind::Device),
            ("/dev/null", FileKind::Device),
            ("/home/x/pipe:[1]", FileKind::Path),
            ("net:[4026531840]", FileKind::Unknown),
        ] {
            assert_eq!(kind_of_link(target), kind, "{target}");
        }
    }
}
