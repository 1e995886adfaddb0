//! A line for each request, as text or as documents.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use facts::unit::Nanos;
use serde_json::json;
use text::printable::{Shown as _, printable_text};

use super::fault::Fault;
use super::request::Request;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::time_zone;

/// Where requests are written to. Lines wait in memory until a turn of the event loop is over.
#[derive(Debug)]
pub(crate) struct Log {
    file: Mutex<BufWriter<File>>,
    path: PathBuf,
    /// As JSON.
    documents: Option<Documents>,
    /// A line could not be written: said once.
    has_failed: AtomicBool,
}

/// An entry of the log.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// An HTTP request.
    Request {
        request: Request,
        status: u16,
    },
    Line {
        line: String,
        is_known: bool,
    },
}

impl Entry {
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
        Ok(Self {
            file: Mutex::new(BufWriter::new(file)),
            path: path.to_owned(),
            documents: is_json.then(Documents::of_live),
            has_failed: AtomicBool::new(false),
        })
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
                    Entry::Request { request, status } => {
                        let headers = request.headers.iter();
                        body["method"] = json!(request.method);
                        body["path"] = json!(request.path);
                        body["status"] = json!(status);
                        body["headers"] =
                            headers.map(|(name, value)| json!({ "name": name, "value": value })).collect();
                        body["body_bytes"] = json!(request.body_bytes);
                        let is_cut = request.body_bytes > request.kept.len() as u64;
                        body["body"] = json!(text_of(&request.kept, is_cut));
                        body["is_body_cut"] = json!(is_cut);
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
                    Entry::Request { request: Request { method, path, body_bytes, .. }, status } => {
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
        let written = self.file().write_all(text.as_bytes());
        self.note(written);
    }

    /// Returns true if lines show the contents of requests: documents do.
    pub(super) fn has_contents(&self) -> bool {
        self.documents.is_some()
    }

    /// Returns true if something could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// A full disk does not end the server: lines of the log are lost, which is reported once, and by the exit status.
    fn note(&self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            Failure::new(format!("{}: {error}; requests are missing in it", self.path.shown())).report();
        }
    }

    /// Writes what waits; what cannot be written waits on, up to the buffer's size.
    pub(super) fn flush(&self) {
        let written = self.file().flush();
        self.note(written);
    }

    fn file(&self) -> std::sync::MutexGuard<'_, BufWriter<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a body; `None` if it is none. A character that was cut in two is left out.
fn text_of(bytes: &[u8], is_cut: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

fn time(realtime: Nanos) -> String {
    time_zone::written(realtime.0.cast_signed())
}
