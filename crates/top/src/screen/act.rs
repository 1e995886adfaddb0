//! Actions on a task, once they have been asked for and confirmed.

use probe::control::{self, TaskSignal};

use super::target::Target;

/// Signals that are offered, and what they mean.
pub(super) const SIGNALS: [(&str, TaskSignal, &str); 9] = [
    ("TERM", TaskSignal::Terminate, "end, after tidying up"),
    ("KILL", TaskSignal::Kill, "end at once"),
    ("INT", TaskSignal::Interrupt, "as Ctrl-C does"),
    ("HUP", TaskSignal::Hangup, "many programs read their configuration again"),
    ("QUIT", TaskSignal::Quit, "end, with a core"),
    ("STOP", TaskSignal::Stop, "stand still"),
    ("CONT", TaskSignal::Continue, "go on"),
    ("USR1", TaskSignal::User1, "what the program says"),
    ("USR2", TaskSignal::User2, "what the program says"),
];

/// One thing that can be done to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// By its place in [`SIGNALS`].
    Signal(usize),
    /// To this niceness.
    Renice(i8),
}

impl Act {
    /// As a question has it, without the task.
    pub(super) fn words(self, target: &Target) -> String {
        match self {
            Self::Signal(index) => format!("Send {} to", SIGNALS[index].0),
            Self::Renice(nice) => format!("Change niceness from {} to {nice} for", target.nice),
        }
    }

    /// Does it, to this very task: a pid that was reused meanwhile is left alone. What to say about it.
    pub(super) fn carry_out(self, target: &Target) -> String {
        let done = match self {
            Self::Signal(index) => control::send_to_process_of(target.key, target.tgid, SIGNALS[index].1),
            Self::Renice(nice) => control::renice(target.key, nice),
        };
        match (done, self) {
            (Ok(()), Self::Signal(index)) => format!("{} sent to {}", SIGNALS[index].0, target.tgid),
            (Ok(()), Self::Renice(nice)) => format!("{} has niceness {nice}", target.key.pid),
            (Err(absence), _) => format!("{} ({}): {absence}", target.key.pid, target.comm),
        }
    }
}
