//! One directory after the other, as the view wants it.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use facts::age::{Border, Cap, Cutoff};
use facts::unit::Bytes;
use probe::directory::{Directory, Mounts};

use super::delete::Deleting;
use super::job::Job;
use super::listing::{EntryWriter, ListOutput, Listing};
use super::mutex::locked;
use super::options::{AgeOptions, DeleteMode, Deletion, FreeSpace, ListForm, View};
use super::pace::Pace;
use super::registry::Registry;
use super::report::{DirectoryReport, Outcome, ScanCost};
use super::scan::{Counts, Reach, Scan, Visitor};
use super::selection::Selection;
use super::visitors::{Capping, Counting, Summing};
use command::document::Documents;
use command::failure::Failure;
use command::progress;
use text::printable::Shown as _;
use text::units::Size;

/// Walks, and what they counted together.
pub(super) struct Sweep<'a> {
    options: &'a AgeOptions,
    documents: &'a Documents,
    now_ns: i64,
    counts: Counts,
    registry: Registry,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(options: &'a AgeOptions, documents: &'a Documents, now_ns: i64) -> Self {
        let counts = Counts::default();
        Self { options, documents, now_ns, counts, registry: Registry::new() }
    }

    /// Returns the counts of the walks.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn cost(&self) -> ScanCost {
        let counts = &self.counts;
        ScanCost {
            calls: Counts::get(&counts.calls),
            entries: Counts::get(&counts.entries),
            directories: Counts::get(&counts.directories),
            left_alone: Counts::get(&counts.left_alone),
            failures: counts.failures(),
            threads: rayon::current_num_threads(),
        }
    }

    /// Does what the view wants with one directory.
    pub(super) fn run(&mut self, job: &Job) -> Result<DirectoryReport, Failure> {
        let by = job.selection.by;
        let what = match &self.options.view {
            View::Report { by_directory } => self.sums(job, *by_directory)?,
            View::Verdict { .. } => self.sums(job, false)?,
            View::Count => {
                let counting = Counting::default();
                self.walk(job, &job.selection, &counting)?;
                Outcome::Count(Counts::get(&counting.0))
            }
            View::List { form, order, most } => {
                let listing = Listing {
                    writer: self.writer(*form),
                    by,
                    order: *order,
                    most: *most,
                    count: AtomicU64::new(0),
                    kept: Mutex::default(),
                    output: Mutex::new(ListOutput::new()),
                };
                self.walk(job, &job.selection, &listing)?;
                listing.finish()?;
                Outcome::Count(Counts::get(&listing.count))
            }
            View::Delete(deletion) => {
                // Entries that are not old are visited as well: they are kept, unless they exceed the cap.
                let all = Selection { older: None, ..job.selection.clone() };
                let border = self.border(job, &all, *deletion)?;
                let deleted = self.delete(job, &all, *deletion, border)?;
                if let Some(keep) = deletion.keep_free.filter(|_| deletion.way != DeleteMode::DryRun) {
                    let missing = missing_space(job, keep)?;
                    if missing > Bytes(0) {
                        self.counts.failed(format!(
                            "{}: {} more are to be free: what was deleted was not enough, or is still open",
                            job.directory.shown(),
                            Size(missing)
                        ));
                    }
                }
                deleted
            }
        };
        let path = job.directory.to_string_lossy().into_owned();
        let Selection { older, newer, larger, .. } = job.selection;
        Ok(DirectoryReport { path, older, newer, larger, by, what })
    }

    fn writer(&self, form: ListForm) -> EntryWriter<'a> {
        let is_for_people = ListOutput::is_for_people();
        EntryWriter { form, now_ns: self.now_ns, documents: self.documents, is_for_people }
    }

    fn walk<V: Visitor>(&self, job: &Job, selection: &Selection, visitor: &V) -> Result<(), Failure> {
        let reach = Reach {
            selection,
            is_recursive: job.is_recursive,
            mounts: self.options.mounts,
            now_ns: self.now_ns,
        };
        let top = open(job)?;
        let seen = || format!("{} entries", Counts::get(&self.counts.entries));
        progress::during(seen, || Scan::new(reach, visitor, &self.counts).run(top, job.path()));
        Ok(())
    }

    fn sums(&self, job: &Job, is_by_directory: bool) -> Result<Outcome, Failure> {
        let summing =
            Summing { by: job.selection.by, now_ns: self.now_ns, is_by_directory, sums: Mutex::default() };
        self.walk(job, &job.selection, &summing)?;
        let sums = std::mem::take(&mut *locked(&summing.sums));
        let name = |name: CString| match name.is_empty() {
            true => ".".to_owned(),
            false => name.to_string_lossy().into_owned(),
        };
        let by_directory = sums.by_directory.into_iter().map(|(key, sums)| (name(key), sums)).collect();
        let extremes = Box::new(sums.extremes);
        Ok(Outcome::Sums { all: Box::new(sums.all), extremes, by_directory })
    }

    /// Finds the age from which files exceed the cap. Takes two walks, one if all files are within the cap, and none without a cap.
    fn border(&self, job: &Job, all: &Selection, deletion: Deletion) -> Result<Option<Border>, Failure> {
        let wanted = deletion.keep_free.map(|keep| missing_space(job, keep)).transpose()?;
        let mut cap = deletion.cap;
        if cap == Cap::default() && wanted.is_none_or(|wanted| wanted == Bytes(0)) {
            return Ok(None);
        }
        let cutoff = Mutex::new(Cutoff::new(self.now_ns));
        let going = AtomicU64::new(0);
        let capping = Capping { selection: &job.selection, now_ns: self.now_ns, cutoff, going };
        self.walk(job, all, &capping)?;
        let going = Bytes(Counts::get(&capping.going));
        cap.freed = wanted.map(|wanted| wanted.saturating_sub(going));
        if !locked(&capping.cutoff).narrow(cap) {
            return Ok(None);
        }
        self.walk(job, all, &capping)?;
        let border = locked(&capping.cutoff).border();
        Ok(border)
    }

    fn delete(
        &self,
        job: &Job,
        all: &Selection,
        deletion: Deletion,
        border: Option<Border>,
    ) -> Result<Outcome, Failure> {
        let deleting = Deleting {
            way: deletion.way,
            selection: &job.selection,
            now_ns: self.now_ns,
            border: border.map(Mutex::new),
            with_empty_directories: deletion.with_empty_directories,
            pace: deletion.pace.map(Pace::new),
            counts: &self.counts,
            registry: &self.registry,
            is_stopped: AtomicBool::new(false),
            tally: Mutex::default(),
            paths_to: Mutex::new(ListOutput::new()),
            keep_newer: deletion.keep_newer,
            writer: deletion.listed.map(|form| self.writer(form)),
        };
        let walked = self.walk(job, all, &deleting);
        self.registry.close();
        walked?;
        deleting.finish()?;
        let tally = std::mem::take(&mut *locked(&deleting.tally));
        Ok(Outcome::Deleted(deletion.way, Box::new(tally)))
    }
}

