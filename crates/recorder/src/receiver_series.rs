//! What receivers of remote write have taken, recorded like everything else, so that rules can watch them.

use std::collections::HashMap;

use formats::series_name::{METRIC, SeriesName};
use history::metrics::agent_series_kind;
use store::{SeriesId, Store};

use crate::messages::{RECEIVER_METRICS, ReceiverFigures};
use crate::registry::Registry;

/// The figures of a tick.
#[derive(Debug, Default)]
pub(crate) struct ReceiverSeries {
    /// By the name of a receiver.
    ids: HashMap<String, [Option<SeriesId>; RECEIVER_METRICS.len()]>,
    now: Vec<(SeriesId, f64)>,
}

impl ReceiverSeries {
    /// Takes the figures of all receivers.
    pub(crate) fn collect(
        &mut self,
        receivers: &[ReceiverFigures],
        registry: &mut Registry,
        store: &mut Store,
    ) {
        self.now.clear();
        for ReceiverFigures { name, figures } in receivers {
            if !self.ids.contains_key(name) {
                let ids = RECEIVER_METRICS.map(|metric| {
                    let mut series = SeriesName::default();
                    series.set(METRIC, metric);
                    series.set("receiver", name);
                    registry.register(&series.to_string(), agent_series_kind(metric), store).map(|(_, id)| id)
                });
                self.ids.insert(name.clone(), ids);
            }
            let ids = self.ids.get(name).into_iter().flatten();
            self.now.extend(ids.zip(figures).filter_map(|(id, figure)| Some(((*id)?, (*figure)?))));
        }
    }

    /// The values that were collected.
    pub(crate) fn values(&self) -> impl Iterator<Item = (SeriesId, f64)> {
        self.now.iter().copied()
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        self.ids.clear();
    }
}
