//! The task table from tick to tick: what each task did in the last interval, summed as the view wants it.

use facts::rate::Interval;
use facts::rate::tasks::{Changed, Ended, TaskChanges, Unrecorded};
use facts::sample::Absence;
use facts::task::sums::{Choice, GroupBy, Summed, TaskSums};
use facts::task::table::TaskTable;
use facts::unit::Nanos;
use probe::Roots;
use probe::task_table::{OpenError, Refused, TaskTableReader, Way};

use crate::failure::Failure;

/// All tasks.
pub(crate) struct Tasks {
    reader: TaskTableReader,
    is_captured: bool,
    before: TaskTable,
    now: TaskTable,
    ended: Vec<Ended>,
    changes: TaskChanges,
    sums: TaskSums,
    /// Time that ended tasks were on a CPU, in the last interval.
    pub(crate) ended_cpu: Nanos,
    /// Time that they were on one after their records were made, or without any; none where nobody counts it.
    pub(crate) unrecorded_cpu: Option<Nanos>,
    unrecorded: Unrecorded,
    /// Values left out so far because they cannot be.
    pub(crate) impossible_values: u64,
}

impl Tasks {
    /// Opens the best way, or the one asked for.
    pub(crate) fn open(roots: &Roots, only: Option<Way>) -> Result<Self, Failure> {
        let reader = TaskTableReader::open(roots, only).map_err(|error| match error {
            OpenError::Root(error) => error.into(),
            OpenError::Refused(way, Refused { detail, .. }) => {
                Failure::new(format!("--tasks {}: {detail} (see whit doctor)", way.name()))
            }
        })?;
        Ok(Self {
            reader,
            is_captured: roots.is_captured(),
            before: TaskTable::default(),
            now: TaskTable::default(),
            ended: Vec::new(),
            changes: TaskChanges::default(),
            sums: TaskSums::default(),
            ended_cpu: Nanos(0),
            unrecorded_cpu: None,
            unrecorded: Unrecorded::default(),
            impossible_values: 0,
        })
    }

    pub(crate) fn way(&self) -> Way {
        self.reader.way()
    }

    pub(crate) fn refused(&self) -> &[(Way, Refused)] {
        self.reader.refused()
    }

    pub(crate) fn accounting_on(&self) -> Option<bool> {
        self.reader.accounting_on()
    }

    pub(crate) fn lost_exits(&self) -> u64 {
        self.reader.lost_exits()
    }

    pub(crate) fn exits_absence(&self) -> Option<Absence> {
        self.reader.exits_absence()
    }

    /// Reads all, and subtracts what was read before. To be grouped then.
    pub(crate) fn tick(&mut self) -> Result<(), Failure> {
        std::mem::swap(&mut self.before, &mut self.now);
        let read = self.reader.read(&self.before, &mut self.now);
        read.map_err(|absence| Failure::unreadable("/proc", absence))?;
        // Who may not listen sees no ends, which is said once.
        let _ = self.reader.receive_ended(&mut self.ended);
        if self.before.is_empty() {
            // What ended before the first table is nobody's interval.
            self.ended.clear();
            if !self.is_captured {
                // No time has passed; of a captured machine the lives of the tasks are told.
                self.before.clock = self.now.clock;
            }
        }
        self.changes.fill(&self.before, &self.now, &mut self.ended);
        self.unrecorded_cpu = self.unrecorded.advance(&self.now, self.changes.ended_cpu());
        if !self.before.is_empty() {
            self.impossible_values += self.changes.impossible_values;
        }
        let all = self.all();
        let ended = (0..all.len()).filter(|index| all.is_ended(*index));
        let on_cpu = ended.filter_map(|index| all.cpu_ns(index));
        self.ended_cpu = Nanos(on_cpu.sum());
        Ok(())
    }

    /// Somebody changed what a task that sleeps does not change itself: the next reading looks at all of them.
    pub(crate) fn forget(&mut self) {
        self.reader.forget();
    }

    /// Sums all of them, or those that are chosen.
    pub(crate) fn group(&mut self, by: GroupBy, choice: Option<Choice<'_>>) {
        self.sums.fill(self.changes.of(&self.now), by, choice);
    }

    /// Reads what only /proc says of rows that are shown.
    pub(crate) fn complete(&mut self, rows: impl IntoIterator<Item = usize>) {
        let shown = self.rows();
        // A sum is not its first process.
        let single = rows.into_iter().filter(|row| !shown.is_several(*row));
        let tasks: Vec<usize> = single.filter_map(|row| shown.living(row)).collect();
        self.reader.complete(&mut self.now, tasks);
    }

    /// How long a process was on a CPU, with its threads that have ended; none where that is not told.
    pub(crate) fn process_cpu(&mut self, pid: u32) -> Option<Nanos> {
        self.reader.process_cpu(pid)
    }

    /// All threads and what each did, those that ended behind the living.
    pub(crate) fn all(&self) -> Changed<'_> {
        self.changes.of(&self.now)
    }

    /// The rows of the view.
    pub(crate) fn rows(&self) -> Summed<'_> {
        self.sums.of(self.all())
    }

    /// The time between the last two readings; none after the first, or where the machine slept in between.
    pub(crate) fn interval(&self) -> Option<Interval> {
        self.changes.interval
    }

    /// The same, to add what is found elsewhere.
    pub(crate) fn totals_mut(&mut self) -> &mut TaskTable {
        &mut self.now
    }

    /// The newest reading: totals, not differences.
    pub(crate) fn totals(&self) -> &TaskTable {
        &self.now
    }
}
