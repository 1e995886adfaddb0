//! What fetching feeds costs, recorded like everything else, once the configuration has `[feeds]`.

use std::fmt::Write as _;

use facts::task::rounds::Scope;
use feeds::FeedCounts;
use sampling::users::Users;
use store::{SeriesId, Store};

use crate::registry::Registry;
use history::metrics::agent_series_kind;

/// The series, in the order of [`FeedSeries::collect`]. The catalogue says what they are.
const SERIES: [&str; 7] = [
    "whit_feed_polls_total{result=\"changed\"}",
    "whit_feed_polls_total{result=\"unchanged\"}",
    "whit_feed_polls_total{result=\"failed\"}",
    "whit_feed_requests_total",
    "whit_feed_received_bytes_total",
    "whit_feed_entries_total",
    "whit_feed_unread_entries",
];

/// The counters of the last tick.
#[derive(Debug, Default)]
pub(crate) struct FeedSeries {
    ids: Vec<Option<SeriesId>>,
    values: Vec<f64>,
}

/// What accounts have not read, as lines of the agent's status: those of all, or that with a user's name.
pub(crate) fn write_unread(counts: &FeedCounts, scope: Scope, out: &mut String) {
    let Some(unread) = counts.unread() else { return };
    let users = match scope {
        Scope::All => None,
        Scope::User(_) => Some(Users::read()),
    };
    for count in unread {
        let is_shown = match scope {
            Scope::All => true,
            Scope::User(uid) => users.as_ref().and_then(|users| users.name(uid)) == Some(&count.account),
        };
        if is_shown {
            let _ = writeln!(out, "whit_feed_unread{{account=\"{}\"}} {}", count.account, count.unread);
        }
    }
}

/// The counters, in their order; `None` before feeds were polled.
pub(crate) fn counted(counts: &FeedCounts) -> Option<[f64; SERIES.len()]> {
    let unread = counts.unread_total()?;
    let totals = counts.totals();
    let counted = [
        totals.changed,
        totals.unchanged,
        totals.failed,
        totals.requests,
        totals.bytes,
        totals.entries,
        unread,
    ];
    Some(counted.map(|count| count as f64))
}

impl FeedSeries {
    /// Takes the counters of this tick; none before feeds were polled.
    pub(crate) fn collect(&mut self, counted: &[f64], registry: &mut Registry, store: &mut Store) {
        self.values.clear();
        if counted.len() != SERIES.len() {
            return;
        }
        if self.ids.is_empty() {
            let mut id = |name: &str, kind| registry.register(name, kind, store).map(|(_, id)| id);
            self.ids = SERIES.iter().map(|name| id(name, agent_series_kind(name))).collect();
        }
        self.values.extend(counted);
    }

    /// The values that were collected.
    pub(crate) fn values(&self) -> impl Iterator<Item = (SeriesId, f64)> {
        self.ids.iter().zip(&self.values).filter_map(|(id, value)| Some(((*id)?, *value)))
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        self.ids.clear();
    }
}
