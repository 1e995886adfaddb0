//! One process of a history: when it ran, and its relatives.

use facts::linux::taskstats::ExitInfo;
use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::exit_record::ExitRecord;
use facts::task::store::EndedTask;
use query::{Limits, QueryError};
use store::StoreError;

use super::Past;
use super::exits::PastExit;
use super::moment::{BACK, FURTHEST_BACK, PastTasks};

/// How far apart two readings of one start may lie: records of exits have it from when they were received, and the clock is slewed. No number
/// is given again so soon.
const SAME_START_MS: i64 = 5_000;
/// Ancestors of a process. The bound ends a circle, which readings of different times may have.
const MAX_ANCESTORS: usize = 64;
/// The last reading that has a process is looked for so closely.
const CLOSEST_MS: i64 = 200;
/// A process is in the first reading behind its start, which comes so soon, and its exit record in the one behind its end.
const READING_MS: i64 = 2_000;
/// A process whose start is not known is looked for so far back.
const MAX_SEARCH_MS: i64 = 3_600_000;

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

/// The last reading that has a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastSeen {
    /// The time of the reading, in milliseconds since 1970.
    at_ms: i64,
    /// At this time a later reading does not have it; `None`: it was running at the time that was asked for.
    gone_ms: Option<i64>,
}

