//! A directory for one test.

use std::path::PathBuf;

/// Removed with its test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("whit-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Itself.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn directory(&self) -> &std::path::Path {
        &self.0
    }

    /// Where its history is.
    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("history.sqlite")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
