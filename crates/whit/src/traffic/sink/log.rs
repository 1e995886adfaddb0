//! A line for each request, as text or as documents.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use facts::unit::Nanos;
use serde_json::json;
use text::printable::{Shown as _, printable_text};

use crate::document::{DocumentKind, Documents};
use crate::failure::Failure;
use crate::time_zone;

/// Where requests are written to. Lines wait in memory until a turn of the event loop is over.
#[derive(Debug)]
pub(crate) struct Log {
    file: Mutex<BufWriter<File>>,
    /// As JSON.
    documents: Option<Documents>,
}

impl Log {
    /// Appends to a file; `-` is standard output.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(path: &Path, is_json: bool) -> Result<Self, Failure> {
        let path = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
        let file = File::options().append(true).create(true).open(path);
        let file = file.map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
        Ok(Self { file: Mutex::new(BufWriter::new(file)), documents: is_json.then(Documents::of_live) })
    }

    /// A request of HTTP, and its answer.
    pub(super) fn request(&self, address: &str, method: &str, path: &str, status: u16, bytes: u64) {
        let body = || json!({ "address": address, "method": method, "path": path, "status": status, "bytes": bytes });
        let words = || format!("\"{method} {}\" {status} {bytes}", printable_text(path.as_bytes()));
        self.write(address, body, words);
    }

    /// A line, and whether there was a reply to it.
    pub(super) fn line(&self, address: &str, line: &str, is_known: bool) {
        let body = || json!({ "address": address, "line": line, "is_known": is_known });
        let words =
            || format!("\"{}\"{}", printable_text(line.as_bytes()), if is_known { "" } else { " unknown" });
        self.write(address, body, words);
    }

    fn write(&self, address: &str, body: impl Fn() -> serde_json::Value, words: impl Fn() -> String) {
        let now = probe::clock_now().realtime;
        let mut text = String::new();
        match &self.documents {
            Some(documents) => {
                // An object of texts and numbers can always be written.
                let _ = documents.push(DocumentKind::SinkRequest, now, &body(), &mut text);
            }
            None => text = format!("{} {address} {}\n", time(now), words()),
        }
        // A full disk must not end the server: what is lost is a line of the log.
        let _ = self.file().write_all(text.as_bytes());
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.file().flush()
    }

    fn file(&self) -> std::sync::MutexGuard<'_, BufWriter<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn time(realtime: Nanos) -> String {
    let when = jiff::Timestamp::from_nanosecond(i128::from(realtime.0)).unwrap_or_default();
    when.to_zoned(time_zone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
