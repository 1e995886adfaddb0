//! A long history, made of a short one that was recorded and is repeated: what a question about a day costs is measured on it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use facts::sample::Clock;
use facts::task::exit_record::ExitRecord;
use facts::task::figure::{Figure, FigureSet};
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;
use store::{
    History, Named, Reading, Retention, SeriesId, SeriesKind, Store, StoreError, TaskReplay, TaskTick, Tick,
};

use crate::outcome::Outcome;

const HOUR_NS: u64 = 3_600_000_000_000;
const HALF_A_SECOND_NS: i64 = 500_000_000;
/// Two values of a counter that differ by this part of them are the same.
const MAX_ROUNDING: f64 = 1e-14;

/// Repeats the history of one data directory in an empty one until it is so many hours long. It ends when the source does, so that
/// expressions about now find it.
///
/// Tasks that live from the first to the last round live all the time; all others live again in each repetition.
pub(crate) fn run(source: &Path, target: &Path, hours: &str) -> Outcome {
    let hours: u64 = hours.parse().map_err(|error| format!("{hours}: {error}"))?;
    std::fs::create_dir_all(target).map_err(|error| format!("{}: {error}", target.display()))?;
    let target = target.join(history::HISTORY);
    if target.exists() {
        return Err(format!("{} is there already", target.display()));
    }
    repeat(&source.join(history::HISTORY), &target, hours * HOUR_NS)
        .map_err(|error| format!("{}: {error}", target.display()))
}

fn repeat(source: &Path, target: &Path, length_ns: u64) -> Result<(), StoreError> {
    let source = Recorded::read(History::open(source)?)?;
    let repetitions = length_ns.div_ceil(source.period_ns());
    let mut long = LongHistory::new(Store::open(target, Retention::default())?, &source);
    for repetition in 0..repetitions {
        long.add(
            &source,
            Shift { repetition, left: repetitions - 1 - repetition, period_ns: source.period_ns() },
        )?;
        eprintln!("repeated {} of {repetitions} times, {} ended tasks", repetition + 1, long.ended);
    }
    long.store.close()?;
    history::task_sums::fill(target)
}

/// The machine's values at a tick: the clock, and each series by its place.
type Values = (Clock, Vec<(usize, f64)>);

/// What is repeated.
struct Recorded {
    history: History,
    series: Vec<(String, SeriesKind)>,
    ticks: Vec<Values>,
    /// Tasks of the first round that live in the last one too, as they were in each.
    lasting: HashMap<TaskKey, (TaskRow, TaskRow)>,
    /// What each counter of the machine grew by.
    growth: Vec<f64>,
}

impl Recorded {
    fn read(history: History) -> Result<Self, StoreError> {
        let series: Vec<(String, SeriesKind)> =
            history.series().into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
        let names: Vec<&str> = series.iter().map(|(name, _)| name.as_str()).collect();
        let mut ticks: BTreeMap<u64, Values> = BTreeMap::new();
        let mut ends: Vec<Option<(f64, f64)>> = vec![None; names.len()];
        history.read_all(&names, 0, i64::MAX, |place, reading| {
            if let Reading::Sample(sample) = reading {
                let tick = ticks.entry(sample.clock.realtime.0).or_insert((sample.clock, Vec::new()));
                tick.1.push((place, sample.value));
                ends[place] = Some((ends[place].map_or(sample.value, |(first, _)| first), sample.value));
            }
        })?;
        let growth = |(first, last): (f64, f64)| (last - first).max(0.0);
        let growth = ends.into_iter().map(|ends| ends.map_or(0.0, growth)).collect();
        let lasting = lasting(&history)?;
        Ok(Self { series, ticks: ticks.into_values().collect(), lasting, growth, history })
    }

    /// From a first tick to the next first tick.
    fn period_ns(&self) -> u64 {
        let time = |tick: Option<&Values>| tick.map_or(0, |(clock, _)| clock.realtime.0);
        time(self.ticks.last()) - time(self.ticks.first()) + Nanos::SECOND.0
    }
}

fn lasting(history: &History) -> Result<HashMap<TaskKey, (TaskRow, TaskRow)>, StoreError> {
    let mut replay = history.tasks(0, i64::MAX)?;
    let mut first: Option<HashMap<TaskKey, TaskRow>> = None;
    while replay.advance()? {
        first.get_or_insert_with(|| replay.store().rows().map(|row| (row.key, *row)).collect());
    }
    let first = first.unwrap_or_default();
    let last = replay.store().rows();
    Ok(last.filter_map(|row| Some((row.key, (*first.get(&row.key)?, *row)))).collect())
}

/// Where a repetition lies.
#[derive(Clone, Copy)]
struct Shift {
    repetition: u64,
    /// Repetitions after it.
    left: u64,
    period_ns: u64,
}

impl Shift {
    /// A time since 1970: the last repetition is when the source was.
    fn realtime(self, time: Nanos) -> Nanos {
        Nanos(time.0 - self.left * self.period_ns)
    }

    /// A time since boot: the first repetition is when the source was.
    fn since_boot(self, time: Nanos) -> Nanos {
        Nanos(time.0 + self.repetition * self.period_ns)
    }

    fn clock(self, clock: Clock) -> Clock {
        Clock {
            realtime: self.realtime(clock.realtime),
            boottime: self.since_boot(clock.boottime),
            monotonic: self.since_boot(clock.monotonic),
        }
    }

