//! Memory of processes, as /proc/PID/statm has it: exact, where the task iterator and /proc/PID/stat leave out what each CPU has
//! not handed in yet, up to 32 pages or twice the number of CPUs of each, and taskstats says nothing.

use std::collections::HashMap;

use facts::task::TaskRow;
use facts::task::figure::Figure;
use facts::unit::Nanos;

use crate::linux::tasks::procfs::Procfs;

/// Processes of one round that are looked at; the others keep what they had.
const LOOKS_A_ROUND: usize = 512;
const LOOKS_OF_FIRST_ROUND: usize = 100_000;
/// A process that does not run can lose memory, never gain any. It is looked at once in so many rounds.
const ROUNDS_OF_SLEEPERS: u32 = 8;

/// The figures that were read, by process.
#[derive(Debug, Default)]
pub(super) struct Resident {
    known: HashMap<u32, Known>,
    /// Time on a CPU of all threads of each process in this round.
    ran_ns: HashMap<u32, u64>,
    round: u32,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The start of its main thread, to distinguish it from another process with the same id.
    start: Nanos,
    /// Time on a CPU of all its threads when it was looked at.
    ran_ns: u64,
    resident: Option<u64>,
    virtual_bytes: Option<u64>,
    round: u32,
}

impl Resident {
    /// Fills in the memory of all tasks: of processes that ran since the last round anew.
    pub(super) fn fill(&mut self, rows: &mut [TaskRow], procfs: &mut Procfs) {
        self.round = self.round.wrapping_add(1);
        let mut looks = if self.round == 1 { LOOKS_OF_FIRST_ROUND } else { LOOKS_A_ROUND };
        self.ran_ns.clear();
        for row in rows.iter() {
            let ran_ns = row.figures.get(Figure::ON_CPU).unwrap_or(0);
            *self.ran_ns.entry(row.process()).or_default() += ran_ns;
        }
        for row in rows {
            let (pid, tgid, start) = (row.key.pid, row.process(), row.key.start);
            let ran_ns = self.ran_ns.get(&tgid).copied().unwrap_or(0);
            let known = self.known.get(&tgid).filter(|known| pid != tgid || known.start == start);
            let is_due = known.is_none_or(|known| {
                let is_in_turn = tgid % ROUNDS_OF_SLEEPERS == self.round % ROUNDS_OF_SLEEPERS;
                // A main thread that has ended shows no memory, and another thread of its process does.
                let is_other = pid != tgid && known.resident == Some(0);
                is_other || known.round != self.round && (known.ran_ns != ran_ns || is_in_turn)
            });
            if is_due && looks > 0 {
                looks -= 1;
                let (resident, virtual_bytes) = procfs.memory(pid).ok().unzip();
                let known = Known { start, ran_ns, resident, virtual_bytes, round: self.round };
                self.known.insert(tgid, known);
            }
            let known = self.known.get(&tgid);
            row.set_memory(known.and_then(|known| known.resident.zip(known.virtual_bytes)));
        }
        if self.known.len() > self.ran_ns.len() * 2 {
            self.known.retain(|tgid, _| self.ran_ns.contains_key(tgid));
        }
    }
}
