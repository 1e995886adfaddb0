//! A line for each request, as text or as documents.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use facts::unit::Nanos;
use serde_json::json;
use text::printable::{Shown as _, printable_text};

use super::fault::Fault;
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

/// What a line is about.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// Of HTTP.
    Request {
        method: String,
        path: String,
        status: u16,
        body_bytes: u64,
    },
    Line {
        line: String,
        is_known: bool,
    },
}

impl Entry {
    pub(super) fn request(method: &str, path: &str, status: u16, body_bytes: u64) -> Self {
        Self::Request { method: method.to_owned(), path: path.to_owned(), status, body_bytes }
    }

    pub(super) fn line(line: &str, is_known: bool) -> Self {
        Self::Line { line: line.to_owned(), is_known }
    }
}

impl Log {
    /// Appends to a file; `-` is standard output.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(path: &Path, is_json: bool) -> Result<Self, Failure> {
        let file = match path == Path::new("-") {
            // The same description, so that lines and report stand one behind the other.
            true => rustix::io::dup(rustix::stdio::stdout()).map(File::from).map_err(Into::into),
            false => File::options().append(true).create(true).open(path),
        };
        let file = file.map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
        Ok(Self { file: Mutex::new(BufWriter::new(file)), documents: is_json.then(Documents::of_live) })
    }

    /// A request, the bytes that go back, and what is done to them.
    pub(super) fn write(&self, address: &str, entry: &Entry, bytes: u64, fault: Option<Fault>) {
        let now = probe::clock_now().realtime;
        let mut text = String::new();
        let fault = fault.map(Fault::name);
        match &self.documents {
            Some(documents) => {
                let mut body = json!({ "address": address, "bytes": bytes, "fault": fault });
                match entry {
                    Entry::Request { method, path, status, body_bytes } => {
                        body["method"] = json!(method);
                        body["path"] = json!(path);
                        body["status"] = json!(status);
                        body["body_bytes"] = json!(body_bytes);
                    }
                    Entry::Line { line, is_known } => {
                        body["line"] = json!(line);
                        body["is_known"] = json!(is_known);
                    }
                }
                // An object of texts and numbers can always be written.
                let _ = documents.push(DocumentKind::SinkRequest, now, &body, &mut text);
            }
            None => {
                text = format!("{} {address} ", time(now));
                match entry {
                    Entry::Request { method, path, status, body_bytes } => {
                        let path = printable_text(path.as_bytes());
                        text.push_str(&format!("\"{method} {path}\" {body_bytes} {status} {bytes}"));
                    }
                    Entry::Line { line, is_known } => {
                        let known = if *is_known { "" } else { " unknown" };
                        text.push_str(&format!("\"{}\"{known} {bytes}", printable_text(line.as_bytes())));
                    }
                }
                text.push_str(&fault.map_or(String::new(), |fault| format!(" {fault}")));
                text.push('\n');
            }
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