    fn key(self, source: &Recorded, key: TaskKey) -> TaskKey {
        if source.lasting.contains_key(&key) {
            return key;
        }
        TaskKey { start: self.since_boot(key.start), ..key }
    }

    fn row(self, source: &Recorded, row: &TaskRow) -> TaskRow {
        let mut row = TaskRow { key: self.key(source, row.key), ..*row };
        if let Some((first, last)) = source.lasting.get(&row.key) {
            row.wall = self.since_boot(row.wall);
            FigureSet::COUNTERS.for_each(|figure| {
                let growth = grown(first, last, figure) * self.repetition;
                row.figures.set(figure, row.figures.get(figure).map(|value| value + growth));
            });
        }
        row
    }

    fn exit(self, source: &Recorded, record: &ExitRecord) -> ExitRecord {
        let (begin, end) = record.between;
        let between = (self.since_boot(begin), self.since_boot(end));
        ExitRecord { row: self.row(source, &record.row), between, ..*record }
    }
}

fn grown(first: &TaskRow, last: &TaskRow, figure: Figure) -> u64 {
    let ends = last.figures.get(figure).zip(first.figures.get(figure));
    ends.map_or(0, |(last, first)| last.saturating_sub(first))
}

struct LongHistory {
    store: Store,
    tasks: TaskStore,
    /// The series of the source, and the last value of each.
    series: Vec<(SeriesId, f64)>,
    boot_id: String,
    ended: usize,
}

impl LongHistory {
    fn new(mut store: Store, source: &Recorded) -> Self {
        let series = source.series.iter().map(|(name, kind)| (store.series(name, *kind), 0.0)).collect();
        Self { store, tasks: TaskStore::default(), series, boot_id: "repeated".to_owned(), ended: 0 }
    }

    fn add(&mut self, source: &Recorded, shift: Shift) -> Result<(), StoreError> {
        let mut replay = source.history.tasks(0, i64::MAX)?;
        let mut has_round = replay.advance()?;
        let mut is_first = true;
        for (clock, values) in &source.ticks {
            // A round is read a little before or after its tick has its time.
            let distance_ns = |replay: &TaskReplay<'_>| {
                replay.store().clock().realtime.0.cast_signed() - clock.realtime.0.cast_signed()
            };
            while has_round && distance_ns(&replay) < -HALF_A_SECOND_NS {
                has_round = replay.advance()?;
            }
            let has_tasks = has_round && distance_ns(&replay) <= HALF_A_SECOND_NS;
            if has_tasks {
                self.take_round(source, shift, replay.store(), is_first);
                is_first = false;
                self.take_names(source, shift, &mut replay)?;
            }
            let values: Vec<(SeriesId, f64)> =
                values.iter().map(|value| self.value(source, shift, *value)).collect();
            let tasks = has_tasks.then_some(TaskTick { store: &self.tasks, lost_exits: 0 });
            self.store.append(&Tick {
                clock: shift.clock(*clock),
                boot_id: &self.boot_id,
                values: &values,
                tasks,
            })?;
            if has_tasks {
                has_round = replay.advance()?;
            }
        }
        Ok(())
    }

    fn value(&mut self, source: &Recorded, shift: Shift, (place, value): (usize, f64)) -> (SeriesId, f64) {
        let (id, last) = &mut self.series[place];
        if source.series[place].1 == SeriesKind::Gauge {
            return (*id, value);
        }
        let value = value + source.growth[place] * shift.repetition as f64;
        // A counter that does not grow would be reset by a sum that is rounded.
        let is_rounded = (value - *last).abs() <= value * MAX_ROUNDING;
        *last = if is_rounded { last.max(value) } else { value };
        (*id, *last)
    }

    fn take_round(&mut self, source: &Recorded, shift: Shift, round: &TaskStore, is_first: bool) {
        self.tasks.begin(shift.clock(round.clock()));
        if is_first {
            round.rows().for_each(|row| self.tasks.put(&shift.row(source, row)));
            self.tasks.remove_stale();
        } else {
            let changed = round.changed_rows();
            let has_no_other = |key: &TaskKey| round.row(key.pid).is_none();
            round.gone().filter(has_no_other).for_each(|key| self.tasks.remove(key.pid));
            changed.into_iter().for_each(|row| self.tasks.put(&shift.row(source, row)));
        }
        let mut exits: Vec<ExitRecord> =
            round.ended().map(|ended| shift.exit(source, ended.record())).collect();
        self.ended += exits.len();
        self.tasks.finish(&mut exits);
    }

    /// The names of what is new in a round.
    fn take_names(
        &mut self,
        source: &Recorded,
        shift: Shift,
        replay: &mut TaskReplay<'_>,
    ) -> Result<(), StoreError> {
        let (round, mut names) = replay.store_and_names();
        for row in round.changed_rows() {
            let renamed = shift.key(source, row.key);
            let of_cgroup = row.cgroup.map(|id| (Named::Cgroup(id), Named::Cgroup(id)));
            let of_process = (Named::Command(row.key), Named::Command(renamed));
            for (named, as_named) in of_cgroup.into_iter().chain([of_process]) {
                if !self.store.knows(as_named)
                    && let Some(name) = names.name(named)?
                {
                    self.store.name(&self.boot_id, as_named, name);
                }
            }
        }
        Ok(())
    }
}
