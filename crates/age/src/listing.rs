//! Entries printed as they are found, or in an order once all are known.

use std::cmp::Ordering;
use std::ffi::CStr;
use std::io::IsTerminal;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use facts::age::{AgeBy, Aged, age_ns};
use facts::unit::Nanos;
use probe::directory::{EntryStatus, StatusWanted};

use super::json;
use super::mutex::locked;
use super::node::Node;
use super::options::{FileOrder, ListForm};
use super::scan::{Counts, Visitor};
use super::selection::aged;
use command::document::Documents;
use command::failure::Failure;
use command::output::{DRAIN_BYTES, Output};
use text::printable::printable_text;
use text::units::{Size, Span};

/// The most files that are sorted. They are kept in memory: a million files take some 200 megabytes.
pub(super) const MAX_SORTED: usize = 1_000_000;

/// How an entry is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryWriter<'a> {
    pub(super) form: ListForm,
    pub(super) now_ns: i64,
    pub(super) documents: &'a Documents,
    pub(super) is_for_people: bool,
}

impl EntryWriter<'_> {
    /// Appends an entry.
    pub(super) fn push(&self, out: &mut Vec<u8>, path: &[u8], file: &Aged) {
        match self.form {
            ListForm::Paths { end } => {
                push_path(out, path, self.is_for_people);
                out.push(end);
            }
            ListForm::Long => {
                let age = file.time_ns.map(|time_ns| Span(Nanos(age_ns(time_ns, self.now_ns))).to_string());
                let age = age.unwrap_or_else(|| text::ABSENT.to_owned());
                out.extend_from_slice(format!("{age:>9}  {:>9}  ", Size(file.bytes)).as_bytes());
                push_path(out, path, self.is_for_people);
                out.push(b'\n');
            }
            ListForm::Json => json::push_file(out, self.documents, path, file, self.now_ns),
        }
    }
}

/// Prints each entry.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    pub(super) writer: EntryWriter<'a>,
    pub(super) by: AgeBy,
    pub(super) order: Option<FileOrder>,
    /// Sorted, at most so many are printed.
    pub(super) most: Option<usize>,
    pub(super) count: AtomicU64,
    pub(super) kept: Mutex<Vec<Listed>>,
    pub(super) output: Mutex<ListOutput>,
}

/// An entry that waits for its place.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    path: Vec<u8>,
    file: Aged,
}

/// Where the entries are written; fails when the reader has closed the pipe.
#[derive(Debug)]
pub(super) struct ListOutput {
    output: Output,
    pub(super) failure: Option<Failure>,
}

/// Appends a path as it is for programs, and on a terminal so that it cannot move it.
fn push_path(out: &mut Vec<u8>, path: &[u8], is_for_people: bool) {
    match is_for_people {
        true => out.extend_from_slice(printable_text(path).as_bytes()),
        false => out.extend_from_slice(path),
    }
}

impl ListOutput {
    pub(super) fn new() -> Self {
        Self { output: Output::stdout(), failure: None }
    }

    /// Returns true if entries go to a terminal.
    pub(super) fn is_for_people() -> bool {
        std::io::stdout().is_terminal()
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.output.write(bytes).err();
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LocalList {
    text: Vec<u8>,
    kept: Vec<Listed>,
    /// The path of the directory with a slash at its end, made once a batch.
    directory: Vec<u8>,
    count: u64,
}

impl Visitor for Listing<'_> {
    type Local = LocalList;

    fn wanted(&self) -> Option<StatusWanted> {
        // A list of paths asks nothing.
        let asks = self.order.is_some_and(|order| order != FileOrder::Path)
            || !matches!(self.writer.form, ListForm::Paths { .. });
        asks.then_some(StatusWanted { times: self.by, ..StatusWanted::KIND })
    }

    fn visit(&self, local: &mut LocalList, node: &Arc<Node>, name: &CStr, status: Option<&EntryStatus>) {
        if local.directory.is_empty() {
            local.directory = node.path(None);
            if local.directory.last() != Some(&b'/') {
                local.directory.push(b'/');
            }
        }
        local.count += 1;
        let path = [&local.directory, name.to_bytes()].concat();
        let listed = Listed { path, file: status.map(|status| aged(self.by, status)).unwrap_or_default() };
        if self.order.is_some() {
            return local.kept.push(listed);
        }
        self.writer.push(&mut local.text, &listed.path, &listed.file);
        if local.text.len() >= DRAIN_BYTES {
            self.write(&std::mem::take(&mut local.text));
        }
    }

    fn merge(&self, local: LocalList) {
        Counts::add(&self.count, local.count);
        self.write(&local.text);
        if self.order.is_none() {
            return;
        }
        let mut kept = locked(&self.kept);
        kept.extend(local.kept);
        // Twice as many as are wanted, so that sorting is rare.
        if let Some(most) = self.most.filter(|most| kept.len() > most.saturating_mul(2).max(1024)) {
            kept.sort_unstable_by(|a, b| self.compare(a, b));
            kept.truncate(most);
        }
    }
}

impl Listing<'_> {
    /// Prints what waited for its place.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let mut kept = std::mem::take(&mut *locked(&self.kept));
        if self.most.is_none() && kept.len() > MAX_SORTED {
            return Err(Failure::new(format!(
                "{} files are too many to be sorted: say how many are wanted (-n), or list them without --sort",
                kept.len()
            )));
        }
        kept.sort_unstable_by(|a, b| self.compare(a, b));
        kept.truncate(self.most.unwrap_or(usize::MAX));
        let mut text = Vec::new();
        for listed in &kept {
            self.writer.push(&mut text, &listed.path, &listed.file);
            if text.len() >= DRAIN_BYTES {
                self.write(&std::mem::take(&mut text));
            }
        }
        self.write(&text);
        locked(&self.output).failure.take().map_or(Ok(()), Err)
    }

    /// The oldest, the largest, or the first by path comes first; of equals the first by path.
    fn compare(&self, a: &Listed, b: &Listed) -> Ordering {
        let by_path = a.path.cmp(&b.path);
        match self.order {
            // What has no time comes last.
            Some(FileOrder::Age) => {
                let time = |listed: &Listed| listed.file.time_ns.unwrap_or(i64::MAX);
                time(a).cmp(&time(b)).then(by_path)
            }
            Some(FileOrder::Size) => b.file.bytes.cmp(&a.file.bytes).then(by_path),
            Some(FileOrder::Path) | None => by_path,
        }
    }

    fn write(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            locked(&self.output).write(bytes);
        }
    }
}
