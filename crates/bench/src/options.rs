//! The validated options of `whit bench`.

use std::path::PathBuf;

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct BenchOptions {
    /// The beginnings of the names to measure; without any, all.
    pub(crate) only: Vec<String>,
    pub(crate) is_list: bool,
    pub(crate) rounds: usize,
    /// Without those that take long.
    pub(crate) is_quick: bool,
    pub(crate) is_json: bool,
    pub(crate) html: Option<PathBuf>,
    /// A store that understands Prometheus' remote write, which is measured, too.
    pub(crate) url: Option<String>,
    /// Where files are made and taken away again.
    pub(crate) directory: PathBuf,
}