impl Past {
    /// Returns a process as it was at a time in milliseconds since 1970, or at its end if that was before. One whose start is not known is
    /// looked for back to `from_ms`, an hour at most. `None`: none was recorded that is seen.
    ///
    /// # Errors
    /// If the history cannot be read, or it takes too long.
    pub fn process(
        &self,
        key: ProcessKey,
        [from_ms, at_ms]: [i64; 2],
        limits: &Limits<'_>,
    ) -> Result<Option<PastProcess>, QueryError> {
        let last_seen = self.last_seen(key, at_ms, limits)?;
        let mut found = match last_seen {
            None => None,
            // Times of readings are between milliseconds.
            Some(LastSeen { at_ms, .. }) => {
                let tasks = self.tasks_at((at_ms + 1).saturating_mul(1_000_000)).map_err(unreadable)?;
                tasks.and_then(|tasks| self.described(&tasks, key.pid))
            }
        };
        let between_ms = match (last_seen, key.started_ms) {
            (Some(LastSeen { gone_ms: None, .. }), _) => return Ok(found),
            (Some(LastSeen { at_ms, gone_ms: Some(gone_ms) }), _) => [at_ms, gone_ms + CLOSEST_MS],
            (None, Some(started_ms)) => {
                [started_ms, self.reading_after(started_ms)?.unwrap_or(at_ms) + READING_MS]
            }
            (None, None) => [from_ms.max(at_ms.saturating_sub(MAX_SEARCH_MS)), at_ms],
        };
        let ended = self.end_of(key, between_ms, last_seen.is_some(), limits)?;
        if let Some(PastExit { record: ExitRecord { row, exit, .. }, started_ms, ended_ms }) = ended {
            let process = found.get_or_insert_with(|| PastProcess {
                row,
                started_ms,
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

    /// Returns the last reading up to a time that has a process; `None` if none has it, or the process is not known by its start and had ended.
    fn last_seen(
        &self,
        key: ProcessKey,
        at_ms: i64,
        limits: &Limits<'_>,
    ) -> Result<Option<LastSeen>, QueryError> {
        if let Some((true, at_ms)) = self.seen_at(key, at_ms, limits)? {
            return Ok(Some(LastSeen { at_ms, gone_ms: None }));
        }
        // Of several processes of a number each would have to be found.
        let Some(started_ms) = key.started_ms.filter(|started_ms| *started_ms < at_ms) else {
            return Ok(None);
        };
        let mut gone_ms = at_ms;
        // It may be older than the history.
        let first_ms = self.reading_after(started_ms)?.filter(|first_ms| *first_ms < gone_ms);
        let first =
            first_ms.map(|first_ms| self.seen_at(key, first_ms + READING_MS, limits)).transpose()?.flatten();
        let Some((true, mut there_ms)) = first else { return Ok(None) };
        while gone_ms - there_ms > CLOSEST_MS {
            let middle_ms = there_ms + (gone_ms - there_ms) / 2;
            match self.seen_at(key, middle_ms, limits)? {
                // The reading may be one that is known already.
                Some((true, reading_ms)) if reading_ms > there_ms => there_ms = reading_ms,
                // There is none between it and the middle.
                Some((true, _)) | None => {
                    match self.reading_after(middle_ms)?.filter(|after_ms| *after_ms < gone_ms) {
                        None => gone_ms = middle_ms,
                        Some(after_ms) => match self.seen_at(key, after_ms + 1, limits)? {
                            Some((true, _)) => there_ms = after_ms,
                            // Nothing was read between them.
                            _ => {
                                gone_ms = after_ms;
                                break;
                            }
                        },
                    }
                }
                Some((false, _)) => gone_ms = middle_ms,
            }
        }
        Ok(Some(LastSeen { at_ms: there_ms, gone_ms: Some(gone_ms) }))
    }

    /// Returns whether the last reading before a time has a process, and the time of the reading; `None`: nothing was read for hours.
    fn seen_at(
        &self,
        key: ProcessKey,
        at_ms: i64,
        limits: &Limits<'_>,
    ) -> Result<Option<(bool, i64)>, QueryError> {
        if (limits.is_interrupted)() {
            return Err(QueryError::Interrupted);
        }
        let Some(replay) = self.reading_before(at_ms.saturating_mul(1_000_000)).map_err(unreadable)? else {
            return Ok(None);
        };
        let clock = replay.round().clock;
        let row = replay.store().row(key.pid);
        let is_seen = row.is_some_and(|row| self.is_seen_as(key, row, clock.realtime_ms_of(row.key.start)));
        Ok(Some((is_seen, clock.realtime.0.cast_signed() / 1_000_000)))
    }

    /// The first reading after a time, both in milliseconds since 1970.
    fn reading_after(&self, at_ms: i64) -> Result<Option<i64>, QueryError> {
        let at_ns = at_ms.saturating_mul(1_000_000);
        for ahead_ns in BACK.into_iter().chain([FURTHEST_BACK, i64::MAX]) {
            let mut replay =
                self.history().tasks(at_ns, at_ns.saturating_add(ahead_ns)).map_err(unreadable)?;
            while replay.advance().map_err(unreadable)? {
                let reading_ms = replay.round().clock.realtime.0.cast_signed() / 1_000_000;
                if reading_ms > at_ms {
                    return Ok(Some(reading_ms));
                }
            }
        }
        Ok(None)
    }

    /// Returns whether a row that started then is the main thread of a process, and seen.
    fn is_seen_as(&self, key: ProcessKey, row: &TaskRow, started_ms: i64) -> bool {
        let is_same = |known_ms: i64| started_ms.abs_diff(known_ms) <= SAME_START_MS.unsigned_abs();
        row.key.pid == key.pid
            && row.process() == key.pid
            && self.sees(row)
            && key.started_ms.is_none_or(is_same)
    }

    /// Returns how a process ended, by the last exit record between two times. Of one that was seen before them it is that of its number.
    fn end_of(
        &self,
        key: ProcessKey,
        [from_ms, to_ms]: [i64; 2],
        was_seen: bool,
        limits: &Limits<'_>,
    ) -> Result<Option<PastExit>, QueryError> {
        let key = if was_seen { ProcessKey { started_ms: None, ..key } } else { key };
        let [from_ns, to_ns] = [from_ms, to_ms].map(|at_ms| at_ms.saturating_mul(1_000_000));
        let mut found = None;
        let mut replay = self.history().tasks(from_ns, to_ns).map_err(unreadable)?;
        while replay.advance().map_err(unreadable)? {
            if (limits.is_interrupted)() {
                return Err(QueryError::Interrupted);
            }
            let clock = replay.round().clock;
            for record in replay.store().ended().map(EndedTask::record) {
                let exit = PastExit::new(record, clock);
                if self.is_seen_as(key, &record.row, exit.started_ms) {
                    found = Some(exit);
                }
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
            tasks.store.rows().filter(|other| other.process() == pid && self.sees(other)).copied().collect();
        threads.sort_unstable_by_key(|thread| thread.key.pid);
        Some(PastProcess {
            row,
            started_ms: tasks.clock.realtime_ms_of(row.key.start),
            ended_ms: None,
            exit: None,
            cgroup: row.cgroup.and_then(|id| tasks.cgroups.get(&id)).cloned(),
            command_line: tasks.command_lines.get(&row.key).cloned(),
            ancestors: ancestors.take(MAX_ANCESTORS).map(relative).collect(),
            children,
            threads,
        })
    }
}

fn unreadable(error: StoreError) -> QueryError {
    QueryError::Unreadable(error.to_string())
}
