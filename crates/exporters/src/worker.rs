//! The thread of a target.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use formats::series_name::SeriesName;

use crate::fetching::Fetcher;
use crate::options::{Place, TargetOptions};
use crate::reading::{Reader, Reading};
use crate::recording::TargetId;
use crate::text_files;

/// What came of a reading.
#[derive(Debug)]
pub(crate) struct Done {
    /// Which target it is.
    pub(crate) target: TargetId,
    pub(crate) reading: Reading,
    /// How long it took.
    pub(crate) took: Duration,
    /// What went wrong.
    pub(crate) fault: Option<String>,
}

/// A thread that reads a target when it is ordered to. It ends when this is dropped, after what it does then.
#[derive(Debug)]
pub(crate) struct Worker {
    orders: Sender<()>,
}

impl Worker {
    /// Starts the thread, which calls `done` after each reading, as long as that returns `true`.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn start(
        target: TargetId,
        options: TargetOptions,
        done: impl Fn(Done) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, inbox) = channel();
        let work = move || run(target, options, &inbox, done);
        std::thread::Builder::new().name("exporter".to_owned()).spawn(work)?;
        Ok(Self { orders })
    }

    /// Orders a reading.
    pub(crate) fn order(&self) {
        // The thread ends with this alone.
        let _ = self.orders.send(());
    }
}

/// Where metrics are, as the thread has it.
enum Opened {
    Http(Fetcher),
    Directory(PathBuf),
}

fn run(target: TargetId, options: TargetOptions, orders: &Receiver<()>, done: impl Fn(Done) -> bool) {
    let mut reader = Reader::new(&options);
    let TargetOptions { place, most_bytes, .. } = options;
    let place = match place {
        Place::Http { url, headers, tls, timeout } => {
            Opened::Http(Fetcher::new(url, headers, &tls, timeout, most_bytes))
        }
        Place::Directory(path) => Opened::Directory(path),
    };
    while orders.recv().is_ok() {
        let started = Instant::now();
        let mut reading = reader.begin();
        let fault = match &place {
            Opened::Http(fetcher) => fetcher.fetch().and_then(|text| reader.take(&mut reading, &text)).err(),
            Opened::Directory(path) => read_directory(path, most_bytes, &mut reader, &mut reading),
        };
        // A directory has samples beside a file that is wrong.
        if fault.is_none() || !reading.samples.is_empty() {
            reader.end(&reading);
        }
        if !done(Done { target, reading, took: started.elapsed(), fault }) {
            return;
        }
    }
}

/// Reads the files of a directory. One that is wrong has no samples, and the others have theirs. Returns what is wrong first.
fn read_directory(
    path: &Path,
    most_bytes: u64,
    reader: &mut Reader,
    reading: &mut Reading,
) -> Option<String> {
    let mut faults = Vec::new();
    let files = text_files::read(path, most_bytes).unwrap_or_else(|error| {
        faults.push(error);
        Vec::new()
    });
    for file in files {
        let shown = file.path.to_string_lossy();
        match file.text.and_then(|text| reader.take(reading, &text)) {
            Ok(()) => {
                if let Some(mtime_s) = file.mtime_s {
                    let mut series = SeriesName::new("node_textfile_mtime_seconds");
                    series.set("file", &shown);
                    reader.push(reading, series, mtime_s);
                }
            }
            Err(fault) => faults.push(format!("{shown}: {fault}")),
        }
    }
    let others = faults.len().saturating_sub(1);
    let first = faults.into_iter().next()?;
    Some(if others > 0 { format!("{first}, and {others} more") } else { first })
}
