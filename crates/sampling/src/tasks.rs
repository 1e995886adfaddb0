//! All tasks from tick to tick: what each did in the last interval, grouped as the view wants it.

use std::collections::HashMap;

use facts::sample::Absence;
use facts::task::TaskRow;
use facts::task::exit_record::ExitRecord;
use facts::task::figure::{Figure, FigureSet};
use facts::task::groups::{Filter, GroupBy, GroupRow, RowId, TaskGroups};
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::task::unrecorded::Unrecorded;
use facts::unit::{Bytes, Nanos};
use probe::Roots;
use probe::exits::ExitRecords;
use probe::tasks::{OpenError, Refused, TaskReader, TaskRequest, TaskSource};

use crate::agent_client::{AgentClient, AgentRows};

/// Samples all tasks.
pub struct TaskSampler {
    roots: Roots,
    /// `None`: the kernel is read.
    agent: Option<AgentClient>,
    /// Exit records that the agent lost since this began.
    lost_by_agent: u64,
    reader: TaskReader,
    exit_records: Result<ExitRecords, Absence>,
    /// Records whose tasks still exist.
    pending: Vec<ExitRecord>,
    /// All tasks, as of the last sample.
    pub store: TaskStore,
    /// Their groups, as of the last call of [`group`](Self::group).
    pub groups: TaskGroups,
    /// CPU time of tasks that ended, in the last interval.
    pub ended_cpu: Nanos,
    /// CPU time that no exit record contains, in the last interval; `None` if it is not counted.
    pub unrecorded_cpu: Option<Nanos>,
    unrecorded: Unrecorded,
    swapped: HashMap<u32, Bytes>,
    /// Values dropped so far because they cannot be true.
    pub impossible_values: u64,
    is_first: bool,
    folds_kernel_threads: bool,
    /// The store was given, and nothing is read of the present.
    is_past: bool,
}

impl TaskSampler {
    /// Opens the best source, or the one that was requested.
    ///
    /// # Errors
    /// If the root cannot be opened, or the requested source is refused.
    pub fn open(roots: &Roots, only: Option<TaskSource>) -> Result<Self, OpenError> {
        let only = only.map(|source| [source]);
        let sources = only.as_ref().map_or(&TaskSource::ALL[..], |only| &only[..]);
        let reader = TaskReader::open(roots, &TaskRequest { sources, extra: FigureSet::ALL })?;
        let is_captured = roots.is_captured();
        // A user who requests /proc alone wants to see what unprivileged users see.
        let exit_records = match only {
            _ if is_captured => Err(Absence::Unsupported),
            Some([TaskSource::Procfs]) => Err(Absence::NotWanted),
            _ => ExitRecords::open(reader.accounting_on()),
        };
        Ok(Self {
            roots: roots.clone(),
            agent: None,
            lost_by_agent: 0,
            reader,
            exit_records,
            pending: Vec::new(),
            // A captured machine stands still: its tasks are shown since they started.
            store: if is_captured { TaskStore::since_boot() } else { TaskStore::default() },
            groups: TaskGroups::default(),
            ended_cpu: Nanos(0),
            unrecorded_cpu: None,
            unrecorded: Unrecorded::default(),
            swapped: HashMap::new(),
            impossible_values: 0,
            is_first: true,
            folds_kernel_threads: false,
            is_past: false,
        })
    }

    /// All tasks as an agent reads them, instead of reading the kernel once more; if the agent ends, the kernel is read. For a user who may
    /// not see every task, the agent's rows take the place of those of /proc.
    ///
    /// # Errors
    /// As of [`Self::open`].
    pub fn by_agent(roots: &Roots, client: AgentClient) -> Result<Self, OpenError> {
        let is_of_all = client.hello().scope == Scope::All;
        let mut sampler = Self::open(roots, Some(TaskSource::Procfs))?;
        match is_of_all {
            true => sampler.agent = Some(client),
            false => sampler.reader.set_better_rows(Box::new(AgentRows::new(client))),
        }
        Ok(sampler)
    }

    /// Shows tasks that were recorded from now on: the present is not read any more.
    pub fn show_past(&mut self, store: TaskStore, unrecorded_cpu: Option<Nanos>, lost_exits: u64) {
        (self.store, self.groups) = (store, TaskGroups::default());
        self.groups.fold_kernel_threads(&self.store, self.folds_kernel_threads);
        (self.unrecorded_cpu, self.lost_by_agent) = (unrecorded_cpu, lost_exits);
        (self.agent, self.exit_records) = (None, Err(Absence::NotWanted));
        self.impossible_values = 0;
        self.swapped.clear();
        self.is_past = true;
        self.count();
    }

    /// Where the figures come from.
    pub fn source(&self) -> TaskSource {
        self.agent.as_ref().map_or(self.reader.source(), |agent| agent.hello().source)
    }

    /// The better sources that are not available, with the reason.
    pub fn refused(&self) -> &[(TaskSource, Refused)] {
        self.reader.refused()
    }

    /// Returns true if the kernel counts delays; `None` if that is not known.
    pub fn accounting_on(&self) -> Option<bool> {
        self.reader.accounting_on()
    }

    /// Returns true if this user may enable delay accounting.
    pub fn may_enable_accounting(&self) -> bool {
        self.reader.may_enable_accounting()
    }

