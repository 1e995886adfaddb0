//! The feed reader that the pages show.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ::feeds::web::{PREFIX, Site};
use ::feeds::{FeedError, Library};

/// The reader, if the configuration has one. Its library is opened for the first request.
#[derive(Debug)]
pub(super) struct Reader {
    is_on: bool,
    turn: Arc<tokio::sync::Mutex<()>>,
    site: Mutex<Option<Arc<Site>>>,
}

impl Reader {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, turn: Arc::default(), site: Mutex::default() }
    }

    /// Returns whether the configuration has one.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns whether a path is the reader's.
    pub(super) fn has(&self, path: &str) -> bool {
        self.is_on && path.starts_with(PREFIX)
    }

    /// Waits for those who asked before.
    pub(super) async fn turn(&self) -> tokio::sync::OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    pub(super) fn site(&self, data: &Path) -> Result<Arc<Site>, FeedError> {
        let mut site = self.site.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = &*site {
            return Ok(Arc::clone(site));
        }
        let opened = Arc::new(Site::new(Library::open(data)?));
        *site = Some(Arc::clone(&opened));
        Ok(opened)
    }
}
