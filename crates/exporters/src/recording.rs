//! The history of exporters, as it is written.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use facts::sample::Clock;
use formats::series_name::SeriesName;
use history::past::EXPORTERS;
use probe::Roots;
use store::{History, Retention, SeriesId, SeriesKind, Store, StoreError, Tick};

use crate::reading::{NewSeries, Reading};

/// Series of a tick at most, of all targets together: as many as the store can write and thin while ticks go on, and a block of them fits
/// into the memory that the service may use.
pub(crate) const MAX_SERIES: usize = 9_600;
/// New names that one target may have since it began: exporters may name their series otherwise each time.
const MAX_NAMES: usize = 20_000;
/// The names of all series in the history at most, in bytes: names are never removed from it.
const MAX_NAME_BYTES: usize = 20_000_000;

/// A target's number: another one for each that is begun.
pub(crate) type TargetId = u64;

/// The history, and the last reading of each target.
#[derive(Debug)]
pub(crate) struct Recording {
    store: Store,
    boot_id: String,
    targets: BTreeMap<TargetId, Recorded>,
    /// Names that have a number already, and their bytes.
    names: HashSet<String>,
    name_bytes: usize,
    lost_ticks: u64,
}

/// What is recorded of a target.
#[derive(Debug, Default)]
struct Recorded {
    /// By the numbers of its series.
    series: Vec<Naming>,
    names_count: usize,
    values: Vec<(SeriesId, f64)>,
    /// The values of whit's own series about it.
    own: Vec<(SeriesId, f64)>,
}

/// A series gets its number in the history with its first value that is recorded.
#[derive(Debug)]
enum Naming {
    New(NewSeries),
    Named(SeriesId),
    /// There were too many.
    LeftOut,
}

