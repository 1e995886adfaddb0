//! A history between two questions: what was read of it stays, and it goes on with what is new.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use facts::task::rounds::Scope;
use sampling::users::Users;
use store::StoreError;

use super::recorded_series::{RecordedSeries, SeriesAtRest};
use super::{OtherHistory, Past};

/// A [`Past`] that no question needs now. It does not keep the log of its database from being reused.
#[derive(Debug)]
pub struct PastAtRest {
    recorded: SeriesAtRest,
    checks: OtherAtRest,
    exporters: OtherAtRest,
    path: PathBuf,
    scope: Scope,
}

/// A history beside that of the machine.
#[derive(Debug)]
struct OtherAtRest {
    path: Option<PathBuf>,
    opened: Option<SeriesAtRest>,
}

impl Past {
    /// Ends the snapshot of the history.
    ///
    /// # Errors
    /// If that fails: then it is closed.
    pub fn rest(self) -> Result<PastAtRest, StoreError> {
        Ok(PastAtRest {
            recorded: self.recorded.rest()?,
            checks: self.checks.rest()?,
            exporters: self.exporters.rest()?,
            path: self.path,
            scope: self.scope,
        })
    }
}

impl PastAtRest {
    /// Goes on with what was kept, or opens the history if nothing was, or that fails.
    ///
    /// # Errors
    /// As [`Past::open`].
    pub fn go_on_or_open(kept: Option<Self>, path: &Path) -> Result<Past, StoreError> {
        match kept.map(Self::go_on) {
            Some(Ok(past)) => Ok(past),
            _ => Past::open(path),
        }
    }

    /// Returns the history as it is now.
    ///
    /// # Errors
    /// As [`Past::open`].
    pub fn go_on(self) -> Result<Past, StoreError> {
        let past = Past {
            recorded: self.recorded.go_on()?,
            checks: self.checks.go_on(),
            exporters: self.exporters.go_on(),
            path: self.path,
            sums: OnceCell::new(),
            users: Users::read(),
            containers: OnceCell::new(),
            scope: Scope::All,
            extent_ns: OnceCell::new(),
        };
        Ok(past.seen_by(self.scope))
    }
}

impl OtherHistory {
    fn rest(self) -> Result<OtherAtRest, StoreError> {
        // One that is not there, or cannot be opened, is looked for again.
        let opened = self.opened.into_inner().and_then(Result::ok).flatten();
        Ok(OtherAtRest { path: self.path, opened: opened.map(RecordedSeries::rest).transpose()? })
    }
}

impl OtherAtRest {
    fn go_on(self) -> OtherHistory {
        // If it cannot go on, it is opened when it is asked for.
        let opened = self.opened.and_then(|opened| opened.go_on().ok());
        OtherHistory {
            path: self.path,
            opened: opened.map_or_else(OnceCell::new, |opened| OnceCell::from(Ok(Some(opened)))),
        }
    }
}
