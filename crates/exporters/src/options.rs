//! The options of exporters.

use std::path::PathBuf;
use std::time::Duration;

use formats::relabel::Relabelling;
use http_client::Tls;
use store::Retention;

/// What is recorded of other programs, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct ExporterOptions {
    /// The targets.
    pub targets: Vec<TargetOptions>,
    /// The limits of their history.
    pub retention: Retention,
}

/// A target: where metrics are, and what becomes of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetOptions {
    /// Distinguishes it from others.
    pub name: String,
    /// Where its metrics are.
    pub place: Place,
    /// Labels that each of its series gets.
    pub labels: Vec<(String, String)>,
    /// A label that a series has already stays. Otherwise its name gets `exported_` before it.
    pub keeps_labels: bool,
    /// How its series change.
    pub relabelling: Relabelling,
    /// Between two readings.
    pub interval: Duration,
    /// The most samples of a reading; with more it has none.
    pub most_samples: usize,
    /// The longest text of a reading, in bytes.
    pub most_bytes: u64,
}

impl Place {
    /// Returns its address without what may be a key, or its path.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Http { url, .. } => http_client::shown_url(url),
            Self::Directory(path) => path.to_string_lossy().into_owned(),
        }
    }
}

/// Where metrics are.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// An exporter.
    Http {
        /// Its address, with the path.
        url: String,
        /// Headers of each request, credentials among them.
        headers: Vec<(String, String)>,
        /// Whom requests trust, and who they are.
        tls: Tls,
        /// The longest that a request may take.
        timeout: Duration,
    },
    /// A directory with files `*.prom`.
    Directory(PathBuf),
}

#[cfg(test)]
impl TargetOptions {
    /// Those of a directory, as usual.
    pub(crate) fn of_directory(path: PathBuf) -> Self {
        Self {
            name: "textfile".to_owned(),
            place: Place::Directory(path),
            labels: Vec::new(),
            keeps_labels: false,
            relabelling: Relabelling::default(),
            interval: Duration::from_secs(15),
            most_samples: 10,
            most_bytes: 1 << 16,
        }
    }
}
