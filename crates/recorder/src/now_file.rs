//! The last tick as a text file, a line a value: for scripts, which read it without a fork.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use facts::unit::Nanos;
use formats::series_name::metric_of;

/// A file that is replaced at each tick: a reader sees one whole tick.
#[derive(Debug)]
pub(crate) struct NowFile {
    path: PathBuf,
    /// Beside it, until it is whole.
    next: PathBuf,
    text: String,
    /// The metrics in it.
    metrics: Vec<String>,
    /// The lines of the last tick: most series stand in the same place again, and half of them with the same value.
    lines: Vec<Line>,
}

/// A series of the last tick.
#[derive(Debug, Default)]
struct Line {
    series: String,
    value: f64,
    is_wanted: bool,
    /// Where its name ends in `text`.
    value_begins: usize,
    text: String,
}

impl Line {
    /// Takes the value of this tick, of this series or another one.
    fn update(&mut self, series: &str, value: f64, metrics: &[String]) {
        if self.series != series {
            series.clone_into(&mut self.series);
            self.is_wanted = is_wanted(metrics, series);
            self.text.clear();
            push_name(&mut self.text, series);
            self.text.push(' ');
            self.value_begins = self.text.len();
        } else if self.value.to_bits() == value.to_bits() {
            return;
        }
        self.value = value;
        if !self.is_wanted {
            return;
        }
        self.text.truncate(self.value_begins);
        push_value(&mut self.text, value);
        self.text.push('\n');
    }
}

impl NowFile {
    /// At a path whose directory is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new(path: &Path, metrics: &[String]) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut next = path.as_os_str().to_owned();
        next.push(".next");
        Ok(Self {
            path: path.to_owned(),
            next: next.into(),
            text: String::new(),
            metrics: metrics.to_vec(),
            lines: Vec::new(),
        })
    }

    /// Other metrics from now on. A `*` at the end of a name stands for any rest; without names all are written.
    pub(crate) fn set_metrics(&mut self, metrics: &[String]) {
        self.metrics = metrics.to_vec();
        self.lines.clear();
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces it by these names and values. Before them stand the time of the tick, since 1970, and the process id of the agent: a script
    /// sees whether it is old.
    ///
    /// # Errors
    /// If it cannot be written; what was there stays.
    pub(crate) fn write<'n>(
        &mut self,
        realtime: Nanos,
        values: impl Iterator<Item = (&'n str, f64)>,
    ) -> io::Result<()> {
        self.text.clear();
        let seconds = realtime.0 as f64 / 1e9;
        let pid = std::process::id();
        let _ = write!(self.text, "whit_now_timestamp_seconds {seconds:.3}\nwhit_now_pid {pid}\n");
        let mut count = 0;
        for (place, (series, value)) in values.enumerate() {
            if place == self.lines.len() {
                self.lines.push(Line::default());
            }
            let line = &mut self.lines[place];
            line.update(series, value, &self.metrics);
            if line.is_wanted {
                self.text.push_str(&line.text);
            }
            count = place + 1;
        }
        self.lines.truncate(count);
        // Not synced: it is of this moment, and mostly in memory anyway.
        // Made anew, so that no name leads elsewhere.
        let make = || OpenOptions::new().write(true).create_new(true).mode(0o644).open(&self.next);
        let made = make().or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => fs::remove_file(&self.next).and_then(|()| make()),
            _ => Err(error),
        });
        made?.write_all(self.text.as_bytes())?;
        fs::rename(&self.next, &self.path)
    }
}

impl Drop for NowFile {
    /// Without an agent the file would be out of date.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.next);
    }
}

/// Returns whether a series is of one of these metrics.
fn is_wanted(metrics: &[String], series: &str) -> bool {
    let name = metric_of(series);
    let is_metric = |wanted: &String| match wanted.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => wanted == name || wanted == series,
    };
    metrics.is_empty() || metrics.iter().any(is_metric)
}

/// One word, whatever is in its labels: blanks as /proc/mounts writes them.
fn push_name(out: &mut String, name: &str) {
    for letter in name.chars() {
        match letter {
            ' ' => out.push_str("\\040"),
            '\t' => out.push_str("\\011"),
            letter => out.push(letter),
        }
    }
}

/// As a shell can compute with it, where it is a whole number: `4096`, `0.25`, `1e300`.
fn push_value(out: &mut String, value: f64) {
    // A String takes whatever is written to it.
    let _ = match value.abs() {
        0.0..1e15 => write!(out, "{value}"),
        _ => write!(out, "{value:e}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_finds_one_whole_tick() {
        let directory = std::env::temp_dir().join(format!("whit-now-{}", std::process::id()));
        let path = directory.join("run/now");
        let mut now = NowFile::new(&path, &[]).unwrap();
        let at = Nanos(1_795_802_019_103_744_463);
        let head =
            format!("whit_now_timestamp_seconds 1795802019.104\nwhit_now_pid {}\n", std::process::id());
        let lines = || fs::read_to_string(&path).unwrap().strip_prefix(&head).unwrap().to_owned();
        now.write(at, [("load1", 0.25), ("bytes{device=\"a b\"}", 4096.0)].into_iter()).unwrap();
        assert_eq!(lines(), "load1 0.25\nbytes{device=\"a\\040b\"} 4096\n");
        now.write(at, [("load1", 1e300)].into_iter()).unwrap();
        assert_eq!(lines(), "load1 1e300\n");
        now.set_metrics(&["lo*".to_owned(), "bytes".to_owned(), "other{a=\"1\"}".to_owned()]);
        let series = ["load1", "bytes{device=\"a\"}", "bytes_total", "other{a=\"1\"}", "other{a=\"2\"}"];
        now.write(at, series.into_iter().map(|name| (name, 1.0))).unwrap();
        let expected = "load1 1\nbytes{device=\"a\"} 1\nother{a=\"1\"} 1\n";
        assert_eq!(lines(), expected);
        drop(now);
        assert_eq!(fs::read_dir(directory.join("run")).unwrap().count(), 0);
        fs::remove_dir_all(directory).unwrap();
    }
}