impl Recording {
    /// Opens that of a data directory.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(data: &Path, retention: Retention) -> Result<Self, StoreError> {
        let path = data.join(EXPORTERS);
        let store = Store::open(&path, retention)?;
        let known = History::open(&path)?;
        let names: HashSet<String> = known.series().into_iter().map(|(name, _)| name.to_owned()).collect();
        Ok(Self {
            store,
            boot_id: probe::boot_id(&Roots::live()).unwrap_or_default(),
            targets: BTreeMap::new(),
            name_bytes: names.iter().map(String::len).sum(),
            names,
            lost_ticks: 0,
        })
    }

    pub(crate) fn set_retention(&mut self, retention: Retention) {
        self.store.set_retention(retention);
    }

    /// Records nothing of a target any more.
    pub(crate) fn forget(&mut self, target: TargetId) {
        self.targets.remove(&target);
    }

    /// Takes a reading of a target. Returns how many samples are recorded, and why others are left out.
    pub(crate) fn take(&mut self, target: TargetId, reading: Reading) -> (usize, Option<String>) {
        let of_others: usize =
            self.targets.iter().filter(|(id, _)| **id != target).map(|(_, other)| other.values.len()).sum();
        let recorded = self.targets.entry(target).or_default();
        recorded.values.clear();
        if reading.is_restarted {
            recorded.series.clear();
        }
        recorded.series.extend(reading.new.into_iter().map(Naming::New));
        if of_others + reading.samples.len() > MAX_SERIES {
            let fault = format!(
                "{} samples, and {of_others} of the others: at most {MAX_SERIES} together; relabel can drop some",
                reading.samples.len()
            );
            return (0, Some(fault));
        }
        let mut left_out = 0;
        for (number, value) in &reading.samples {
            let Some(naming) = recorded.series.get_mut(*number as usize) else { continue };
            if let Naming::New(series) = naming {
                let is_known = self.names.contains(&series.name);
                let has_room =
                    recorded.names_count < MAX_NAMES && self.name_bytes + series.name.len() <= MAX_NAME_BYTES;
                *naming = if is_known || has_room {
                    let id = self.store.series(&series.name, series.kind);
                    if !is_known {
                        recorded.names_count += 1;
                        self.name_bytes += series.name.len();
                        self.names.insert(std::mem::take(&mut series.name));
                    }
                    Naming::Named(id)
                } else {
                    Naming::LeftOut
                };
            }
            match naming {
                Naming::Named(id) => recorded.values.push((*id, *value)),
                _ => left_out += 1,
            }
        }
        let fault = (left_out > 0).then(|| {
            format!(
                "{left_out} series are left out: it names others each time, and has used up its {MAX_NAMES} names, or all \
                 {} MB of names; relabel can drop them, and without the file {EXPORTERS} names begin anew",
                MAX_NAME_BYTES / 1_000_000
            )
        });
        (recorded.values.len(), fault)
    }

    /// Sets whit's own series about a target.
    pub(crate) fn set_own(&mut self, target: TargetId, own: &[(SeriesName, f64)]) {
        let recorded = self.targets.entry(target).or_default();
        recorded.own.clear();
        for (series, value) in own {
            recorded.own.push((self.store.series(&series.to_string(), SeriesKind::Gauge), *value));
        }
    }

    /// Records a tick.
    ///
    /// # Errors
    /// If it cannot be written now. It stays in memory, and is written with a later one.
    pub(crate) fn tick(&mut self, clock: Clock) -> Result<(), StoreError> {
        let of_all = self.targets.values().flat_map(|target| target.own.iter().chain(&target.values));
        let mut values: Vec<(SeriesId, f64)> = of_all.copied().collect();
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
        let mut findings = self.store.take_findings();
        let (lost_ticks, _) = self.store.lost();
        if lost_ticks > self.lost_ticks {
            findings
                .push(format!("{} ticks could not be written and are lost", lost_ticks - self.lost_ticks));
            self.lost_ticks = lost_ticks;
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("whit-exporters-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn reading(names: impl Iterator<Item = String>, first: u32) -> Reading {
        let new: Vec<NewSeries> = names.map(|name| NewSeries { name, kind: SeriesKind::Gauge }).collect();
        let samples = (first..).zip(&new).map(|(number, _)| (number, 1.0)).collect();
        Reading { new, samples, ..Reading::default() }
    }

    #[test]
    fn all_targets_share_a_tick() {
        let data = scratch("shared");
        let mut recording = Recording::open(&data, Retention::default()).unwrap();
        let names = |prefix: &str, count: usize| {
            let prefix = prefix.to_owned();
            (0..count).map(move |number| format!("{prefix}{number}"))
        };
        assert_eq!(recording.take(1, reading(names("a", 9_000), 0)), (9_000, None));
        let (count, fault) = recording.take(2, reading(names("b", 601), 0));
        assert!(count == 0 && fault.unwrap().starts_with("601 samples, and 9000 of the others"));
        assert_eq!(recording.take(2, reading(names("b", 600), 601)).0, 600);
        recording.forget(1);
        assert_eq!(recording.take(2, reading(names("c", 9_600), 1_201)), (9_600, None));
        std::fs::remove_dir_all(data).unwrap();
    }

    #[test]
    fn names_run_out_for_one_target_alone_and_are_counted_over_restarts() {
        let data = scratch("names");
        let mut recording = Recording::open(&data, Retention::default()).unwrap();
        let mut first = 0;
        for round in 0..5 {
            let names = (0..5_000).map(|number| format!("churn{{at=\"{round}-{number}\"}}"));
            let (count, fault) = recording.take(1, reading(names, first));
            first += 5_000;
            assert_eq!(
                (count, fault.is_some()),
                if round < 4 { (5_000, false) } else { (0, true) },
                "{round}"
            );
        }
        assert_eq!(recording.take(2, reading(["other".to_owned()].into_iter(), 0)), (1, None));
        recording.set_own(1, &[(SeriesName::new("up"), 1.0)]);
        recording.tick(probe::clock_now()).unwrap();
        let bytes = recording.name_bytes;
        assert!(bytes > 20_000 * "churn{at=\"0-0\"}".len());
        drop(recording);
        let again = Recording::open(&data, Retention::default()).unwrap();
        assert_eq!(again.name_bytes, bytes + "up".len());
        std::fs::remove_dir_all(data).unwrap();
    }
}
