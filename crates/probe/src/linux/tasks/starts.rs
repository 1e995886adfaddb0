//! When tasks began, as /proc says it: taskstats says an age, from which a start can be calculated that differs a little each
//! time. Read once a task.

use std::collections::HashMap;

use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;

use crate::clock::clock_now;
use crate::linux::tasks::procfs::Procfs;

/// New tasks of one round that are looked at; the others come later.
const LOOKS_A_ROUND: usize = 512;
const LOOKS_OF_FIRST_ROUND: usize = 100_000;

/// The starts that were read, by thread.
#[derive(Debug, Default)]
pub(super) struct Starts {
    known: HashMap<u32, Known>,
    round: u32,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// Calculated from the task's age: on the clock that stands still in a suspend, whatever the machine sleeps.
    start_monotonic: Nanos,
    /// On the clock that goes on, from /proc.
    start: Nanos,
    round: u32,
}

impl Starts {
    /// Gives each task one start.
    pub(super) fn fill(&mut self, rows: &mut [TaskRow], procfs: &mut Procfs) {
        self.round = self.round.wrapping_add(1);
        let mut looks = if self.round == 1 { LOOKS_OF_FIRST_ROUND } else { LOOKS_A_ROUND };
        let clock = clock_now();
        let suspended = clock.boottime.saturating_sub(clock.monotonic);
        for row in rows.iter_mut() {
            let calculated = row.key;
            let key = TaskKey { start: calculated.start.saturating_sub(suspended), ..calculated };
            let known = self.known.get_mut(&key.pid);
            let is_same = |known: &Known| key.is_same(&TaskKey { start: known.start_monotonic, ..key });
            match known.filter(|known| is_same(known)) {
                Some(known) => {
                    known.round = self.round;
                    row.key.start = known.start;
                }
                None if looks > 0 => {
                    looks -= 1;
                    if let Ok(stat) = procfs.stat(key.pid) {
                        row.key.start = procfs.start(&stat);
                    }
                    let start = row.key.start;
                    let known = Known { start_monotonic: key.start, start, round: self.round };
                    self.known.insert(key.pid, known);
                }
                None => {}
            }
        }
        // What was not read is gone.
        if self.known.len() > rows.len() * 2 {
            self.known.retain(|_, known| known.round == self.round);
        }
    }
}
