//! Directories by the age of their files.

use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use facts::age::{AGE_BOUNDS, AgeBy, AgeSums, Aged, age_ns};
use facts::unit::Nanos;
use probe::directory::{Directory, EntryKind, Mounts, StatusWanted};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::of_system;

/// Some two thousand names in a system call.
const LISTING_BYTES: usize = 64 * 1024;
const WANTED: StatusWanted = StatusWanted { times: AgeBy::MODIFIED, ..StatusWanted::KIND };

/// Adds up the files of a directory by their age, with one system call for each beside the listing. With `recurse` those below it as well, on
/// the same filesystem.
///
/// What cannot be read is counted in `failures`, but for the directory itself, which is an error.
#[pyfunction]
#[pyo3(signature = (path, *, recurse = false))]
pub(crate) fn scan(py: Python<'_>, path: PathBuf, recurse: bool) -> PyResult<Bound<'_, PyDict>> {
    let now_ns = probe::clock_now().realtime.0.cast_signed();
    let mut walk = Walk::default();
    let begun = py.detach(|| walk.add(Directory::open(&path)?, now_ns));
    let mut waiting = begun.map_err(|error| of_system(path.display(), &error))?;
    // The last first: as many are open as the tree is deep.
    while let Some(below) = waiting.pop().filter(|_| recurse) {
        py.check_signals()?;
        waiting.extend(py.detach(|| walk.enter(below, now_ns)));
    }
    walk.describe(py, now_ns)
}

#[derive(Default)]
struct Walk {
    sums: AgeSums,
    directories: u64,
    failures: u64,
}

/// A directory that is to be entered, by its name in another.
type Below = (Arc<Directory>, CString);

impl Walk {
    /// Enters a directory, if it is still there and on the same filesystem. Returns the directories in it.
    fn enter(&mut self, (parent, name): Below, now_ns: i64) -> Vec<Below> {
        let entered = parent.open_below(&name, Mounts::Left);
        entered.and_then(|directory| self.add(directory, now_ns)).unwrap_or_else(|error| {
            let is_left = matches!(error.kind(), ErrorKind::CrossesDevices | ErrorKind::NotFound);
            self.failures += u64::from(!is_left);
            Vec::new()
        })
    }

    /// Adds the entries of a directory. Returns the directories in it.
    fn add(&mut self, directory: Directory, now_ns: i64) -> io::Result<Vec<Below>> {
        self.directories += 1;
        let directory = Arc::new(directory);
        let mut memory = Vec::with_capacity(LISTING_BYTES);
        let mut below = Vec::new();
        directory.list(memory.spare_capacity_mut(), |name, kind| {
            let kind = match kind {
                EntryKind::Directory => Ok(kind),
                _ => self.add_file(&directory, name, now_ns),
            };
            match kind {
                Ok(EntryKind::Directory) => below.push((Arc::clone(&directory), name.to_owned())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => self.failures += 1,
            }
        })?;
        Ok(below)
    }

    /// Adds an entry unless it is a directory, which a listing does not say on each filesystem. Returns its kind.
    fn add_file(&mut self, directory: &Directory, name: &CStr, now_ns: i64) -> io::Result<EntryKind> {
        let status = directory.status(name, WANTED)?;
        if status.kind != EntryKind::Directory {
            let time_ns = AgeBy::MODIFIED.pick(&status.times);
            self.sums.add(&Aged { time_ns, bytes: status.bytes, allocated: status.allocated }, now_ns);
        }
        Ok(status.kind)
    }

    fn describe<'py>(&self, py: Python<'py>, now_ns: i64) -> PyResult<Bound<'py, PyDict>> {
        let (sums, described) = (&self.sums, PyDict::new(py));
        let age = |time_ns: Option<i64>| time_ns.map(|time_ns| age_ns(time_ns, now_ns));
        described.set_item("files", sums.files)?;
        described.set_item("bytes", sums.bytes.0)?;
        described.set_item("allocated_bytes", sums.allocated.0)?;
        described.set_item("oldest_ns", age(sums.oldest_ns))?;
        described.set_item("newest_ns", age(sums.newest_ns))?;
        described.set_item("directories", self.directories)?;
        described.set_item("failures", self.failures)?;
        described.set_item("ageless_files", sums.ageless)?;
        let bounds = AGE_BOUNDS.iter().map(|(seconds, _)| Some(seconds * Nanos::SECOND.0)).chain([None]);
        let ranges = bounds.zip(&sums.ranges).map(|(below_ns, range)| {
            let described = PyDict::new(py);
            described.set_item("below_ns", below_ns)?;
            described.set_item("files", range.files)?;
            described.set_item("bytes", range.bytes.0)?;
            PyResult::Ok(described)
        });
        described.set_item("ages", ranges.collect::<PyResult<Vec<_>>>()?)?;
        Ok(described)
    }
}