    /// Enables delay accounting for tasks that are started from now on.
    ///
    /// # Errors
    /// If the kernel has no such switch, or this user may not set it.
    pub fn enable_accounting(&mut self) -> Result<(), Absence> {
        self.reader.enable_accounting()?;
        if let Ok(records) = &mut self.exit_records {
            records.accounting_was_enabled();
        }
        Ok(())
    }

    /// Exit records that were lost.
    pub fn lost_exits(&self) -> u64 {
        self.lost_by_agent + self.exit_records.as_ref().map_or(0, ExitRecords::lost)
    }

    /// Why there are no exit records.
    pub fn exits_absence(&self) -> Option<Absence> {
        self.exit_records.as_ref().err().copied().filter(|_| self.agent.is_none() && !self.is_past)
    }

    /// Takes a reading of all tasks, which is to be grouped then.
    ///
    /// # Errors
    /// Why /proc cannot be read.
    pub fn sample(&mut self) -> Result<(), Absence> {
        if self.is_past {
            return Ok(());
        }
        if let Some(agent) = &mut self.agent {
            match agent.sample(&mut self.store) {
                Ok(round) => {
                    self.unrecorded_cpu = round.unrecorded_cpu;
                    self.lost_by_agent += round.lost_exits;
                    self.count();
                    return Ok(());
                }
                // It has ended: from now on the kernel is read.
                Err(_) => {
                    let folds = self.folds_kernel_threads;
                    *self = Self::open(&self.roots, None).map_err(|_| Absence::Gone)?;
                    self.fold_kernel_threads(folds);
                }
            }
        }
        self.reader.read(&mut self.store)?;
        if let Ok(records) = &mut self.exit_records {
            let pending = &mut self.pending;
            // What cannot be received now is received in the next round.
            let _ = records.receive(|mut record| {
                // It has no memory any more.
                FigureSet::MEMORY.for_each(|figure| record.row.figures.set(figure, Some(0)));
                pending.push(record);
            });
        }
        if std::mem::take(&mut self.is_first) {
            // What ended before the first round belongs to no interval.
            self.pending.clear();
        }
        self.store.finish(&mut self.pending);
        self.unrecorded_cpu = self.unrecorded.advance(&self.store);
        self.count();
        Ok(())
    }

    /// Sums of the round that the store has finished.
    fn count(&mut self) {
        if self.store.interval().is_some() {
            self.impossible_values += self.store.impossible_values;
        }
        self.ended_cpu = Nanos(self.store.ended().filter_map(|ended| ended.cpu_ns()).sum());
    }

    /// Lets the next reading read every task: a property of a sleeping task was changed.
    pub fn forget(&mut self) {
        self.reader.forget();
    }

    /// Makes all kernel threads one row of the processes, or no longer.
    pub fn fold_kernel_threads(&mut self, is_wanted: bool) {
        self.folds_kernel_threads = is_wanted;
        self.groups.fold_kernel_threads(&self.store, is_wanted);
    }

    /// Sums all of them, or those that the filter chooses.
    pub fn group(&mut self, by: GroupBy, filter: Option<Filter<'_>>) {
        self.groups.update(&self.store, by, filter);
    }

    /// Reads what only /proc contains of rows that are shown.
    pub fn complete(&mut self, rows: impl IntoIterator<Item = RowId>) {
        if self.is_past {
            return;
        }
        let mut pids = Vec::new();
        for id in rows {
            let row = self.row(id);
            // A sum is not its first process.
            if !row.is_several() && !row.is_ended {
                pids.push(row.key().pid);
            }
        }
        self.reader.complete(&mut self.store, pids);
        self.groups.follow_amendments(&self.store);
    }

    /// Reads how much of each process is swapped out; for views that show it, since it takes a file a process.
    pub fn read_swapped(&mut self) {
        self.swapped.clear();
        if self.is_past {
            return;
        }
        let leaders = self.store.rows().filter(|row| row.key.pid == row.process()).map(|row| row.key.pid);
        let pids: Vec<u32> = leaders.collect();
        for pid in pids {
            self.swapped.extend(self.reader.swapped(pid).map(|swapped| (pid, swapped)));
        }
    }

    /// How much of a row's processes is swapped out, by the last [`read_swapped`](Self::read_swapped).
    pub fn swapped(&self, id: RowId) -> Option<Bytes> {
        let of_leader = |row: &TaskRow| self.swapped.get(&row.process()).copied();
        let row = self.row(id);
        if !row.is_several() {
            return self.swapped.get(&row.tgid()).copied().filter(|_| !row.is_ended);
        }
        let leaders = self.living(id).filter(|row| row.key.pid == row.process());
        leaders.map(of_leader).sum()
    }

    /// CPU time that a row's living threads have used since they started; `None` if one of them is not known.
    pub fn cpu_since_start(&self, id: RowId) -> Option<Nanos> {
        if self.row(id).is_ended {
            return None;
        }
        self.living(id).map(|row| row.figures.get(Figure::ON_CPU)).sum::<Option<u64>>().map(Nanos)
    }

    /// CPU time of a process with its threads that have ended; `None` if it is not known.
    pub fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        if self.is_past { None } else { self.reader.process_cpu(pid) }
    }

    /// A row of the view.
    pub fn row(&self, id: RowId) -> GroupRow<'_> {
        self.groups.row(&self.store, id)
    }

    /// The living tasks of a row.
    pub fn living(&self, id: RowId) -> impl Iterator<Item = &TaskRow> {
        self.groups.living(&self.store, id)
    }
}
