//! A machine and its tasks as they were at one tick, for views that otherwise show the present.

use std::collections::HashMap;

use facts::catalog::{METRICS, RESTORED, Restoration};
use facts::sample::{Clock, Sample};
use facts::task::TaskKey;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use store::{Named, Reading, StoreError, TaskReplay};

use super::Past;

/// A machine at a tick.
#[derive(Debug)]
pub struct PastMachine {
    /// At the tick before, from which rates are made.
    pub before: Sample,
    /// At the tick.
    pub now: Sample,
}

/// All tasks at a tick.
#[derive(Debug)]
pub struct PastTasks {
    /// The tasks, and what each did since the reading before.
    pub store: TaskStore,
    /// When they were read.
    pub clock: Clock,
    /// CPU time of ended tasks that no exit record contains; `None` if it was not counted.
    pub unrecorded_cpu: Option<Nanos>,
    /// Exit records that were lost in the interval.
    pub lost_exits: u64,
    /// The paths of cgroups, by id.
    pub cgroups: HashMap<u64, String>,
    /// Command lines, where they were recorded.
    pub command_lines: HashMap<TaskKey, String>,
}

const SECOND: i64 = 1_000_000_000;
/// How far back a tick is looked for: most histories have one a second, what is older one in ten or sixty.
pub(super) const BACK: [i64; 3] = [3 * SECOND, 30 * SECOND, 310 * SECOND];
/// Ticks that are further apart than those are steps of a longer one.
pub(super) const FURTHEST_BACK: i64 = 7_300 * SECOND;

