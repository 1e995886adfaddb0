//! One process of a history: when it ran, and its relatives.

use facts::linux::taskstats::ExitInfo;
use facts::sample::Clock;
use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::store::EndedTask;
use query::{Limits, QueryError};
use store::StoreError;

use super::Past;
use super::moment::PastTasks;

/// How far apart two readings of one start may lie: sources count it in ticks of the kernel, and the clock is slewed. No number is given
/// again so soon.
const SAME_START_MS: i64 = 1_000;
/// Ancestors of a process. The bound ends a circle, which readings of different times may have.
const MOST_ANCESTORS: usize = 64;
/// The last tick that has a process is looked for so closely.
const CLOSEST_MS: i64 = 200;
/// The first tick that has a process, and the one that has its exit record, come so soon behind its start and its end.
const TICK_MS: i64 = 2_000;

/// A process, by its number and its start: numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessKey {
    /// Its number.
    pub pid: u32,
    /// In milliseconds since 1970. `None`: the last one of this number.
    pub started_ms: Option<i64>,
}

/// A process, as it was at a time or, if it had ended, at its end.
#[derive(Debug)]
pub struct PastProcess {
    /// Its main thread.
    pub row: TaskRow,
    /// In milliseconds since 1970.
    pub started_ms: i64,
    /// In milliseconds since 1970. `None`: it was running.
    pub ended_ms: Option<i64>,
    /// How it ended, if that was recorded.
    pub exit: Option<ExitInfo>,
    /// The path of its cgroup.
    pub cgroup: Option<String>,
    /// Its command line, if that was recorded.
    pub command_line: Option<String>,
    /// Its parent, the parent of that one, and so on.
    pub ancestors: Vec<Relative>,
    /// Its children, by number.
    pub children: Vec<Relative>,
    /// Its threads, the main one among them, by number.
    pub threads: Vec<TaskRow>,
}

/// A process that is an ancestor or a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// Its number.
    pub pid: u32,
    /// The name of its main thread.
    pub comm: Comm,
    /// In milliseconds since 1970.
    pub started_ms: i64,
}

impl Past {
    /// Returns a process as it was at a time in milliseconds since 1970; one that had ended is looked for back to `from_ms`, or to its start
    /// if that is known. `None`: none was recorded that is seen.
    ///
    /// # Errors
    /// If the history cannot be read, or it takes too long.
    pub fn process(
        &self,
        key: ProcessKey,
        [from_ms, at_ms]: [i64; 2],
        limits: &Limits<'_>,
    ) -> Result<Option<PastProcess>, QueryError> {
        let (last_seen, between_ms) = self.last_seen(key, [from_ms, at_ms], limits)?;
        let is_running = last_seen.as_ref().is_some_and(|_| between_ms[0] >= at_ms);
        let mut found = last_seen.and_then(|tasks| self.described(&tasks, key.pid));
        if is_running {
            return Ok(found);
        }
        let ended = self.end_of(key, between_ms, limits)?;
        if let Some((row, exit, clock, ended_ms)) = ended {
            let process = found.get_or_insert_with(|| PastProcess {
                row,
                started_ms: clock.realtime_ms_of(row.key.start),
                ended_ms: None,
                exit: None,
                cgroup: None,
                command_line: None,
                ancestors: Vec::new(),
                children: Vec::new(),
                threads: vec![row],
            });
            (process.ended_ms, process.exit) = (Some(ended_ms), Some(exit));
        } else if let Some(process) = &mut found {
            process.ended_ms = Some(between_ms[0]);
        }
        Ok(found)
    }

