//! Tasks that ended.

use std::collections::{HashMap, VecDeque};

use facts::linux::taskstats::ExitInfo;
use facts::sample::Clock;
use facts::task::TaskRow;
use facts::task::exit_record::ExitRecord;
use facts::task::store::EndedTask;
use facts::unit::Nanos;
use query::{Limits, Matcher, QueryError};
use store::StoreError;

use super::Past;
use super::labelling::{LABELS, Labelling};

/// The tasks that ended in a time.
#[derive(Debug, Default)]
pub struct PastExits {
    /// How many.
    pub count: u64,
    /// The last of them, in the order of their ends.
    pub last: VecDeque<PastExit>,
}

/// A task that ended.
#[derive(Debug)]
pub struct PastExit {
    /// The kernel's last account of it.
    pub record: ExitRecord,
    /// In milliseconds since 1970.
    pub started_ms: i64,
    /// In milliseconds since 1970.
    pub ended_ms: i64,
}

impl PastExit {
    /// The task of a record, by the clocks of the reading that has it.
    pub(super) fn new(record: &ExitRecord, clock: Clock) -> Self {
        let ended = record.between.1;
        let [started_ms, ended_ms] =
            [ended.saturating_sub(record.row.wall), ended].map(|at| clock.realtime_ms_of(at));
        Self { record: *record, started_ms, ended_ms }
    }
}

/// A process that ended.
#[derive(Clone, Debug)]
pub struct EndedProcess {
    /// Its threads since they started, as their exit records have them, the main thread first.
    pub threads: Vec<TaskRow>,
    /// How the main thread ended.
    pub exit: ExitInfo,
    /// When it ended.
    pub clock: Clock,
}

/// The most ended threads that are kept until their process ends, too.
const MAX_THREADS: usize = 100_000;

impl Past {
    /// Returns the processes that ended between two times in nanoseconds since 1970, in the order of their ends. The main thread is `wanted`.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn ended_processes(
        &self,
        [from_ns, to_ns]: [i64; 2],
        is_wanted: impl Fn(&TaskRow) -> bool,
    ) -> Result<Vec<EndedProcess>, StoreError> {
        let (mut found, mut others) = (Vec::new(), HashMap::<u32, Vec<TaskRow>>::new());
        let mut kept = 0;
        let mut replay = self.recorded.history.tasks(from_ns, to_ns)?;
        while replay.advance()? {
            let clock = replay.round().clock;
            let ended = replay.store().ended().map(EndedTask::record);
            let mut records: Vec<&ExitRecord> =
                ended.filter(|record| self.scope.contains(&record.row)).collect();
            // The main thread last: what its process had is complete then.
            records.sort_by_key(|record| record.row.key.pid == record.row.process());
            for record in records {
                let row = record.row;
                if row.key.pid != row.process() {
                    if kept < MAX_THREADS {
                        kept += 1;
                        others.entry(row.process()).or_default().push(row);
                    }
                    continue;
                }
                let threads = others.remove(&row.process()).unwrap_or_default();
                kept -= threads.len();
                if is_wanted(&row) {
                    let threads = std::iter::once(row).chain(threads).collect();
                    let clock = at_boottime(clock, record.between.1);
                    found.push(EndedProcess { threads, exit: record.exit, clock });
                }
            }
        }
        Ok(found)
    }

    /// The tasks that meet conditions and ended between two times in milliseconds since 1970, and the last of them.
    pub fn exits(
        &self,
        [from_ms, to_ms]: [i64; 2],
        matchers: &[Matcher],
        most: usize,
        limits: &Limits<'_>,
    ) -> Result<PastExits, QueryError> {
        let failed = |error: StoreError| QueryError::Unreadable(error.to_string());
        let mut exits = PastExits::default();
        let Some(labelling) = Labelling::new((self.names(), self.scope), matchers, None, ("", &LABELS))
        else {
            return Ok(exits);
        };
        let nanoseconds = |milliseconds: i64| milliseconds.saturating_mul(1_000_000);
        let mut replay =
            self.recorded.history.tasks(nanoseconds(from_ms), nanoseconds(to_ms)).map_err(failed)?;
        while replay.advance().map_err(failed)? {
            if (limits.is_interrupted)() {
                return Err(QueryError::Interrupted);
            }
            let clock = replay.round().clock;
            let (store, mut names) = replay.store_and_names();
            for record in store.ended().map(EndedTask::record) {
                if labelling.accepts(&mut names, &record.row).map_err(QueryError::Unreadable)? {
                    exits.count += 1;
                    if exits.last.len() >= most {
                        exits.last.pop_front();
                    }
                    exits.last.push_back(PastExit::new(record, clock));
                }
            }
        }
        Ok(exits)
    }
}

/// The clocks at an earlier time on the boot clock, if the machine was not suspended since and no clock was set.
fn at_boottime(clock: Clock, boottime: Nanos) -> Clock {
    let ago = clock.boottime.saturating_sub(boottime);
    let [monotonic, realtime] = [clock.monotonic, clock.realtime].map(|time| time.saturating_sub(ago));
    Clock { monotonic, boottime, realtime }
}
