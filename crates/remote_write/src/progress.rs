//! How far receivers are: a file for each, which the agent writes and commands read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The directory of the files, in the data directory.
const DIRECTORY: &str = "remote-write";
/// The most refused series that are listed.
const MOST_REFUSED: usize = 20;

/// How far a receiver is, and what happened on the way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Its name.
    pub name: String,
    /// Where requests go, without a password.
    pub url: String,
    /// It has taken the history of the machine up to this tick, in nanoseconds since 1970.
    pub place_ns: Option<i64>,
    /// The same of the history of checks.
    pub checks_place_ns: Option<i64>,
    /// When this was written, in milliseconds since 1970.
    pub written_ms: i64,
    /// Requests that were answered well.
    pub requests_count: u64,
    /// Bodies of these, in bytes.
    pub sent_bytes: u64,
    /// Samples that it has taken.
    pub taken_count: u64,
    /// Samples that it refuses, which are not sent again.
    pub refused_count: u64,
    /// Attempts that failed and were made again.
    pub failures_count: u64,
    /// Blocks of the history that are damaged, whose samples could not be sent.
    pub damaged_count: u64,
    /// How much history the retention removed before it was sent, in seconds.
    pub missed_s: f64,
    /// The trouble now; `None`: there is none.
    pub trouble: Option<String>,
    /// The series that were refused last, the last one first.
    pub refused: Vec<RefusedSeries>,
}

/// A series of which samples were refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedSeries {
    /// Its name.
    pub series: String,
    /// How many samples.
    pub count: u64,
    /// What the receiver said of the last ones.
    pub message: String,
}

impl Progress {
    /// Reads that of a receiver; a new one if it has none.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    pub(crate) fn read(data: &Path, name: &str) -> io::Result<Self> {
        match fs::read(file(data, name)) {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Reads those of all receivers that a data directory knows, by name.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read_all(data: &Path) -> io::Result<Vec<Self>> {
        let directory = data.join(DIRECTORY);
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let in_file =
                    |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
                let text = fs::read(&path).map_err(in_file)?;
                all.push(serde_json::from_slice(&text).map_err(|error| in_file(error.into()))?);
            }
        }
        all.sort_by(|one: &Self, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// Writes it: whole or not at all.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub(crate) fn write(&self, data: &Path) -> io::Result<()> {
        let path = file(data, &self.name);
        let new = path.with_extension("new");
        fs::create_dir_all(data.join(DIRECTORY))?;
        fs::write(&new, serde_json::to_vec_pretty(self)?)?;
        fs::rename(&new, &path)
    }

    /// How many seconds the receiver is behind a tick in nanoseconds since 1970; `None`: it is new.
    pub fn behind_s(&self, tick_ns: i64) -> Option<f64> {
        self.place_ns.map(|place_ns| (tick_ns - place_ns).max(0) as f64 / 1e9)
    }

    /// Counts samples of a series that the receiver refuses.
    pub(crate) fn refuse(&mut self, series: String, count: u64, message: &str) {
        self.refused_count += count;
        let known = self.refused.iter().position(|refused| refused.series == series);
        let earlier = known.map_or(0, |place| self.refused.remove(place).count);
        self.refused.insert(0, RefusedSeries { series, count: earlier + count, message: message.to_owned() });
        self.refused.truncate(MOST_REFUSED);
    }
}

fn file(data: &Path, name: &str) -> PathBuf {
    data.join(DIRECTORY).join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_and_lists_what_was_refused_last() {
        let data = std::env::temp_dir().join(format!("whit-progress-{}", std::process::id()));
        let mut progress = Progress::read(&data, "store").unwrap();
        assert_eq!(progress, Progress::default());
        progress.name = "store".to_owned();
        progress.place_ns = Some(1_000_000_000);
        for number in 0..30 {
            progress.refuse(format!("up{{a=\"{number}\"}}"), 1, "too long");
        }
        progress.refuse("up{a=\"29\"}".to_owned(), 4, "too old");
        assert_eq!((progress.refused.len(), progress.refused_count), (MOST_REFUSED, 34));
        assert_eq!((progress.refused[0].count, progress.refused[0].message.as_str()), (5, "too old"));
        progress.write(&data).unwrap();
        assert_eq!(Progress::read(&data, "store").unwrap(), progress);
        assert_eq!(Progress::read_all(&data).unwrap(), [progress.clone()]);
        assert_eq!(progress.behind_s(3_500_000_000), Some(2.5));
        fs::write(file(&data, "store"), "{").unwrap();
        assert!(Progress::read(&data, "store").is_err() && Progress::read_all(&data).is_err());
        fs::remove_dir_all(data).unwrap();
    }
}
