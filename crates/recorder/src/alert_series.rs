//! Alerts in the history: as in Prometheus a series `ALERTS` for each, which is 1 as long as the alert is there.

use std::collections::HashMap;

use store::{SeriesId, SeriesKind, Store};

use crate::registry::Registry;

/// Series that are recorded; a rule whose labels change all the time makes more.
const MAX_SERIES: usize = 1000;

/// The alerts of a tick.
#[derive(Debug, Default)]
pub(crate) struct AlertSeries {
    /// By name, whether it is recorded or not.
    known: HashMap<String, Option<SeriesId>>,
    now: Vec<SeriesId>,
}

impl AlertSeries {
    /// Collects the values of the alerts that there are, by the names of their series.
    pub(crate) fn collect(&mut self, names: &[String], registry: &mut Registry, store: &mut Store) {
        self.now.clear();
        for name in names {
            if !self.known.contains_key(name) {
                if self.known.len() >= MAX_SERIES {
                    continue;
                }
                let registered = registry.register(name, SeriesKind::Gauge, store);
                self.known.insert(name.clone(), registered.map(|(_, id)| id));
            }
            self.now.extend(self.known.get(name).copied().flatten());
        }
    }

    /// The values that were collected.
    pub(crate) fn values(&self) -> impl Iterator<Item = (SeriesId, f64)> {
        self.now.iter().map(|id| (*id, 1.0))
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        self.known.clear();
    }
}
