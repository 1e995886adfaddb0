//! The series of one history.

use std::collections::BTreeMap;
use std::path::Path;

use facts::container::ContainerNames;
use formats::series_name::SeriesName;
use query::{Point, STALE_BITS, Selection, Series};
use store::{History, HistoryAtRest, Reading, SeriesKind, SeriesVersion, StoreError};

use crate::metrics;

/// So much of a history is read before it is asked whether that is too much: six hours.
const READ_AT_ONCE_NS: i64 = 21_600_000_000_000;
/// So many names are looked at before it is asked whether that takes too long.
const NAMES_AT_ONCE: usize = 64;

/// A history and the names in it.
#[derive(Debug)]
pub(super) struct RecordedSeries {
    pub(super) history: History,
    /// Each series with its labels. Its name is in the history.
    pub(super) series: Vec<(SeriesName, String)>,
}

/// The same while nothing is asked.
#[derive(Debug)]
pub(super) struct SeriesAtRest {
    history: HistoryAtRest,
    series: Vec<(SeriesName, String)>,
    version: Option<SeriesVersion>,
}

impl SeriesAtRest {
    /// Lets the names be read again: some were left out.
    pub(super) fn forget_names(&mut self) {
        (self.series, self.version) = (Vec::new(), None);
    }

    /// Goes on with what was kept, or opens the history if nothing was, or that fails.
    pub(super) fn go_on_or_open(kept: Option<Self>, path: &Path) -> Result<RecordedSeries, StoreError> {
        let Some(Self { history, series, version }) = kept else {
            return Ok(RecordedSeries::new(History::open(path)?));
        };
        let history = HistoryAtRest::go_on_or_open(Some(history), path)?;
        if version.is_some() && history.series_version() == version {
            return Ok(RecordedSeries { history, series });
        }
        Ok(RecordedSeries::new(history))
    }
}

impl RecordedSeries {
    pub(super) fn rest(self) -> Result<SeriesAtRest, StoreError> {
        let version = self.history.series_version();
        Ok(SeriesAtRest { history: self.history.rest()?, series: self.series, version })
    }

    pub(super) fn new(history: History) -> Self {
        let parse = |(name, _): (&str, SeriesKind)| Some((SeriesName::parse(name).ok()?, name.to_owned()));
        let series = history.series().into_iter().filter_map(parse).collect();
        Self { history, series }
    }

    /// The first and the last tick, in nanoseconds since 1970.
    pub(super) fn extent_ns(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let all = self.history.spans()?.into_iter();
        Ok(all.reduce(|(first, last), (from, to)| (first.min(from), last.max(to))))
    }

    /// The names of containers. Of one that got other names the last one holds.
    pub(super) fn container_names(&self) -> ContainerNames {
        let series = self.series.iter().filter(|(labels, _)| labels.metric() == metrics::CONTAINERS);
        let mut by_id: BTreeMap<&str, Vec<&(SeriesName, String)>> = BTreeMap::new();
        for one in series {
            by_id.entry(one.0.get("id")).or_default().push(one);
        }
        let mut names = ContainerNames::default();
        for of_one in by_id.values() {
            let newest = of_one
                .iter()
                .max_by_key(|(_, name)| if of_one.len() > 1 { self.last_ns(name) } else { None });
            if let Some((labels, _)) = newest {
                metrics::name_container(labels, &mut names);
            }
        }
        names
    }

    /// When a series had its last value; `None` if it has none, or the history cannot be read.
    fn last_ns(&self, name: &str) -> Option<u64> {
        let (first_ns, last_ns) = self.extent_ns().ok()??;
        let mut at = None;
        let push = |_, reading| {
            if let Reading::Sample(sample) = reading {
                at = at.max(Some(sample.clock.realtime.0));
            }
        };
        self.history.read_newest(&[name], first_ns, last_ns, push).ok()?;
        at
    }

    /// Reads the series that are selected; `first_ns` is the time of the first tick.
    pub(super) fn select(
        &self,
        selection: &Selection<'_>,
        first_ns: Option<i64>,
    ) -> Result<Vec<Series>, StoreError> {
        let mut selected: Vec<&(SeriesName, String)> = Vec::new();
        for names in self.series.chunks(NAMES_AT_ONCE) {
            // Patterns can take long. What asked sees that it was interrupted.
            if (selection.limits.is_interrupted)() {
                return Ok(Vec::new());
            }
            selected.extend(names.iter().filter(|(labels, _)| selection.is_met_by(labels)));
        }
        if selected.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = selected.iter().map(|(_, name)| name.as_str()).collect();
        let mut points: Vec<Vec<Point>> = vec![Vec::new(); names.len()];
        let nanoseconds = |milliseconds: i64| milliseconds.saturating_mul(1_000_000);
        // To the end of the last millisecond.
        let to_ns = nanoseconds(selection.to_ms).saturating_add(999_999);
        let (mut from_ns, mut count) = (nanoseconds(selection.from_ms), 0);
        // What is nowhere near the history is not walked through.
        from_ns = from_ns.max(first_ns.unwrap_or(to_ns).min(to_ns));
        loop {
            let until_ns = to_ns.min(from_ns.saturating_add(READ_AT_ONCE_NS));
            let mut push = |place: usize, reading: Reading| {
                let at_ms = reading.clock().realtime.0.cast_signed() / 1_000_000;
                let value = match reading {
                    Reading::Sample(sample) => sample.value,
                    Reading::End(_) => f64::from_bits(STALE_BITS),
                };
                let points: &mut Vec<Point> = &mut points[place];
                let is_replaced = match (points.last(), selection.step_after) {
                    (Some(_), _) if selection.is_newest => true,
                    (Some(last), Some(step)) => last.at_ms <= at_ms && step.of(last.at_ms) == step.of(at_ms),
                    _ => false,
                };
                if is_replaced {
                    points.pop();
                } else {
                    count += 1;
                }
                points.push(Point { at_ms, value });
            };
            match selection.is_newest {
                true => self.history.read_newest(&names, from_ns, until_ns, &mut push)?,
                false => self.history.read_all(&names, from_ns, until_ns, &mut push)?,
            };
            let Selection { limits, .. } = selection;
            if until_ns >= to_ns || count > limits.most_points || (limits.is_interrupted)() {
                break;
            }
            from_ns = until_ns + 1;
        }
        let series = selected.into_iter().zip(points).filter(|(_, points)| !points.is_empty());
        let series = series.map(|((labels, _), mut points)| {
            // The clock was set, or something was imported.
            if !points.is_sorted_by_key(|point| point.at_ms) {
                points.sort_by_key(|point| point.at_ms);
            }
            // They may be kept.
            points.shrink_to_fit();
            Series { name: labels.clone(), samples: points.into() }
        });
        Ok(series.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::scratch::{Scratch, append};

    #[test]
    fn the_last_name_of_a_container_holds() {
        const ID: &str = "3f2a1b4c5d6e";
        let scratch = Scratch::new("container-names");
        let past = scratch.past(|store| {
            // The names are not in the order of time.
            for (second, name) in [(1, "new"), (2, "old"), (3, "new"), (4, "middle")] {
                let series = format!("{}{{container=\"{name}\",id=\"{ID}\"}}", metrics::CONTAINERS);
                let id = store.series(&series, SeriesKind::Gauge);
                append(store, second * 1000, &[(id, 1.0)]);
            }
        });
        assert_eq!(past.container_names().get(ID).map(|one| one.name.as_str()), Some("middle"));
    }
}
