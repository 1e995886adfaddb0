//! What the threads of a row wait for, counted by reason.

use core::cmp::Reverse;

use super::row::TaskRow;
use super::wait::{Wait, WaitReason};

/// What several threads wait for: how many for each reason.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By reason, with the first of them.
    threads: [Option<(Wait, u32)>; WaitReason::ALL.len()],
    /// Threads that are on a CPU or could be, or have ended.
    pub awake: u32,
    /// Threads that sleep, and the source does not say why.
    pub unknown: u32,
}

impl Waits {
    /// Counts the threads of rows.
    pub fn of<'r>(rows: impl Iterator<Item = &'r TaskRow>) -> Self {
        let mut waits = Self::default();
        for row in rows {
            match row.wait {
                Some(wait) => {
                    let entry = waits.threads[wait.reason as usize].get_or_insert((wait, 0));
                    entry.1 += 1;
                }
                None if is_awake(row) => waits.awake += 1,
                None => waits.unknown += 1,
            }
        }
        waits
    }

    /// Returns the reasons, each with the first thread that has it, and how many have it: that of most threads first.
    pub fn by_threads(&self) -> Vec<(Wait, u32)> {
        let mut found: Vec<(Wait, u32)> = self.threads.iter().flatten().copied().collect();
        // Of those with as many, idle ones come last.
        found.sort_by_key(|(wait, threads)| (Reverse(*threads), wait.reason.is_idle(), wait.reason));
        found
    }
}

/// Returns whether a thread does not sleep.
pub fn is_awake(row: &TaskRow) -> bool {
    row.state.is_some_and(|state| b"RXZ".contains(&state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::system_calls::Machine;
    use crate::task::wait::FileKind;

    #[test]
    fn the_reason_of_most_threads_is_first() {
        let row = |number, file| TaskRow {
            state: Some(b'S'),
            wait: Wait::of_call(Machine::X86_64, number, [3, 1, 0, 0], file),
            ..TaskRow::NONE
        };
        let events = row(232, FileKind::EventPoll);
        let pipe = row(0, FileKind::Pipe);
        let awake = TaskRow { state: Some(b'R'), ..TaskRow::NONE };
        let reasons = |rows: &[TaskRow]| -> Vec<(WaitReason, u32)> {
            Waits::of(rows.iter())
                .by_threads()
                .iter()
                .map(|(wait, threads)| (wait.reason, *threads))
                .collect()
        };
        assert_eq!(reasons(&[events, pipe]), [(WaitReason::Pipe, 1), (WaitReason::Events, 1)]);
        assert_eq!(reasons(&[events, pipe, events]), [(WaitReason::Events, 2), (WaitReason::Pipe, 1)]);
        let waits = Waits::of([awake, TaskRow::NONE, pipe].iter());
        assert_eq!((waits.awake, waits.unknown), (1, 1));
    }
}
