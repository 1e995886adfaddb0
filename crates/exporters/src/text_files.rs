//! Files with metrics in a directory, as node_exporter's textfile collector has them: a job writes one under another name and renames it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use probe::named;

/// Files at most.
const MAX_FILES: usize = 1000;

/// A file.
#[derive(Debug)]
pub(crate) struct TextFile {
    pub(crate) path: PathBuf,
    /// When it was written, in seconds since 1970; `None`: that is not known.
    pub(crate) mtime_s: Option<f64>,
    /// The text, or why there is none.
    pub(crate) text: Result<String, String>,
}

/// Reads the files `*.prom` of a directory, in the order of their names; together at most so many bytes.
///
/// # Errors
/// If the directory cannot be read, or has too many files.
pub(crate) fn read(directory: &Path, most_bytes: u64) -> Result<Vec<TextFile>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "prom") {
            paths.push(path);
        }
        if paths.len() > MAX_FILES {
            return Err(format!("{}: more than {MAX_FILES} files", directory.display()));
        }
    }
    paths.sort_unstable();
    let mut left_bytes = most_bytes;
    let read = |path: PathBuf| {
        // Before the text: if the file is replaced in between, the time is that of the older one, and nothing seems newer than it is.
        let mtime = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        let mtime_s =
            mtime.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs_f64());
        let text = named::read_text(&path, left_bytes).map_err(|error| error.to_string()).and_then(whole);
        left_bytes -= text.as_ref().map_or(0, |text| text.len() as u64);
        TextFile { path, mtime_s, text }
    };
    Ok(paths.into_iter().map(read).collect())
}

/// Refuses the text of a file that ends within a line.
fn whole(text: String) -> Result<String, String> {
    match text.is_empty() || text.ends_with('\n') {
        true => Ok(text),
        false => Err("ends within a line: write another file and rename it".to_owned()),
    }
}
