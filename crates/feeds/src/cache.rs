//! Responses on disk: RFC 9111, by http-cache-semantics. A response is two files, its body and what decides about its use.

use std::cmp::Reverse;
use std::ffi::CString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use blake2::{Blake2s256, Digest as _};
use facts::age::AgeBy;
use http_cache_semantics::CachePolicy;
use probe::directory::{Directory, EntryKind, StatusWanted};
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;

/// Its name in the data directory.
const DIRECTORY: &str = "feed-cache";
/// All files of the cache, on disk.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// The most bytes that one call of getdents64(2) may return: some two thousand names.
const LISTING_BYTES: usize = 64 * 1024;

/// The cache of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
    most_bytes: u64,
    /// Bytes of bodies that were written since the last clean-up.
    written_bytes: Arc<AtomicU64>,
}

/// A response in the cache, without its body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CachedResponse {
    /// The address that was asked.
    pub(crate) url: String,
    /// When it may be used, and what a request for a newer one says.
    pub(crate) policy: CachePolicy,
    /// The status and the headers that its user needs: Content-Type, Location.
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) location: String,
    /// The body's.
    pub(crate) digest: DocumentDigest,
}

/// The digest of a document: two documents with the same digest are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentDigest(pub(crate) Vec<u8>);

impl DocumentDigest {
    pub(crate) fn of(document: &[u8]) -> Self {
        Self(Blake2s256::digest(document)[..16].to_vec())
    }
}

impl Cache {
    /// Opens the cache, and creates it if there is none.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn open(data: &Path) -> io::Result<Self> {
        let directory = data.join(DIRECTORY);
        if !directory.is_dir() {
            let mut builder = fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700).create(&directory)?;
        }
        Ok(Self { directory, most_bytes: MAX_BYTES, written_bytes: Arc::default() })
    }

    fn path(&self, url: &str, kind: &str) -> PathBuf {
        self.directory.join(format!("{}.{kind}", hex_digest(&[url.as_bytes()], 16)))
    }

    /// The response of an address; `None` if there is none, or its file is damaged.
    pub(crate) fn get(&self, url: &str) -> Option<CachedResponse> {
        let cached: CachedResponse = serde_json::from_slice(&fs::read(self.path(url, "json")).ok()?).ok()?;
        // Its files may have been deleted by others.
        let has_body = cached.status != 200 || self.path(url, "body").exists();
        (cached.url == url && has_body).then_some(cached)
    }

    /// The body of a response.
    pub(crate) fn body(&self, url: &str) -> Option<Vec<u8>> {
        fs::read(self.path(url, "body")).ok()
    }

    /// Replaces a response, or with no body what decides about its use.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn put(&self, response: &CachedResponse, body: Option<&[u8]>) -> io::Result<()> {
        let path = self.path(&response.url, "body");
        match body {
            Some(body) => {
                self.written_bytes.fetch_add(body.len() as u64, Ordering::Relaxed);
                self.write(&path, body)?;
            }
            // It is as young as what decides about it: they are deleted together.
            None => fs::File::options().write(true).open(&path)?.set_modified(SystemTime::now())?,
        }
        self.write(&self.path(&response.url, "json"), &serde_json::to_vec(response)?)
    }

    /// Returns whether so much was written that the cache may be too large.
    pub(crate) fn has_grown(&self) -> bool {
        self.written_bytes.load(Ordering::Relaxed) > self.most_bytes / 8
    }

    pub(crate) fn remove(&self, url: &str) {
        for kind in ["json", "body"] {
            let _ = fs::remove_file(self.path(url, kind));
        }
    }

    /// By another file that is renamed: a kill leaves the old response or the new one.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let new = path.with_extension(format!("{}.new", probe::random::hex()));
        let written = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&new, path));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// Removes files that were not written for so long: of feeds that are not polled any more; and the oldest ones if all together have
    /// too many bytes: a server may answer from another address each time. As `whit age` does it: one system call
    /// for some two thousand names, one for the age of each, none by path. Returns how many were removed.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub(crate) fn clean(&self, unused_for: Duration, now: SystemTime) -> io::Result<u64> {
        self.written_bytes.store(0, Ordering::Relaxed);
        let directory = Directory::open(&self.directory)?;
        let modified = AgeBy { modified: true, ..StatusWanted::KIND.times };
        let wanted = StatusWanted { times: modified, ..StatusWanted::KIND };
        let oldest =
            now.checked_sub(unused_for).and_then(|oldest| oldest.duration_since(SystemTime::UNIX_EPOCH).ok());
        let oldest_ns = oldest.unwrap_or_default().as_nanos() as i64;
        let mut files: Vec<(i64, u64, CString)> = Vec::new();
        let mut memory = Vec::with_capacity(LISTING_BYTES);
        directory.list(memory.spare_capacity_mut(), |name, _| {
            let status = directory.status(name, wanted).ok();
            let status = status.filter(|status| status.kind == EntryKind::File);
            if let Some(status) = status {
                files.push((status.times.modified_ns.unwrap_or(0), status.allocated.0, name.to_owned()));
            }
        })?;
        files.sort_unstable_by_key(|(at_ns, ..)| Reverse(*at_ns));
        let (mut kept_bytes, mut removed) = (0, 0);
        for (at_ns, bytes, name) in &files {
            kept_bytes += bytes;
            if *at_ns < oldest_ns || kept_bytes > self.most_bytes {
                removed += u64::from(directory.unlink(name).is_ok());
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cache_loses_its_oldest_files() {
        let data = crate::simulated_day::Directory::new("cache");
        let cache = Cache { most_bytes: 100_000, ..Cache::open(&data.0).unwrap() };
        let now = SystemTime::now();
        for minutes in 0..4_u64 {
            let path = cache.path(&minutes.to_string(), "body");
            cache.write(&path, &[b'x'; 40_000]).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(now - Duration::from_secs(60 * minutes)).unwrap();
        }
        let day = Duration::from_secs(86_400);
        let removed = cache.clean(day, now).unwrap();
        let left: Vec<bool> = (0..4).map(|minutes: u64| cache.body(&minutes.to_string()).is_some()).collect();
        let old = cache.clean(day, now + 2 * day).unwrap();
        assert_eq!((removed, left, old), (2, vec![true, true, false, false], 2));
    }
}