/// How much the filesystem of a directory lacks of what is to be available there.
fn missing_space(job: &Job, keep: FreeSpace) -> Result<Bytes, Failure> {
    let space = probe::space_of_path(&job.directory).ok_or_else(|| {
        Failure::new(format!("{}: its filesystem does not say how much is free", job.directory.shown()))
    })?;
    let wanted = match keep {
        FreeSpace::Size(bytes) => bytes,
        FreeSpace::Share(share) => Bytes((space.total.0 as f64 * share.0) as u64),
    };
    Ok(wanted.saturating_sub(space.available))
}

fn open(job: &Job) -> Result<Directory, Failure> {
    open_below(job).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotADirectory => {
                " (of a file its directory is meant; a symlink is not followed)"
            }
            std::io::ErrorKind::Unsupported => " (statx(2) is needed: Linux 4.11 or later)",
            _ => "",
        };
        Failure::new(format!("{}: {error}{hint}", job.directory.shown()))
    })
}

/// Opens the directory of a job. If a pattern found it, opens each component after the literal start of the pattern by itself, so that
/// no symlink in that part is followed.
fn open_below(job: &Job) -> io::Result<Directory> {
    let Some(beginning) = &job.beginning else { return Directory::open(&job.directory) };
    let mut directory = Directory::open(beginning)?;
    for part in job.directory.strip_prefix(beginning).map_err(io::Error::other)? {
        let name = CString::new(part.as_bytes())?;
        directory = directory.open_below(&name, Mounts::Crossed)?;
    }
    Ok(directory)
}
