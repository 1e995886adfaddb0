//! Responses on disk: RFC 9111, by http-cache-semantics. A response is two files, its body and what decides about its use.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use blake2::{Blake2s256, Digest as _};
use facts::age::AgeBy;
use http_cache_semantics::CachePolicy;
use probe::directory::{Directory, EntryKind, StatusWanted};
use serde::{Deserialize, Serialize};

/// Its name in the data directory.
const DIRECTORY: &str = "feed-cache";
/// What one call of getdents64(2) may give: some two thousand names.
const LISTING_BYTES: usize = 64 * 1024;

/// The cache of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
}

/// What is known of a response.
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
}

impl CachedResponse {
    pub(crate) fn new(
        url: &str,
        policy: CachePolicy,
        status: u16,
        content_type: &str,
        location: &str,
    ) -> Self {
        Self {
            url: url.to_owned(),
            policy,
            status,
            content_type: content_type.to_owned(),
            location: location.to_owned(),
        }
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
        Ok(Self { directory })
    }

    fn path(&self, url: &str, kind: &str) -> PathBuf {
        let digest = Blake2s256::digest(url.as_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.directory.join(format!("{name}.{kind}"))
    }

    /// The response of an address; `None` if there is none, or its file is damaged.
    pub(crate) fn get(&self, url: &str) -> Option<CachedResponse> {
        let cached: CachedResponse = serde_json::from_slice(&fs::read(self.path(url, "json")).ok()?).ok()?;
        (cached.url == url).then_some(cached)
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
        if let Some(body) = body {
            self.write(&self.path(&response.url, "body"), body)?;
        }
        self.write(&self.path(&response.url, "json"), &serde_json::to_vec(response)?)
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

    /// Removes files that were not written for so long: of feeds that are not polled any more. As `whit age` does it: one system call
    /// for some two thousand names, one for the age of each, none by path. Returns how many were removed.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub(crate) fn clean(&self, unused_for: Duration, now: SystemTime) -> io::Result<u64> {
        let directory = Directory::open(&self.directory)?;
        let modified = AgeBy { modified: true, ..StatusWanted::KIND.times };
        let wanted = StatusWanted { times: modified, ..StatusWanted::KIND };
        let oldest =
            now.checked_sub(unused_for).and_then(|oldest| oldest.duration_since(SystemTime::UNIX_EPOCH).ok());
        let oldest_ns = oldest.unwrap_or_default().as_nanos() as i64;
        let mut old: Vec<CString> = Vec::new();
        let mut memory = Vec::with_capacity(LISTING_BYTES);
        directory.list(memory.spare_capacity_mut(), |name, _| {
            let status = directory.status(name, wanted).ok();
            let status = status.filter(|status| status.kind == EntryKind::File);
            if status.and_then(|status| status.times.modified_ns).is_some_and(|at_ns| at_ns < oldest_ns) {
                old.push(name.to_owned());
            }
        })?;
        let removed = old.iter().filter(|name| directory.unlink(name).is_ok()).count();
        Ok(removed as u64)
    }
}
