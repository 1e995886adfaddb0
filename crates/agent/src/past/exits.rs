//! Tasks that ended.

use std::collections::VecDeque;

use facts::sample::Clock;
use facts::task::exit_record::ExitRecord;
use facts::task::store::EndedTask;
use facts::unit::Nanos;
use query::{Limits, Matcher, QueryError};
use store::StoreError;

use super::Past;
use super::labelling::Labelling;

/// The tasks that ended in a time.
#[derive(Debug, Default)]
pub(crate) struct PastExits {
    /// How many.
    pub(crate) count: u64,
    /// The last of them, in the order of their ends.
    pub(crate) last: VecDeque<PastExit>,
}

/// A task that ended.
#[derive(Debug)]
pub(crate) struct PastExit {
    pub(crate) record: ExitRecord,
    /// In milliseconds since 1970.
    pub(crate) started_ms: i64,
    /// The same.
    pub(crate) ended_ms: i64,
}

impl Past {
    /// The tasks that meet conditions and ended between two times in milliseconds since 1970, and the last of them.
    pub(crate) fn exits(
        &self,
        [from_ms, to_ms]: [i64; 2],
        matchers: &[Matcher],
        most: usize,
        limits: &Limits<'_>,
    ) -> Result<PastExits, QueryError> {
        let failed = |error: StoreError| QueryError::Unreadable(error.to_string());
        let mut exits = PastExits::default();
        let Some(labelling) = Labelling::new((&self.users, self.scope), matchers, None, "") else {
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
                    let ended = record.between.1;
                    let started = ended.saturating_sub(record.row.wall);
                    let [started_ms, ended_ms] = [started, ended].map(|at| realtime_ms(clock, at));
                    exits.last.push_back(PastExit { record: *record, started_ms, ended_ms });
                }
            }
        }
        Ok(exits)
    }
}

/// A time on the boot clock in milliseconds since 1970.
fn realtime_ms(clock: Clock, at: Nanos) -> i64 {
    (clock.realtime.0.cast_signed() - clock.boottime.0.cast_signed() + at.0.cast_signed()) / 1_000_000
}
