//! A round: all tasks into a store.

use facts::sample::Absence;
use facts::task::TaskRow;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;

use super::procfs::Procfs;
use super::taskstats::Taskstats;
use super::{LinuxTasks, OpenSource};

impl LinuxTasks {
    /// Starts a round of the store and puts all tasks into it. To be finished with the exit records that were read afterwards.
    ///
    /// The BPF source leaves out tasks that did not run since its last round. What others changed of these (niceness, parent, cgroup,
    /// reclaimed memory of the main thread) is known at most eight rounds later, or after [`Self::forget`].
    ///
    /// # Errors
    /// If tasks cannot be listed at all. A task that disappears meanwhile is left out.
    pub(crate) fn read(&mut self, store: &mut TaskStore) -> Result<(), Absence> {
        store.begin(self.procfs.clock());
        self.put_all(store).inspect_err(|_| store.abandon())
    }

    fn put_all(&mut self, store: &mut TaskStore) -> Result<(), Absence> {
        match &mut self.source {
            OpenSource::Bpf(tasks, left_out) => {
                let before = left_out.tids().to_vec();
                let round = tasks.read(store, &before, self.accounting_on)?;
                left_out.find(store, round.threads, &mut self.procfs, &self.listing);
                let tids = left_out.tids();
                match &mut self.taskstats {
                    Ok(taskstats) => {
                        // taskstats contains neither state nor memory. These threads are few: reading both from /proc is cheap.
                        let rows = taskstats.read_rows(tids, self.accounting_on, |_| {});
                        for mut row in rows {
                            add_state(&mut row, &mut self.procfs);
                            let memory = self.procfs.memory(row.key.pid).ok();
                            row.set_memory(memory);
                            store.put(&row);
                        }
                    }
                    Err(_) => {
                        for tid in tids {
                            let row = self.procfs.read_row(None, *tid, self.accounting_on, self.extra);
                            row.iter().for_each(|row| store.put(row));
                        }
                    }
                }
                match round.is_whole {
                    true => store.remove_stale(),
                    false => before.into_iter().for_each(|tid| store.remove(tid)),
                }
                Ok(())
            }
            OpenSource::Taskstats { threads, starts, resident } => {
                let tids = threads.refresh(&self.listing)?;
                if let Ok(taskstats) = &mut self.taskstats {
                    let mut gone = Vec::new();
                    let mut rows = taskstats.read_rows(tids, self.accounting_on, |tid| gone.push(tid));
                    threads.forget(&gone);
                    starts.fill(&mut rows, &mut self.procfs);
                    if self.extra.contains(Figure::RESIDENT_BYTES) {
                        resident.fill(&mut rows, &mut self.procfs);
                    }
                    rows.iter().for_each(|row| store.put(row));
                }
                store.remove_stale();
                Ok(())
            }
            OpenSource::Procfs { pids } => {
                self.listing.processes(pids)?;
                for pid in pids {
                    // A process that is gone is left out.
                    if self.listing.threads(*pid, &mut self.threads).is_ok() {
                        // Read before the threads: CPU time that a thread uses in between is counted in the next round.
                        let whole = self.procfs.process_cpu(*pid);
                        store.process_cpu.extend(whole.map(|whole| (*pid, whole)));
                        for tid in &self.threads {
                            let row = self.procfs.read_row(Some(*pid), *tid, self.accounting_on, self.extra);
                            row.iter().for_each(|row| store.put(row));
                        }
                    }
                }
                store.remove_stale();
                Ok(())
            }
        }
    }

    /// Makes the next round read every task. Other sources than BPF do that in any case.
    pub(crate) fn forget(&mut self) {
        if let OpenSource::Bpf(tasks, _) = &mut self.source {
            tasks.forget();
        }
    }

    /// Reads the iterator to its end and keeps nothing: the least that reading costs. Returns the bytes.
    ///
    /// # Errors
    /// If there is no iterator.
    pub(crate) fn read_bare(&mut self) -> Result<usize, Absence> {
        match &mut self.source {
            OpenSource::Bpf(tasks, _) => tasks.read_bare(),
            OpenSource::Taskstats { .. } | OpenSource::Procfs { .. } => Err(Absence::Unsupported),
        }
    }

    /// Reads what only /proc contains of tasks that are on a screen: their state, unless it is known, and their memory to the page.
    pub(crate) fn complete(&mut self, store: &mut TaskStore, pids: impl IntoIterator<Item = u32>) {
        let is_taskstats = matches!(self.source, OpenSource::Taskstats { .. });
        for pid in pids {
            let Some(row) = store.row(pid) else { continue };
            let state = match is_taskstats || row.state.is_none() {
                true => self.procfs.stat(pid).ok().map(|stat| stat.state),
                false => None,
            };
            // A kernel thread has no memory. The memory of the other sources is not completed here.
            let has_memory = row.figures.get(Figure::VIRTUAL_BYTES).is_none_or(|bytes| bytes > 0);
            let is_approximate = matches!(self.source, OpenSource::Bpf(..)) && has_memory;
            let memory = if is_approximate { self.procfs.memory(pid).ok() } else { None };
            if state.is_some() || memory.is_some() {
                store.amend(pid, |row| {
                    row.state = state.or(row.state);
                    if memory.is_some() {
                        row.set_memory(memory);
                    }
                });
            }
        }
    }
}

impl Taskstats {
    /// Reads threads. `gone` gets those that do not exist any more.
    fn read_rows(
        &mut self,
        tids: &[u32],
        accounting_on: Option<bool>,
        mut gone: impl FnMut(u32),
    ) -> Vec<TaskRow> {
        let mut rows = Vec::with_capacity(tids.len());
        self.read(tids, accounting_on, &mut |place, row| match row {
            Ok(row) => rows.push(row),
            Err(Absence::Gone) => gone(tids[place]),
            Err(_) => {}
        });
        rows
    }
}

/// Reads a row's state and start from /proc.
fn add_state(row: &mut TaskRow, procfs: &mut Procfs) {
    if let Ok(stat) = procfs.stat(row.key.pid) {
        row.state = Some(stat.state);
        row.key.start = procfs.start(&stat);
    }
}
