//! The ids of all threads: kept by the events of their forks and exits, or listed anew each time.
//!
//! At rest the events cost nothing, where listing /proc costs 0.7 µs for each process and about as much again to learn how
//! many threads each has. A fork and an exit together cost 2 µs, so that only a machine with some thousand of them a second
//! pays more for the events, and that one would miss threads otherwise.

use std::collections::HashSet;

use facts::linux::proc_connector::ProcessEvent;
use facts::sample::Absence;

use crate::linux::process_events::ProcessEvents;
use crate::linux::tasks::listing::Listing;

/// The list.
pub(super) struct ThreadList {
    events: Option<ProcessEvents>,
    tids: Vec<u32>,
    is_listed: bool,
    gaps: u64,
    happened: Vec<(u32, u32, bool)>,
}

impl Default for ThreadList {
    /// Subscribes to events, where that is permitted.
    fn default() -> Self {
        let events = ProcessEvents::open().ok();
        Self { events, tids: Vec::new(), is_listed: false, gaps: 0, happened: Vec::new() }
    }
}

impl ThreadList {
    /// The threads that there are now.
    pub(super) fn refresh(&mut self, listing: &Listing) -> Result<&[u32], Absence> {
        self.happened.clear();
        let happened = &mut self.happened;
        let mut is_complete = false;
        if let Some(events) = &mut self.events {
            let received = events.receive(|event| match event {
                ProcessEvent::Fork { pid, .. } => happened.push((pid, happened.len() as u32, true)),
                // A process stays until it has been waited for, and longer if other threads of it run on: that it is gone is
                // found by asking for it.
                ProcessEvent::Exit { pid, tgid } if pid == tgid => {}
                ProcessEvent::Exit { pid, .. } => happened.push((pid, happened.len() as u32, false)),
                // A thread that executes takes over its leader's id; the leader's exit was reported.
                ProcessEvent::Exec { tgid } => happened.push((tgid, happened.len() as u32, true)),
            });
            is_complete = received.is_ok() && events.gaps == self.gaps;
            self.gaps = events.gaps;
        }
        if self.is_listed && is_complete {
            self.apply();
        } else {
            self.list(listing)?;
        }
        Ok(&self.tids)
    }

    /// These do not exist any more.
    pub(super) fn forget(&mut self, gone: &[u32]) {
        if !gone.is_empty() {
            let gone: HashSet<u32> = gone.iter().copied().collect();
            self.tids.retain(|tid| !gone.contains(tid));
        }
    }

    /// Applies the last event of each thread.
    fn apply(&mut self) {
        self.happened.sort_unstable();
        let last_of = |index: usize| {
            let (pid, _, _) = self.happened[index];
            self.happened.get(index + 1).is_none_or(|next| next.0 != pid)
        };
        let last: Vec<(u32, bool)> = (0..self.happened.len())
            .filter(|index| last_of(*index))
            .map(|index| (self.happened[index].0, self.happened[index].2))
            .collect();
        if last.is_empty() {
            return;
        }
        self.tids.retain(|tid| last.binary_search_by_key(tid, |(pid, _)| *pid).is_err());
        self.tids.extend(last.iter().filter(|(_, is_there)| *is_there).map(|(pid, _)| *pid));
    }

    fn list(&mut self, listing: &Listing) -> Result<(), Absence> {
        let (mut pids, mut of_process) = (Vec::new(), Vec::new());
        listing.processes(&mut pids)?;
        self.tids.clear();
        for pid in pids {
            let has_others = listing.count_threads(pid) > 1;
            if has_others && listing.threads(pid, &mut of_process).is_ok() {
                self.tids.append(&mut of_process);
            } else {
                self.tids.push(pid);
            }
        }
        self.is_listed = true;
        Ok(())
    }
}
