//! The history of exporters, as it is written.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use facts::sample::Clock;
use history::past::EXPORTERS;
use probe::Roots;
use store::{Retention, SeriesId, Store, StoreError, Tick};

use crate::reading::Reading;

/// Names of series at most, since the start: exporters may name theirs otherwise each time.
const MOST_NAMES: usize = 200_000;

/// The history, and the last reading of each target.
#[derive(Debug)]
pub(crate) struct Recording {
    store: Store,
    boot_id: String,
    targets: Vec<Target>,
    hasher: RandomState,
    /// Hashes of the names of all series so far.
    names: HashSet<u64>,
}

#[derive(Debug, Default)]
struct Target {
    /// By the numbers of its series; `None`: there were too many names.
    ids: Vec<Option<SeriesId>>,
    values: Vec<(SeriesId, f64)>,
    /// Until when the values hold, in milliseconds since 1970.
    until_ms: i64,
}

impl Recording {
    /// Opens that of a data directory.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(data: &Path, retention: Retention) -> Result<Self, StoreError> {
        let store = Store::open(&data.join(EXPORTERS), retention)?;
        let boot_id = probe::boot_id(&Roots::live()).unwrap_or_default();
        Ok(Self { store, boot_id, targets: Vec::new(), hasher: RandomState::new(), names: HashSet::new() })
    }

    /// Goes on with so many other targets.
    pub(crate) fn begin(&mut self, targets: usize, retention: Retention) {
        self.targets = Vec::new();
        self.targets.resize_with(targets, Target::default);
        self.store.set_retention(retention);
    }

    /// Takes a reading of a target, which holds until a time in milliseconds since 1970. Returns the number of series that are left out,
    /// because too many have been named.
    pub(crate) fn take(&mut self, target: usize, reading: Reading, until_ms: i64) -> usize {
        let Some(Target { ids, values, until_ms: until }) = self.targets.get_mut(target) else { return 0 };
        if reading.is_restarted {
            ids.clear();
        }
        for series in reading.new {
            let hash = self.hasher.hash_one(&series.name);
            let is_known =
                self.names.contains(&hash) || self.names.len() < MOST_NAMES && self.names.insert(hash);
            ids.push(is_known.then(|| self.store.series(&series.name, series.kind)));
        }
        values.clear();
        let id_of = |number: u32| ids.get(number as usize).copied().flatten();
        values.extend(reading.samples.iter().filter_map(|(number, value)| Some((id_of(*number)?, *value))));
        *until = until_ms;
        reading.samples.len() - values.len()
    }

    /// Records a tick of what holds at its time.
    ///
    /// # Errors
    /// If it cannot be written now. It stays in memory, and is written with a later one.
    pub(crate) fn tick(&mut self, clock: Clock) -> Result<(), StoreError> {
        let now_ms = clock.realtime.0.cast_signed() / 1_000_000;
        let holding = self.targets.iter().filter(|target| target.until_ms > now_ms);
        let mut values: Vec<(SeriesId, f64)> = holding.flat_map(|target| &target.values).copied().collect();
        // Of series that get one name the first counts.
        values.sort_by_key(|(id, _)| *id);
        values.dedup_by_key(|(id, _)| *id);
        match self.store.append(&Tick { clock, boot_id: &self.boot_id, values: &values, tasks: None }) {
            // Nothing is new about it.
            Err(StoreError::Waiting) => Ok(()),
            appended => appended,
        }
    }

    /// Takes the messages that are to be logged about the history.
    pub(crate) fn take_findings(&mut self) -> Vec<String> {
        self.store.take_findings()
    }
}
