//! Signals that reach whit and are meant for the command.

use probe::control::TaskSignal;
use probe::signals::Signal;

/// What is passed on, and as what.
pub(crate) const FORWARDED: [(Signal, TaskSignal); 6] = [
    (Signal::Interrupt, TaskSignal::Interrupt),
    (Signal::Terminate, TaskSignal::Terminate),
    (Signal::Hangup, TaskSignal::Hangup),
    (Signal::Quit, TaskSignal::Quit),
    (Signal::Redraw, TaskSignal::User1),
    (Signal::User2, TaskSignal::User2),
];

/// Those that are taken. Who was started to ignore a signal, by nohup or in the background of a script, and the command with it, goes
/// on to.
pub(super) fn taken() -> Vec<Signal> {
    FORWARDED.iter().map(|(signal, _)| *signal).filter(|signal| !signal.is_ignored()).collect()
}

/// What a signal is passed on as.
pub(super) fn forwarded(signal: Signal) -> Option<TaskSignal> {
    FORWARDED.iter().find(|(from, _)| *from == signal).map(|(_, to)| *to)
}

/// Whether it asks for the end.
pub(super) fn ends(signal: Signal) -> bool {
    matches!(signal, Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit)
}
