//! The cost of fetching feeds, recorded like everything else, once the configuration has `[feeds]`.

use store::{SeriesId, Store};

use crate::registry::Registry;
use history::metrics::agent_series_kind;

/// The series, in the order of the counters that the server reports. The catalogue has their meanings.
pub const FEED_SERIES: [&str; 7] = [
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

impl FeedSeries {
    /// Takes the counters of this tick; none before feeds were polled.
    pub(crate) fn collect(&mut self, counted: &[f64], registry: &mut Registry, store: &mut Store) {
        self.values.clear();
        if counted.len() != FEED_SERIES.len() {
            return;
        }
        if self.ids.is_empty() {
            let mut id = |name: &str, kind| registry.register(name, kind, store).map(|(_, id)| id);
            self.ids = FEED_SERIES.iter().map(|name| id(name, agent_series_kind(name))).collect();
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
