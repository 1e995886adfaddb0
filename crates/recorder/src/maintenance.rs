//! Maintenance of a history while no agent records into it.

use std::fs;
use std::path::Path;

use facts::catalog::METRICS;
use formats::samples::SampleSet;
use formats::series_name::metric_of;
use store::{ImportedSeries, Retention, SeriesKind, StoreError};

use crate::data_directory::DataDirectory;
use crate::options::RecorderError;
use history::HISTORY;
use history::metrics::series_kind;
use history::task_sums;

/// Makes the history of a directory as small as it can be: deletes what is older than a time in nanoseconds since 1970, or else thins and
/// deletes what is old. Returns the file's bytes before and after.
///
/// # Errors
/// If an agent records there, or it cannot be written.
pub fn compact(
    directory: &Path,
    retention: &Retention,
    before_ns: Option<i64>,
) -> Result<(u64, u64), RecorderError> {
    let path = directory.join(HISTORY);
    let bytes = || fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let before = bytes();
    let (_place, mut store) = DataDirectory::open(directory, retention, false)?;
    let failed = |error| RecorderError::Store(path.clone(), error);
    match before_ns {
        Some(before_ns) => store.drop_before(before_ns).map_err(failed)?,
        None => {
            store.compact(probe::clock_now().realtime.0.cast_signed()).map_err(failed)?;
        }
    }
    store.vacuum().map_err(failed)?;
    store.close().map_err(failed)?;
    task_sums::fill(&path).map_err(failed)?;
    Ok((before, bytes()))
}

/// Makes the sums of tasks in a directory again, and returns what is wrong with those that are there.
///
/// # Errors
/// If the history cannot be read.
pub fn verify_sums(directory: &Path) -> Result<Vec<String>, StoreError> {
    task_sums::check(&directory.join(HISTORY))
}

/// Adds samples to the history of a directory, which is made if there is none. Returns the number of ticks.
///
/// # Errors
/// If an agent records there, or it cannot be written.
pub fn import(directory: &Path, retention: &Retention, samples: &SampleSet) -> Result<u64, RecorderError> {
    let (place, mut store) = DataDirectory::open(directory, retention, false)?;
    let series: Vec<ImportedSeries<'_>> = samples
        .series()
        .iter()
        .map(|(name, series)| ImportedSeries {
            name,
            kind: kind(name, series.is_counter),
            samples: &series.samples,
        })
        .collect();
    let failed = |error| RecorderError::Store(place.history.clone(), error);
    let ticks = store.import(&series).map_err(failed)?;
    store.close().map_err(failed)?;
    Ok(ticks)
}

/// That of whit's own metric; the text formats do not always say it.
fn kind(series: &str, is_counter: bool) -> SeriesKind {
    let name = metric_of(series);
    match METRICS.iter().find(|metric| metric.name == name) {
        Some(metric) => series_kind(metric.kind),
        None if is_counter => SeriesKind::Counter,
        None => SeriesKind::Gauge,
    }
}
