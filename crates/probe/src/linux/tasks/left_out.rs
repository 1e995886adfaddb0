//! Tasks that the iterator leaves out and /proc lists: outside the initial PID namespace, and here and there a task.

use facts::task::TaskRow;
use facts::task::store::TaskStore;

use crate::linux::tasks::listing::Listing;
use crate::linux::tasks::procfs::Procfs;

/// Rounds between two looks at /proc while the counts disagree; twice as many after each look that found nothing new, since a
/// look may cost as much as a round.
const MIN_PAUSE_ROUNDS: u32 = 10;
const MAX_PAUSE_ROUNDS: u32 = 320;

/// Threads that have to be read another way.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    tids: Vec<u32>,
    rounds_until_look: u32,
    pause_rounds: u32,
    // Kept for their memory.
    pids: Vec<u32>,
    shown: Vec<u32>,
    of_process: Vec<u32>,
}

impl LeftOut {
    /// The threads, as far as they are known.
    pub(super) fn tids(&self) -> &[u32] {
        &self.tids
    }

    /// Looks for them, if the kernel counts other threads than the iterator has seen and these: one line of /proc/loadavg. In a PID
    /// namespace, where that line counts the whole machine, it always does, and the look is taken now and then.
    pub(super) fn find(&mut self, store: &TaskStore, seen: usize, procfs: &mut Procfs, listing: &Listing) {
        // A task that was starting when we looked is in the iterator's next round.
        self.tids.retain(|tid| !store.was_put(*tid));
        self.rounds_until_look = self.rounds_until_look.saturating_sub(1);
        let found = (seen + self.tids.len()) as u64;
        if self.rounds_until_look > 0 || procfs.all_threads() == Some(found) {
            return;
        }
        let before = std::mem::take(&mut self.tids);
        if listing.processes(&mut self.pids).is_err() {
            return;
        }
        let is_seen = |row: &&TaskRow| store.was_put(row.key.pid) || !before.contains(&row.key.pid);
        self.shown.clear();
        self.shown.extend(store.rows().filter(is_seen).map(TaskRow::process));
        self.shown.sort_unstable();
        for pid in &self.pids {
            let is_left_out = self.shown.binary_search(pid).is_err();
            // A process that has ended meanwhile is not missed.
            if is_left_out && listing.threads(*pid, &mut self.of_process).is_ok() {
                self.tids.append(&mut self.of_process);
            }
        }
        let longer = (self.pause_rounds * 2).min(MAX_PAUSE_ROUNDS);
        self.pause_rounds = if self.tids == before { longer } else { MIN_PAUSE_ROUNDS };
        self.rounds_until_look = self.pause_rounds.max(MIN_PAUSE_ROUNDS);
    }
}
