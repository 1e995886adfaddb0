//! A history between two questions: what was read of it stays, and it goes on with what is new.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use facts::task::rounds::Scope;
use store::StoreError;

use super::recorded_series::SeriesAtRest;
use super::{OtherHistory, Past};

/// A [`Past`] that no question needs now. It does not keep the log of its database from being reused.
#[derive(Debug)]
pub struct PastAtRest {
    recorded: SeriesAtRest,
    /// At rest, too, if they were opened.
    checks: OtherHistory,
    exporters: OtherHistory,
    path: PathBuf,
    scope: Scope,
}

impl Past {
    /// Ends the snapshot of the history.
    ///
    /// # Errors
    /// If that fails: then it is closed.
    pub fn rest(self) -> Result<PastAtRest, StoreError> {
        let mut recorded = self.recorded.rest()?;
        if self.scope != Scope::All {
            recorded.forget_names();
        }
        let (checks, exporters) = (self.checks.rest()?, self.exporters.rest()?);
        Ok(PastAtRest { recorded, checks, exporters, path: self.path, scope: self.scope })
    }
}

impl PastAtRest {
    /// Goes on with what was kept, or opens the history if nothing was.
    ///
    /// # Errors
    /// As [`Past::open`].
    pub fn go_on_or_open(kept: Option<Self>, path: &Path) -> Result<Past, StoreError> {
        match kept.filter(|kept| kept.path == path) {
            Some(kept) => kept.go_on(),
            None => Past::open(path),
        }
    }

    /// Returns the history as it is now. One that cannot go on is opened anew.
    ///
    /// # Errors
    /// As [`Past::open`].
    pub fn go_on(self) -> Result<Past, StoreError> {
        let recorded = SeriesAtRest::go_on_or_open(Some(self.recorded), &self.path)?;
        Ok(Past::new(self.path, recorded, self.checks, self.exporters).seen_by(self.scope))
    }
}

impl OtherHistory {
    /// It goes on when it is asked for. One that is not there, or cannot be opened, is looked for again.
    fn rest(self) -> Result<Self, StoreError> {
        let opened = self.opened.into_inner().and_then(Result::ok).flatten();
        let at_rest = match opened {
            Some(opened) => Some(opened.rest()?),
            None => self.at_rest.into_inner(),
        };
        Ok(Self { path: self.path, at_rest: RefCell::new(at_rest), opened: OnceCell::new() })
    }
}

#[cfg(test)]
mod tests {
    use query::{Answer, Limits, Query};
    use store::{Retention, SeriesKind, Store};

    use super::super::scratch::{Scratch, append};
    use super::super::{CHECKS, EXPORTERS};
    use super::*;

    /// The series that have a value then.
    fn series(past: &Past, at_ms: i64) -> Vec<String> {
        let limits =
            Limits { lookback_ms: 500, usual_step_ms: 60_000, most_points: 1000, is_interrupted: &|| false };
        let query = Query::parse("count by (__name__) ({__name__=~\".+\"})").unwrap();
        let Ok(Answer::Vector(answer)) = query.at(past, at_ms, &limits) else { panic!("no vector") };
        answer.iter().map(|(name, point)| format!("{} {}", name.get("__name__"), point.value)).collect()
    }

    /// New series, and histories that begin meanwhile, are seen; what a user may not see stays hidden.
    #[test]
    fn what_is_new_is_seen() {
        let scratch = Scratch::new("past-at-rest");
        let mut store = Store::open(&scratch.history(), Retention::default()).unwrap();
        let load = store.series("node_load1", SeriesKind::Gauge);
        append(&mut store, 1_000, &[(load, 1.0)]);
        let past = PastAtRest::go_on_or_open(None, &scratch.history()).unwrap();
        assert_eq!(series(&past, 1_000), ["node_load1 1"]);
        assert_eq!(past.extent_ns().unwrap(), Some((1_000_000_000, 1_000_000_000)));
        let at_rest = past.rest().unwrap();
        let other = store.series("node_load5", SeriesKind::Gauge);
        let restricted =
            store.series("whit_container_info{container=\"a\",id=\"3f2a1b4c5d6e\"}", SeriesKind::Gauge);
        append(&mut store, 2_000, &[(load, 1.0), (other, 2.0), (restricted, 1.0)]);
        for (name, metric) in [(CHECKS, "whit_check_state{service=\"a\"}"), (EXPORTERS, "up")] {
            let mut store =
                Store::open(&scratch.history().with_file_name(name), Retention::default()).unwrap();
            let id = store.series(metric, SeriesKind::Gauge);
            append(&mut store, 2_000, &[(id, 0.0)]);
            store.close().unwrap();
        }
        let past = at_rest.go_on().unwrap();
        assert_eq!(past.extent_ns().unwrap(), Some((1_000_000_000, 2_000_000_000)));
        let all = series(&past, 2_000);
        assert_eq!(all.len(), 5, "{all:?}");
        // Those beside it go on as well.
        assert_eq!(series(&past.rest().unwrap().go_on().unwrap(), 2_000), all);
        // Those that were opened for everyone are not seen by a user.
        let of_user = Past::open(&scratch.history()).unwrap();
        assert_eq!(series(&of_user, 2_000), all);
        let of_user = of_user.rest().unwrap().go_on().unwrap().seen_by(Scope::User(1));
        let seen = series(&of_user, 2_000);
        assert_eq!(seen, ["node_load1 1", "node_load5 1"]);
        assert!(of_user.container_names().get("3f2a1b4c5d6e").is_some());
        append(&mut store, 3_000, &[(load, 1.0), (other, 2.0), (restricted, 1.0)]);
        let of_user = of_user.rest().unwrap().go_on().unwrap();
        assert_eq!(series(&of_user, 3_000), seen);
        assert!(of_user.container_names().get("3f2a1b4c5d6e").is_some());
    }
}
