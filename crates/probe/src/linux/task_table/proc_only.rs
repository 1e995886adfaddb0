//! What taskstats does not say and /proc does: state and memory. Read once a task, and again for what is on a screen.

use std::collections::HashMap;

use facts::task::TaskKey;
use facts::task::figure::Figure;
use facts::task::table::TaskTable;
use facts::unit::Nanos;

use crate::linux::tasks::procfs::Procfs;

/// New tasks of one round that are looked at; the others come later.
const LOOKS_A_ROUND: usize = 512;
const LOOKS_OF_FIRST_ROUND: usize = 100_000;

/// What was read, by thread.
#[derive(Debug, Default)]
pub(super) struct ProcOnly {
    known: HashMap<u32, Known>,
    round: u32,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// As it was reckoned from the task's age: on the clock that stands still in a suspend, whatever the machine sleeps.
    start_monotonic: Nanos,
    /// On the clock that goes on, as /proc says it.
    start: Nanos,
    resident: Option<u64>,
    virtual_bytes: Option<u64>,
    round: u32,
}

impl ProcOnly {
    /// Fills in memory as it was when the task was first seen. A state is too short-lived for that.
    pub(super) fn fill(&mut self, table: &mut TaskTable, procfs: &mut Procfs) {
        self.round = self.round.wrapping_add(1);
        let mut looks = if self.round == 1 { LOOKS_OF_FIRST_ROUND } else { LOOKS_A_ROUND };
        let suspended = table.clock.boottime.saturating_sub(table.clock.monotonic);
        for index in 0..table.len() {
            let reckoned = table.key(index);
            let key = TaskKey { start: reckoned.start.saturating_sub(suspended), ..reckoned };
            let known = self.known.get_mut(&key.pid);
            let is_same = |known: &Known| key.is_same(&TaskKey { start: known.start_monotonic, ..key });
            match known.filter(|known| is_same(known)) {
                Some(known) => {
                    known.round = self.round;
                    // Reckoned from its age it differs a little each time; whoever looks a task up wants one key.
                    table.set_start(index, known.start);
                    table.set(index, Figure::RESIDENT_BYTES, known.resident);
                    table.set(index, Figure::VIRTUAL_BYTES, known.virtual_bytes);
                }
                None if looks > 0 => {
                    looks -= 1;
                    if let Some(start) = read_row(table, index, procfs) {
                        table.set_start(index, start);
                    }
                    let known = Known {
                        start_monotonic: key.start,
                        start: table.key(index).start,
                        resident: table.get(index, Figure::RESIDENT_BYTES),
                        virtual_bytes: table.get(index, Figure::VIRTUAL_BYTES),
                        round: self.round,
                    };
                    self.known.insert(key.pid, known);
                }
                None => {}
            }
        }
        // Who was not in the table is gone.
        if self.known.len() > table.len() * 2 {
            self.known.retain(|_, known| known.round == self.round);
        }
    }
}

/// Reads a row's state and memory from /proc/PID/stat, which says the start, too.
pub(super) fn read_row(table: &mut TaskTable, index: usize, procfs: &mut Procfs) -> Option<Nanos> {
    let stat = procfs.stat(table.pid(index)).ok()?;
    table.set_state(index, stat.state);
    table.set(index, Figure::RESIDENT_BYTES, Some(procfs.pages_to_bytes(stat.resident_pages)));
    table.set(index, Figure::VIRTUAL_BYTES, Some(stat.virtual_bytes));
    Some(procfs.start(&stat))
}