impl Past {
    /// The first and the last tick, in nanoseconds since 1970; `None` if there is none.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn extent_ns(&self) -> Result<Option<(i64, i64)>, StoreError> {
        if let Some(extent_ns) = self.extent_ns.get() {
            return Ok(*extent_ns);
        }
        let extent_ns = self.recorded.extent_ns()?;
        Ok(*self.extent_ns.get_or_init(|| extent_ns))
    }

    /// The machine at the last tick before a time in nanoseconds since 1970; `None` if nothing was recorded then.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn machine_at(&self, at_ns: i64) -> Result<Option<PastMachine>, StoreError> {
        for back in BACK {
            if let Some(machine) = self.machine_between(at_ns.saturating_sub(back), at_ns)? {
                return Ok(Some(machine));
            }
        }
        let far = self.machine_between(at_ns.saturating_sub(FURTHEST_BACK), at_ns)?;
        Ok(far.filter(|machine| {
            let [earlier_ns, last_ns] =
                [&machine.before, &machine.now].map(|sample| sample.clock.realtime.0.cast_signed());
            // A tick's step later nothing was recorded any more.
            at_ns - last_ns <= (last_ns - earlier_ns) * 2
        }))
    }

    /// The first reading of tasks, in nanoseconds since 1970; `None` if there is none in the first ten minutes.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn first_tasks_ns(&self) -> Result<Option<i64>, StoreError> {
        let Some((first_ns, _)) = self.extent_ns()? else { return Ok(None) };
        let mut replay = self.recorded.history.tasks(first_ns, first_ns.saturating_add(600 * SECOND))?;
        Ok(replay.advance()?.then(|| replay.round().clock.realtime.0.cast_signed()))
    }

    /// The first tick after a time in nanoseconds since 1970; `None` if there is none.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn tick_after(&self, at_ns: i64) -> Result<Option<i64>, StoreError> {
        let names = self.of_every_tick();
        let last_ns = self.extent_ns()?.map_or(at_ns, |(_, last)| last);
        for ahead in BACK.into_iter().chain([FURTHEST_BACK, i64::MAX]) {
            let mut first: Option<i64> = None;
            let to_ns = at_ns.saturating_add(ahead).min(last_ns);
            self.recorded.history.read_all(&names, at_ns.saturating_add(1), to_ns, |_, reading| {
                let found = reading.clock().realtime.0.cast_signed();
                first = Some(first.map_or(found, |first| first.min(found)));
            })?;
            if first.is_some() || to_ns >= last_ns {
                return Ok(first);
            }
        }
        Ok(None)
    }

    /// The first tick after a time at which the machine can be shown, in nanoseconds since 1970: behind a long gap the second one, since rates
    /// need two. `None` if there is none.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn machine_after(&self, at_ns: i64) -> Result<Option<i64>, StoreError> {
        match self.tick_after(at_ns)? {
            Some(next_ns) if next_ns - at_ns > FURTHEST_BACK => self.tick_after(next_ns),
            next_ns => Ok(next_ns),
        }
    }

    /// Returns the last tick up to a time, in nanoseconds since 1970; `None` if there is none.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn tick_until(&self, at_ns: i64) -> Result<Option<i64>, StoreError> {
        let spans = self.recorded.history.spans()?.into_iter();
        let begun: Vec<(i64, i64)> = spans.filter(|(first_ns, _)| *first_ns <= at_ns).collect();
        let Some(until_ns) = begun.iter().map(|(_, last_ns)| *last_ns.min(&at_ns)).max() else {
            return Ok(None);
        };
        // A machine that was suspended has a gap within a span.
        let names = self.of_every_tick();
        let contains_it = begun.iter().filter(|(_, last_ns)| *last_ns >= until_ns);
        let first_ns = contains_it.map(|(first_ns, _)| *first_ns).max().unwrap_or(until_ns);
        for back in BACK.into_iter().chain([FURTHEST_BACK, i64::MAX]) {
            let mut last: Option<i64> = None;
            let from_ns = until_ns.saturating_sub(back).max(first_ns);
            self.recorded.history.read_all(&names, from_ns, until_ns, |_, reading| {
                last = last.max(Some(reading.clock().realtime.0.cast_signed()));
            })?;
            if last.is_some() || from_ns <= first_ns {
                return Ok(last);
            }
        }
        Ok(None)
    }

    /// The series that have a sample at every tick.
    fn of_every_tick(&self) -> Vec<&str> {
        let everywhere = ["node_load1", "node_memory_MemTotal_bytes"];
        let series = self.recorded.series.iter().filter(|(labels, _)| everywhere.contains(&labels.metric()));
        series.map(|(_, name)| name.as_str()).collect()
    }

    /// The last two ticks of a time.
    fn machine_between(&self, from_ns: i64, to_ns: i64) -> Result<Option<PastMachine>, StoreError> {
        let is_restored =
            |metric: &str| METRICS.iter().any(|row| row.name == metric && RESTORED.contains(&row.source));
        let wanted: Vec<_> =
            self.recorded.series.iter().filter(|(labels, _)| is_restored(labels.metric())).collect();
        let names: Vec<&str> = wanted.iter().map(|(_, name)| name.as_str()).collect();
        let mut values: Vec<(usize, Clock, f64)> = Vec::new();
        let mut clocks: [Option<Clock>; 2] = [None; 2];
        self.recorded.history.read_all(&names, from_ns, to_ns, |place, reading| {
            let Reading::Sample(sample) = reading else { return };
            if clocks[1].is_none_or(|last| last.realtime < sample.clock.realtime) {
                clocks = [clocks[1], Some(sample.clock)];
            }
            // Series come one after the other, all of one block before those of the next.
            values.push((place, sample.clock, sample.value));
        })?;
        let [Some(before), Some(now)] = clocks else { return Ok(None) };
        let restore = |clock: Clock| {
            let mut restoration = Restoration::default();
            for (place, _, value) in values.iter().filter(|(_, known, _)| *known == clock) {
                let labels = &wanted[*place].0;
                restoration.put(labels.metric(), |label| labels.get(label), *value);
            }
            restoration.finish(clock)
        };
        Ok(Some(PastMachine { before: restore(before), now: restore(now) }))
    }

    /// All tasks at the last reading before a time in nanoseconds since 1970; where they were read rarely, at the one after it, whose interval
    /// contains the time. `None` if none were recorded then.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn tasks_at(&self, at_ns: i64) -> Result<Option<PastTasks>, StoreError> {
        let Some(replay) = self.reading_before(at_ns)? else { return Ok(None) };
        let last_ns = replay.round().clock.realtime.0.cast_signed();
        let after = match at_ns.saturating_sub(last_ns) > 2 * SECOND {
            true => self.tasks_after(last_ns, at_ns)?,
            false => None,
        };
        match after {
            Some(after) => Ok(Some(after)),
            None => past_tasks(replay).map(Some),
        }
    }

    /// Returns a replay that stands at the last reading of tasks before a time in nanoseconds since 1970; `None` if none were recorded then.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(super) fn reading_before(&self, at_ns: i64) -> Result<Option<TaskReplay<'_>>, StoreError> {
        for back in BACK.into_iter().chain([FURTHEST_BACK]) {
            let mut replay = self.recorded.history.tasks(at_ns.saturating_sub(back), at_ns)?;
            let mut is_found = false;
            while replay.advance()? {
                is_found = true;
            }
            if is_found {
                return Ok(Some(replay));
            }
        }
        Ok(None)
    }

    /// All tasks at the first reading from a time on, as it continues an earlier one; `None` if none does.
    fn tasks_after(&self, earlier_ns: i64, at_ns: i64) -> Result<Option<PastTasks>, StoreError> {
        let mut replay = self.recorded.history.tasks(earlier_ns, at_ns.saturating_add(BACK[2]))?;
        while replay.advance()? {
            if replay.round().clock.realtime.0.cast_signed() >= at_ns {
                let is_continued = replay.store().interval().is_some();
                return if is_continued { past_tasks(replay).map(Some) } else { Ok(None) };
            }
        }
        Ok(None)
    }
}

