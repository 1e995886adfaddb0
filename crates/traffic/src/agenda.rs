//! Whose turn it is among many sockets of one thread.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use facts::unit::Nanos;

/// The outcome of a socket's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It waits for its peer, or for its deadline.
    Quiet,
    /// There is more to do.
    Ready,
    /// It may go on then.
    Paused(Nanos),
    /// It has ended.
    Over,
    /// The peer closes after each answer: the next goes over a new connection.
    Reconnect,
}

/// The sockets that can go on at once, and those that can at a time.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    ready: VecDeque<usize>,
    paused: BinaryHeap<Reverse<(Nanos, usize)>>,
}

impl Agenda {
    pub(super) fn push_ready(&mut self, token: usize) {
        self.ready.push_back(token);
    }

    pub(super) fn push_paused(&mut self, until: Nanos, token: usize) {
        self.paused.push(Reverse((until, token)));
    }

    /// When the next can go on; zero where one can now.
    pub(super) fn next(&self) -> Option<Nanos> {
        match self.ready.is_empty() {
            false => Some(Nanos(0)),
            true => self.paused.peek().map(|Reverse((until, _))| *until),
        }
    }

    /// Takes those whose time has come, each once: who is ready again has its turn the next time.
    pub(super) fn take_due(&mut self, now: Nanos, due: &mut Vec<usize>) {
        while let Some(Reverse((until, token))) = self.paused.peek().copied()
            && until <= now
        {
            self.paused.pop();
            self.ready.push_back(token);
        }
        due.clear();
        due.extend(self.ready.drain(..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_come_first_and_then_whose_time_has_come() {
        let (mut agenda, mut due) = (Agenda::default(), Vec::new());
        assert_eq!(agenda.next(), None);
        agenda.push_paused(Nanos(20), 2);
        agenda.push_paused(Nanos(10), 1);
        assert_eq!(agenda.next(), Some(Nanos(10)));
        agenda.push_ready(7);
        assert_eq!(agenda.next(), Some(Nanos(0)));
        agenda.take_due(Nanos(15), &mut due);
        assert_eq!((&due[..], agenda.next()), (&[7, 1][..], Some(Nanos(20))));
    }
}
