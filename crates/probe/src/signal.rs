//! The signals that commands wait for.

use crate::sys::{block_signals, default_action, is_ignored, send_signal, unblock_signals};

/// A signal that a command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// Asked to end.
    Terminate,
    /// A child ended.
    Child,
    /// SIGHUP: read the configuration again.
    Hangup,
    /// SIGUSR1: draw now.
    Redraw,
    /// SIGTSTP: the bar is hidden.
    Stop,
    /// SIGCONT: the bar is shown again.
    Continue,
    /// Ctrl-\\.
    Quit,
    /// SIGUSR2.
    User2,
    /// SIGWINCH: the terminal has another size.
    Resize,
    /// Another one that ends a process which does nothing about it.
    Fatal(i32),
}

impl Signal {
    const ALL: [Self; 10] = [
        Self::Interrupt,
        Self::Terminate,
        Self::Child,
        Self::Hangup,
        Self::Redraw,
        Self::Stop,
        Self::Continue,
        Self::Quit,
        Self::User2,
        Self::Resize,
    ];

    /// Its number on this system.
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Child => libc::SIGCHLD,
            Self::Hangup => libc::SIGHUP,
            Self::Redraw => libc::SIGUSR1,
            Self::Stop => libc::SIGTSTP,
            Self::Continue => libc::SIGCONT,
            Self::Quit => libc::SIGQUIT,
            Self::User2 => libc::SIGUSR2,
            Self::Resize => libc::SIGWINCH,
            Self::Fatal(number) => number,
        }
    }

    /// Returns true if the parent process has set it to be ignored.
    pub fn is_ignored(self) -> bool {
        is_ignored(self.number())
    }

    /// All that end a process by default and that another process may have sent, faults such as SIGSEGV aside.
    pub fn all_that_end() -> Vec<Self> {
        let mut all =
            vec![Self::Interrupt, Self::Terminate, Self::Hangup, Self::Quit, Self::Redraw, Self::User2];
        let others = [
            libc::SIGALRM,
            libc::SIGVTALRM,
            libc::SIGPROF,
            libc::SIGXCPU,
            libc::SIGXFSZ,
            libc::SIGIO,
            libc::SIGSYS,
            libc::SIGTRAP,
            libc::SIGABRT,
        ];
        all.extend(others.map(Self::Fatal));
        #[cfg(target_os = "linux")]
        all.extend(
            [libc::SIGPWR, libc::SIGSTKFLT]
                .into_iter()
                .chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
                .map(Self::Fatal),
        );
        all
    }

    pub(crate) fn of(number: i32) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|signal| signal.number() == number);
        known.or((number > 0).then_some(Self::Fatal(number)))
    }
}

/// Ends this process as a signal does by default, so that its parent learns by which.
pub fn die_by(signal: Signal) -> ! {
    let number = signal.number();
    default_action(number);
    unblock_signals(&[number]);
    send_signal(std::process::id().cast_signed(), number);
    std::process::exit(128 + number)
}

/// Stops this process as Ctrl-Z does, or its whole group with it, until it is continued. Returns at once if no process could continue
/// it (in an orphaned group).
pub fn stop(is_whole_group: bool) {
    let number = libc::SIGTSTP;
    default_action(number);
    unblock_signals(&[number]);
    send_signal(if is_whole_group { 0 } else { std::process::id().cast_signed() }, number);
    // Only a kernel without signals refuses.
    let _ = block_signals(&[number]);
}

/// Keeps ended children until they are waited for, even if the parent process has set SIGCHLD to be ignored.
pub fn keep_children() {
    default_action(libc::SIGCHLD);
}

/// A signal that a user may send to a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskSignal {
    /// SIGTERM.
    #[default]
    Terminate,
    /// SIGKILL.
    Kill,
    /// SIGINT.
    Interrupt,
    /// SIGHUP.
    Hangup,
    /// SIGQUIT.
    Quit,
    /// SIGSTOP.
    Stop,
    /// SIGCONT.
    Continue,
    /// SIGUSR1.
    User1,
    /// SIGUSR2.
    User2,
}

/// The name of a signal that ends processes, without its SIG; `None` for another.
pub fn name_of(signal: i32) -> Option<&'static str> {
    const NAMED: [(i32, &str); 16] = [
        (libc::SIGHUP, "HUP"),
        (libc::SIGINT, "INT"),
        (libc::SIGQUIT, "QUIT"),
        (libc::SIGILL, "ILL"),
        (libc::SIGTRAP, "TRAP"),
        (libc::SIGABRT, "ABRT"),
        (libc::SIGBUS, "BUS"),
        (libc::SIGFPE, "FPE"),
        (libc::SIGKILL, "KILL"),
        (libc::SIGSEGV, "SEGV"),
        (libc::SIGPIPE, "PIPE"),
        (libc::SIGALRM, "ALRM"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGXCPU, "XCPU"),
        (libc::SIGXFSZ, "XFSZ"),
        (libc::SIGSYS, "SYS"),
    ];
    NAMED.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

impl TaskSignal {
    /// The signals that end a process or ask it to: name, number, signal. The numbers are the same everywhere except the user's own.
    pub const NAMED: [(&str, i32, Self); 7] = [
        ("TERM", libc::SIGTERM, Self::Terminate),
        ("KILL", libc::SIGKILL, Self::Kill),
        ("INT", libc::SIGINT, Self::Interrupt),
        ("HUP", libc::SIGHUP, Self::Hangup),
        ("QUIT", libc::SIGQUIT, Self::Quit),
        ("USR1", libc::SIGUSR1, Self::User1),
        ("USR2", libc::SIGUSR2, Self::User2),
    ];
}
