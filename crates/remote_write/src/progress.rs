//! How far receivers are: a file for each, which the agent writes and commands read.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::options::ReceiverOptions;
use crate::source::{ORIGIN_COUNT, Origin};
use serde::{Deserialize, Serialize};
use service::state_file::{self, Durability};

/// The directory of the files, in the data directory.
const DIRECTORY: &str = "remote-write";
/// They are the agent's alone, as the history is.
const DIRECTORY_MODE: u32 = 0o700;
const MODE: u32 = 0o600;
const REMOVED: &str = "the configuration has no such receiver any more";
/// The most refused series that are listed.
const MAX_REFUSED: usize = 20;

/// How far a receiver is, and what happened on the way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The name of the receiver.
    pub name: String,
    /// Where requests go, without a password.
    pub url: String,
    /// The version of the protocol in which it gets samples.
    pub version: Option<String>,
    /// It has taken the history of the machine up to this tick, in nanoseconds since 1970.
    pub place_ns: Option<i64>,
    /// It has taken the history of checks up to this tick.
    pub checks_place_ns: Option<i64>,
    /// It has taken the answers of recording rules up to this step.
    pub rules_place_ns: Option<i64>,
    /// It has taken the history of exporters up to this tick.
    pub exporters_place_ns: Option<i64>,
    /// What is on its way goes up to these ticks of the machine and of checks, this step of rules and this tick of exporters, in nanoseconds since 1970. The same is
    /// sent after a restart: a receiver that has taken it already would refuse more that comes with it.
    pub sending_to_ns: Vec<Option<i64>>,
    /// Where sending goes on, by origin, if that is before the places above: the receiver may have lost what it took last.
    pub again_from_ns: Vec<Option<i64>>,
    /// Requests that were answered with success.
    pub requests_count: u64,
    /// Bodies of these, in bytes.
    pub sent_bytes: u64,
    /// Samples that it has taken.
    pub taken_count: u64,
    /// Samples that it refuses, which are not sent again.
    pub refused_count: u64,
    /// Attempts that failed and were made again.
    pub failures_count: u64,
    /// Evaluations of recording rules that had no answer.
    pub rule_failures_count: u64,
    /// The rule that had none last, and why.
    pub rule_failure: Option<String>,
    /// How far the clock here was ahead of the receiver's, in seconds, by the date of its last answer.
    pub clock_ahead_s: Option<f64>,
    /// Blocks of the history that are damaged, whose samples could not be sent.
    pub damaged_count: u64,
    /// How much history the retention removed before it was sent, in nanoseconds.
    pub missed_ns: u64,
    /// What is wrong now.
    pub trouble: Option<String>,
    /// The series that were refused last, the last one first.
    pub refused: Vec<RefusedSeries>,
}

/// A series whose samples were refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedSeries {
    /// The name of the series.
    pub series: String,
    /// How many samples.
    pub count: u64,
    /// What the receiver said of the last ones.
    pub message: String,
}

/// The progress that a data directory has of a receiver.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    Known(Box<Progress>),
    /// There is none.
    New,
    /// It was damaged, and has another name now.
    Damaged(PathBuf),
}

/// The right to send to a receiver, which one thread has.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock; `None` if another thread has it.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub(crate) fn take(data: &Path, name: &str) -> io::Result<Option<Self>> {
        make_directory(data)?;
        let path = file(data, name).with_extension("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(MODE).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn make_directory(data: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(data.join(DIRECTORY))
}

impl Progress {
    /// The place of the receiver in a history.
    pub(crate) fn place(&self, origin: Origin) -> Option<i64> {
        match origin {
            Origin::Machine => self.place_ns,
            Origin::Checks => self.checks_place_ns,
            Origin::Rules => self.rules_place_ns,
            Origin::Exporters => self.exporters_place_ns,
        }
    }

    /// Moves the place of the receiver in a history.
    pub(crate) fn set_place(&mut self, origin: Origin, place_ns: i64) {
        match origin {
            Origin::Machine => self.place_ns = Some(place_ns),
            Origin::Checks => self.checks_place_ns = Some(place_ns),
            Origin::Rules => self.rules_place_ns = Some(place_ns),
            Origin::Exporters => self.exporters_place_ns = Some(place_ns),
        }
    }

    /// Sends again what is behind these places, by origin. Returns for which of them that is more than before.
    pub(crate) fn send_again_from(&mut self, places_ns: [Option<i64>; ORIGIN_COUNT]) -> [bool; ORIGIN_COUNT] {
        let mut has_moved = [false; ORIGIN_COUNT];
        for ((from_ns, place_ns), has_moved) in
            self.again_from_ns.iter_mut().zip(places_ns).zip(&mut has_moved)
        {
            if let Some(place_ns) = place_ns
                && from_ns.is_none_or(|from_ns| place_ns < from_ns)
            {
                (*from_ns, *has_moved) = (Some(place_ns), true);
            }
        }
        has_moved
    }

