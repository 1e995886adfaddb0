//! The signals that commands wait for.

use crate::sys::{default_action, is_ignored};

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
    /// SIGTSTP: nobody looks.
    Stop,
    /// SIGCONT: somebody looks again.
    Continue,
    /// Ctrl-\\.
    Quit,
    /// SIGUSR2.
    User2,
}

impl Signal {
    const ALL: [Self; 9] = [
        Self::Interrupt,
        Self::Terminate,
        Self::Child,
        Self::Hangup,
        Self::Redraw,
        Self::Stop,
        Self::Continue,
        Self::Quit,
        Self::User2,
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
        }
    }

    /// Whether whoever started this process had it ignored.
    pub fn is_ignored(self) -> bool {
        is_ignored(self.number())
    }

    pub(crate) fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.number() == number)
    }
}

/// Has children that end kept until they are waited for, also where whoever started whit had them dropped.
pub fn keep_children() {
    default_action(libc::SIGCHLD);
}

/// What a person may send to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSignal {
    /// SIGTERM.
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
