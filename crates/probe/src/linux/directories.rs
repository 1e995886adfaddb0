//! Directories whose entries come and go: sensors, batteries, interfaces.
//!
//! The directory is kept open and listed again now and then, without opening anything; only a new entry is opened.

use std::cmp::Ordering;
use std::ffi::CStr;
use std::mem::MaybeUninit;

use facts::sample::Absence;
use rustix::fs::{RawDir, SeekFrom, seek};

use super::files::Buffer;
use crate::roots::MachineDirectory;

/// A directory, and what is kept of each of its entries.
#[derive(Debug)]
pub(crate) struct KeptDirectory<E> {
    directory: MachineDirectory,
    entries: Vec<Entry<E>>,
}

#[derive(Debug)]
struct Entry<E> {
    name: Box<CStr>,
    was_seen: bool,
    /// `None` if the entry is of no interest; it is remembered, so that it is not opened again.
    kept: Option<E>,
}

impl<E> KeptDirectory<E> {
    /// Opens `path` below `root`; `None` if it is not there.
    pub(crate) fn open(root: &MachineDirectory, path: &str) -> Option<Self> {
        let directory = root.directory_at(path).ok()?;
        Some(Self { directory, entries: Vec::new() })
    }

    /// Reads what is kept, in the natural order of the names. What is gone is forgotten, so that the next
    /// [`rescan`](Self::rescan) opens a device that came back under its name. Whether something was gone.
    pub(crate) fn read(&mut self, mut read: impl FnMut(&mut E) -> Result<(), Absence>) -> bool {
        let count = self.entries.len();
        self.entries
            .retain_mut(|entry| entry.kept.as_mut().is_none_or(|kept| read(kept) != Err(Absence::Gone)));
        self.entries.len() < count
    }

    /// Lists the directory: keeps what is still there, drops what went, and lets `open` open what is new.
    pub(crate) fn rescan(
        &mut self,
        buffer: &mut Buffer,
        mut open: impl FnMut(&mut Buffer, &MachineDirectory, &str) -> Option<E>,
    ) {
        buffer.calls += 3; // lseek, and getdents64 twice: the entries, then the end.
        if seek(&self.directory, SeekFrom::Start(0)).is_err() {
            return;
        }
        self.entries.iter_mut().for_each(|entry| entry.was_seen = false);
        let mut memory = [MaybeUninit::uninit(); 4096];
        let mut listing = RawDir::new(&self.directory, &mut memory);
        let mut is_new = false;
        while let Some(listed) = listing.next() {
            // What was not listed is not known to be gone.
            let Ok(listed) = listed else { return };
            let name = listed.file_name();
            if name.to_bytes().starts_with(b".") {
                continue;
            }
            if let Some(known) = self.entries.iter_mut().find(|entry| entry.name.as_ref() == name) {
                known.was_seen = true;
                continue;
            }
            let kept = name.to_str().ok().and_then(|name| open(buffer, &self.directory, name));
            self.entries.push(Entry { name: name.into(), was_seen: true, kept });
            is_new = true;
        }
        self.entries.retain(|entry| entry.was_seen);
        if is_new {
            self.entries.sort_by(|a, b| natural_order(a.name.to_bytes(), b.name.to_bytes()));
        }
    }
}

/// `temp2_input` before `temp10_input`.
pub(crate) fn natural_order(a: &[u8], b: &[u8]) -> Ordering {
    let split = |name: &[u8]| {
        let prefix = name.iter().take_while(|byte| !byte.is_ascii_digit()).count();
        let digits = name[prefix..].iter().take_while(|byte| byte.is_ascii_digit());
        let number = digits
            .fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        (prefix, number)
    };
    let ((a_prefix, a_number), (b_prefix, b_number)) = (split(a), split(b));
    a[..a_prefix].cmp(&b[..b_prefix]).then(a_number.cmp(&b_number)).then_with(|| a.cmp(b))
}