    /// Reads the progress of a receiver.
    ///
    /// # Errors
    /// If there is one that cannot be read, for another reason than that it is damaged.
    pub(crate) fn read(data: &Path, name: &str) -> io::Result<Found> {
        let path = file(data, name);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::New),
            Err(error) => return Err(error),
        };
        match serde_json::from_slice(&text) {
            Ok(progress) => Ok(Found::Known(Box::new(progress))),
            Err(_) => {
                let aside = path.with_extension("damaged");
                fs::rename(&path, &aside)?;
                Ok(Found::Damaged(aside))
            }
        }
    }

    /// Reads the progress of all receivers that a data directory knows, by name. If a file cannot be read, only its name and the trouble are known.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read_all(data: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(data.join(DIRECTORY)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let read =
                    fs::read(&path).and_then(|text| serde_json::from_slice(&text).map_err(io::Error::from));
                all.push(read.unwrap_or_else(|error| Self {
                    name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                    trouble: Some(format!("{}: {error}", path.display())),
                    ..Self::default()
                }));
            }
        }
        all.sort_by(|one: &Self, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// Marks the receivers that the configuration does not have any more.
    ///
    /// # Errors
    /// If the directory cannot be read or written.
    pub fn mark_removed(data: &Path, configured: &[ReceiverOptions]) -> io::Result<()> {
        let is_configured = |progress: &Self| configured.iter().any(|options| options.name == progress.name);
        for mut progress in Self::read_all(data)?.into_iter().filter(|progress| !is_configured(progress)) {
            // Without a place the file could not be read.
            if progress.place_ns.is_some() && progress.trouble.as_deref() != Some(REMOVED) {
                progress.trouble = Some(REMOVED.to_owned());
                progress.write(data)?;
            }
        }
        Ok(())
    }

    /// Writes the file: whole or not at all, also if the power fails.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub(crate) fn write(&self, data: &Path) -> io::Result<()> {
        let path = file(data, &self.name);
        make_directory(data)?;
        state_file::replace(&path, &serde_json::to_vec_pretty(self)?, Durability::Power)
    }

    /// How many nanoseconds the receiver is behind a tick in nanoseconds since 1970; `None`: it is new.
    pub fn behind_ns(&self, tick_ns: i64) -> Option<u64> {
        self.place_ns.map(|place_ns| u64::try_from(tick_ns - place_ns).unwrap_or(0))
    }

    /// Counts samples of a series that the receiver refuses.
    pub(crate) fn refuse(&mut self, series: String, count: u64, message: &str) {
        self.refused_count += count;
        let known = self.refused.iter().position(|refused| refused.series == series);
        let earlier = known.map_or(0, |place| self.refused.remove(place).count);
        self.refused.insert(0, RefusedSeries { series, count: earlier + count, message: message.to_owned() });
        self.refused.truncate(MAX_REFUSED);
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
        assert_eq!(Progress::read(&data, "store").unwrap(), Found::New);
        let mut progress = Progress { name: "store".to_owned(), ..Progress::default() };
        progress.place_ns = Some(1_000_000_000);
        for number in 0..30 {
            progress.refuse(format!("up{{a=\"{number}\"}}"), 1, "too long");
        }
        progress.refuse("up{a=\"29\"}".to_owned(), 4, "too old");
        assert_eq!((progress.refused.len(), progress.refused_count), (MAX_REFUSED, 34));
        assert_eq!((progress.refused[0].count, progress.refused[0].message.as_str()), (5, "too old"));
        progress.write(&data).unwrap();
        assert_eq!(Progress::read(&data, "store").unwrap(), Found::Known(Box::new(progress.clone())));
        assert_eq!(Progress::read_all(&data).unwrap(), [progress.clone()]);
        assert_eq!(progress.behind_ns(3_500_000_000), Some(2_500_000_000));
        Progress::mark_removed(&data, &[]).unwrap();
        assert_eq!(Progress::read_all(&data).unwrap()[0].trouble.as_deref(), Some(REMOVED));
        fs::write(file(&data, "store"), "{").unwrap();
        assert!(Progress::read_all(&data).unwrap()[0].trouble.is_some());
        assert!(matches!(Progress::read(&data, "store").unwrap(), Found::Damaged(_)));
        assert_eq!(Progress::read(&data, "store").unwrap(), Found::New);
        let lock = Lock::take(&data, "store").unwrap().unwrap();
        assert!(Lock::take(&data, "store").unwrap().is_none());
        drop(lock);
        assert!(Lock::take(&data, "store").unwrap().is_some());
        fs::remove_dir_all(data).unwrap();
    }
}
