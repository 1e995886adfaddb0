//! The thread of a target.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use formats::series_name::SeriesName;

use crate::fetching::Fetcher;
use crate::options::{Place, TargetOptions};
use crate::reading::{Reader, Reading};
use crate::text_files;

/// What came of a reading.
#[derive(Debug)]
pub(crate) struct Done {
    /// Which target it is.
    pub(crate) target: usize,
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
    /// Starts the thread, whose results go to `results`.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn start(target: usize, options: TargetOptions, results: Sender<Done>) -> io::Result<Self> {
        let (orders, inbox) = channel();
        let work = move || run(target, options, &inbox, &results);
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

fn run(target: usize, options: TargetOptions, orders: &Receiver<()>, results: &Sender<Done>) {
    let mut reader = Reader::new(&options);
    let TargetOptions { place, most_bytes, .. } = options;
    let place = match place {
        Place::Http { url, headers, tls, timeout } => {
            Opened::Http(Fetcher::new(url, headers, &tls, timeout, most_bytes))
        }
        Place::Directory(path) => Opened::Directory(path),
    };
    let mut before = 0;
    while orders.recv().is_ok() {
        let started = Instant::now();
        let mut reading = reader.begin(before);
        let fault = match &place {
            Opened::Http(fetcher) => scrape(fetcher, &mut reader, &mut reading).err(),
            Opened::Directory(path) => read_directory(path, most_bytes, &mut reader, &mut reading),
        };
        before = reading.samples.len();
        if results.send(Done { target, reading, took: started.elapsed(), fault }).is_err() {
            return;
        }
    }
}

fn scrape(fetcher: &Fetcher, reader: &mut Reader, reading: &mut Reading) -> Result<(), String> {
    let started = Instant::now();
    let taken = fetcher.fetch().and_then(|text| reader.take(reading, &text));
    let [count, kept] = [reading.count, reading.samples.len()].map(|count| count as f64);
    for (metric, value) in [
        ("up", f64::from(u8::from(taken.is_ok()))),
        ("scrape_duration_seconds", started.elapsed().as_secs_f64()),
        ("scrape_samples_scraped", count),
        ("scrape_samples_post_metric_relabeling", kept),
    ] {
        reader.push(reading, SeriesName::new(metric), value);
    }
    taken
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
    let has_fault = f64::from(u8::from(!faults.is_empty()));
    reader.push(reading, SeriesName::new("node_textfile_scrape_error"), has_fault);
    let others = faults.len().saturating_sub(1);
    let first = faults.into_iter().next()?;
    Some(if others > 0 { format!("{first}, and {others} more") } else { first })
}