    /// Returns the tasks at the last tick that has a process, and between which times it ended: at the first it was there, at the second it
    /// was not. Without a tick that has it, it lived at most between them. Both are `at_ms` if it was there then.
    fn last_seen(
        &self,
        key: ProcessKey,
        [from_ms, at_ms]: [i64; 2],
        limits: &Limits<'_>,
    ) -> Result<(Option<PastTasks>, [i64; 2]), QueryError> {
        let seen_at = |at_ms: i64| {
            if (limits.is_interrupted)() {
                return Err(QueryError::Interrupted);
            }
            let tasks = self.tasks_at(at_ms.saturating_mul(1_000_000)).map_err(unreadable)?;
            Ok(tasks.filter(|tasks| {
                tasks.store.row(key.pid).is_some_and(|row| self.is_seen_as(key, row, tasks.clock))
            }))
        };
        if let Some(tasks) = seen_at(at_ms)? {
            return Ok((Some(tasks), [at_ms, at_ms]));
        }
        // Of several processes of a number each would have to be found.
        let Some(started_ms) = key.started_ms.filter(|started_ms| *started_ms < at_ms) else {
            return Ok((None, [from_ms, at_ms]));
        };
        // A tick that has it, if it lived that long.
        let (mut there_ms, mut gone_ms) = (started_ms.saturating_add(TICK_MS), at_ms);
        let Some(mut tasks) = seen_at(there_ms)? else {
            return Ok((None, [started_ms, there_ms]));
        };
        while gone_ms - there_ms > CLOSEST_MS {
            let middle_ms = there_ms + (gone_ms - there_ms) / 2;
            match seen_at(middle_ms)? {
                Some(later) => (tasks, there_ms) = (later, middle_ms),
                None => gone_ms = middle_ms,
            }
        }
        let tick_ms = tasks.clock.realtime.0.cast_signed() / 1_000_000;
        Ok((Some(tasks), [tick_ms, gone_ms]))
    }

    /// Returns whether a row is the main thread of a process, and seen.
    fn is_seen_as(&self, key: ProcessKey, row: &TaskRow, clock: Clock) -> bool {
        let is_of_start = |started_ms: i64| {
            clock.realtime_ms_of(row.key.start).abs_diff(started_ms) <= SAME_START_MS.unsigned_abs()
        };
        row.key.pid == key.pid
            && row.process() == key.pid
            && self.sees(row)
            && key.started_ms.is_none_or(is_of_start)
    }

    /// Returns the last row of a process, how it ended, and when in milliseconds since 1970, by the last exit record between two times.
    fn end_of(
        &self,
        key: ProcessKey,
        [from_ms, to_ms]: [i64; 2],
        limits: &Limits<'_>,
    ) -> Result<Option<(TaskRow, ExitInfo, Clock, i64)>, QueryError> {
        // A record is of the tick behind the end.
        let to_ms = to_ms.saturating_add(TICK_MS);
        let [from_ns, to_ns] = [from_ms, to_ms].map(|at_ms| at_ms.saturating_mul(1_000_000));
        let mut found = None;
        let mut replay = self.history().tasks(from_ns, to_ns).map_err(unreadable)?;
        while replay.advance().map_err(unreadable)? {
            if (limits.is_interrupted)() {
                return Err(QueryError::Interrupted);
            }
            let clock = replay.round().clock;
            let records = replay.store().ended().map(EndedTask::record);
            let of_it = records.filter(|record| self.is_seen_as(key, &record.row, clock)).last();
            if let Some(record) = of_it {
                found = Some((record.row, record.exit, clock, clock.realtime_ms_of(record.between.1)));
            }
        }
        Ok(found)
    }

    /// A process that is among the tasks of a tick, with its relatives.
    fn described(&self, tasks: &PastTasks, pid: u32) -> Option<PastProcess> {
        let row = *tasks.store.row(pid)?;
        let relative = |row: &TaskRow| Relative {
            pid: row.key.pid,
            comm: row.comm,
            started_ms: tasks.clock.realtime_ms_of(row.key.start),
        };
        let parent =
            |row: &TaskRow| row.ppid.and_then(|pid| tasks.store.row(pid)).filter(|row| self.sees(row));
        let ancestors = std::iter::successors(parent(&row), |row| parent(row));
        let is_child = |other: &&TaskRow| {
            other.ppid == Some(pid) && other.process() == other.key.pid && self.sees(other)
        };
        let mut children: Vec<Relative> = tasks.store.rows().filter(is_child).map(relative).collect();
        children.sort_unstable_by_key(|child| child.pid);
        let mut threads: Vec<TaskRow> =
            tasks.store.rows().filter(|other| other.process() == pid).copied().collect();
        threads.sort_unstable_by_key(|thread| thread.key.pid);
        Some(PastProcess {
            row,
            started_ms: tasks.clock.realtime_ms_of(row.key.start),
            ended_ms: None,
            exit: None,
            cgroup: row.cgroup.and_then(|id| tasks.cgroups.get(&id)).cloned(),
            command_line: tasks.command_lines.get(&row.key).cloned(),
            ancestors: ancestors.take(MOST_ANCESTORS).map(relative).collect(),
            children,
            threads,
        })
    }
}

fn unreadable(error: StoreError) -> QueryError {
    QueryError::Unreadable(error.to_string())
}
