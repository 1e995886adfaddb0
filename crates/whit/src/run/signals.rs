//! Signals that reach whit and are meant for the command.

use probe::control::TaskSignal;
use probe::signals::Signal;

/// The signals that are passed on, and as what.
pub(crate) const FORWARDED: [(Signal, TaskSignal); 6] = [
    (Signal::Interrupt, TaskSignal::Interrupt),
    (Signal::Terminate, TaskSignal::Terminate),
    (Signal::Hangup, TaskSignal::Hangup),
    (Signal::Quit, TaskSignal::Quit),
    (Signal::Redraw, TaskSignal::User1),
    (Signal::User2, TaskSignal::User2),
];

/// Returns the signals that are taken. A program that was started to ignore a signal, by nohup or in the background of a script, goes on to
/// ignore it, and the command with it.
pub(super) fn taken() -> Vec<Signal> {
    FORWARDED.iter().map(|(signal, _)| *signal).filter(|signal| !signal.is_ignored()).collect()
}

/// Returns the signal that the command is sent for a signal.
pub(super) fn forwarded(signal: Signal) -> Option<TaskSignal> {
    FORWARDED.iter().find(|(from, _)| *from == signal).map(|(_, to)| *to)
}

/// Returns true if the signal requests the end.
pub(super) fn ends(signal: Signal) -> bool {
    matches!(signal, Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit)
}