fn past_tasks(mut replay: TaskReplay<'_>) -> Result<PastTasks, StoreError> {
    let (mut cgroups, mut command_lines) = (HashMap::new(), HashMap::new());
    let rows: Vec<_> = replay.store().rows().map(|row| (row.key, row.cgroup)).collect();
    let ended: Vec<_> = replay.store().ended().filter_map(|one| one.row().cgroup).collect();
    for id in rows.iter().filter_map(|(_, cgroup)| *cgroup).chain(ended) {
        if !cgroups.contains_key(&id)
            && let Some(path) = replay.name(Named::Cgroup(id))?
        {
            cgroups.insert(id, path.to_owned());
        }
    }
    for (key, _) in rows {
        if let Some(line) = replay.name(Named::Command(key))? {
            command_lines.insert(key, line.to_owned());
        }
    }
    let summary = *replay.round();
    Ok(PastTasks {
        clock: summary.clock,
        unrecorded_cpu: summary.unrecorded_cpu,
        lost_exits: summary.lost_exits,
        cgroups,
        command_lines,
        store: replay.into_store(),
    })
}

#[cfg(test)]
mod tests {
    use store::SeriesKind;

    use crate::past::scratch::{Scratch, append};

    #[test]
    fn steps_go_over_the_gap_of_a_suspended_machine() {
        let scratch = Scratch::new("suspended");
        let past = scratch.past(|store| {
            let load = store.series("node_load1", SeriesKind::Gauge);
            // In one block, since it is one boot.
            for second in [1, 2, 3, 28_803, 28_804] {
                append(store, second * 1000, &[(load, 1.0)]);
            }
        });
        let until = |at_ms: i64| past.tick_until(at_ms * 1_000_000).unwrap().map(|ns| ns / 1_000_000);
        assert_eq!(until(28_802_999), Some(3_000));
        assert_eq!(until(3_500), Some(3_000));
        assert_eq!(until(28_803_000), Some(28_803_000));
        assert_eq!(until(99_999_000), Some(28_804_000));
        assert_eq!(until(999), None);
    }
}
