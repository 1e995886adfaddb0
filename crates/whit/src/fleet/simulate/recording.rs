//! What this machine recorded, as others might have: from another moment on, with other rates, again and again.

use std::collections::BTreeSet;
use std::path::Path;

use formats::series_name::SeriesName;
use store::{History, Reading, SeriesKind, StoreError};

/// So much of the history is repeated. A store compresses what comes again and again better than what a machine records.
const SPAN_NS: i64 = 3_600_000_000_000;

/// The samples of all series at the last ticks.
pub(super) struct Recording {
    series: Vec<Recorded>,
    ticks_count: usize,
    /// From one tick to the next, on average.
    step_ns: i64,
}

struct Recorded {
    name: SeriesName,
    /// By tick; `None`: it was not there.
    values: Vec<Option<f64>>,
    /// The growth of a counter from the first value to the last; `None` if it is not a counter.
    growth: Option<f64>,
}

/// A simulated machine.
pub(super) struct Machine {
    name: String,
    /// The tick with which it begins.
    first: usize,
    /// So much of what was counted here is counted there: never more, since a CPU has no more than a second in each.
    factor: f64,
}

impl Machine {
    pub(super) fn new(number: usize, recording: &Recording) -> Self {
        // Neighbours differ, and each is the same in every run.
        let spread = |step: usize, count: usize| (number * step) % count.max(1);
        Self {
            name: format!("simulated-{number:05}"),
            first: spread(61, recording.ticks_count),
            factor: 1.0 - spread(37, 100) as f64 / 125.0,
        }
    }
}

impl Recording {
    /// Reads the newest part of a history; `None`: it has fewer than two ticks.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, StoreError> {
        let history = History::open(path)?;
        let Some((_, last_ns)) = history.extent()?.realtime_ns else { return Ok(None) };
        let known = history.series();
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let mut found: Vec<Vec<(i64, f64)>> = vec![Vec::new(); names.len()];
        history.read_all(&names, last_ns - SPAN_NS, last_ns, |place, reading| {
            if let Reading::Sample(sample) = reading {
                found[place].push((sample.clock.realtime.0.cast_signed(), sample.value));
            }
        })?;
        let ticks: BTreeSet<i64> = found.iter().flatten().map(|(at_ns, _)| *at_ns).collect();
        let ticks: Vec<i64> = ticks.into_iter().collect();
        let (Some(first_ns), Some(last_ns), 2..) = (ticks.first(), ticks.last(), ticks.len()) else {
            return Ok(None);
        };
        let series = known.iter().zip(found).filter(|(_, samples)| !samples.is_empty()).filter_map(
            |((name, kind), samples)| {
                let mut values = vec![None; ticks.len()];
                for (at_ns, value) in samples {
                    if let Ok(tick) = ticks.binary_search(&at_ns) {
                        values[tick] = Some(value);
                    }
                }
                Some(Recorded::new(SeriesName::parse(name).ok()?, *kind, values))
            },
        );
        let step_ns = (last_ns - first_ns) / (ticks.len() as i64 - 1);
        Ok(Some(Self { series: series.collect(), ticks_count: ticks.len(), step_ns }))
    }

    /// The number of series of a machine.
    pub(super) fn series_count(&self) -> usize {
        self.series.len()
    }

    /// The samples of a machine at these instants, in milliseconds since 1970. They are `interval_ns` apart, and there were `number` others
    /// before the first.
    pub(super) fn samples(
        &self,
        machine: &Machine,
        number: usize,
        times_ms: &[i64],
        interval_ns: i64,
    ) -> Vec<(SeriesName, Vec<(i64, f64)>)> {
        let stride =
            usize::try_from((interval_ns + self.step_ns / 2) / self.step_ns.max(1)).unwrap_or(1).max(1);
        let tick = |index: usize| machine.first + (number + index) * stride;
        let of = |series: &Recorded| {
            let mut name = series.name.clone();
            for (label, value) in [("instance", machine.name.as_str()), ("job", "whit"), ("env", "simulated")]
            {
                name.set(label, value);
            }
            let values = times_ms
                .iter()
                .enumerate()
                .filter_map(|(index, at_ms)| Some((*at_ms, series.value(tick(index), machine.factor)?)));
            (name, values.collect())
        };
        self.series.iter().map(of).filter(|(_, samples): &(_, Vec<_>)| !samples.is_empty()).collect()
    }
}

impl Recorded {
    fn new(name: SeriesName, kind: SeriesKind, values: Vec<Option<f64>>) -> Self {
        let mut there = values.iter().flatten();
        let ends = there.next().map(|first| (first, there.next_back().unwrap_or(first)));
        let growth = ends.filter(|_| kind == SeriesKind::Counter).map(|(first, last)| last - first);
        Self { name, values, growth }
    }

    /// The value at a tick, also after the last one: then it begins anew, and what counts goes on.
    fn value(&self, tick: usize, factor: f64) -> Option<f64> {
        let (rounds, tick) = (tick / self.values.len(), tick % self.values.len());
        let value = self.values[tick]?;
        Some(self.growth.map_or(value, |growth| (value + rounds as f64 * growth) * factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let recorded = |name: &str, kind, values: &[Option<f64>]| {
            Recorded::new(SeriesName::parse(name).unwrap(), kind, values.into())
        };
        Recording {
            series: vec![
                recorded("a_total", SeriesKind::Counter, &[Some(10.0), Some(12.0), Some(16.0)]),
                recorded("b", SeriesKind::Gauge, &[Some(1.0), None, Some(3.0)]),
            ],
            ticks_count: 3,
            step_ns: 1_000_000_000,
        }
    }

    #[test]
    fn counters_go_on_and_gauges_come_again() {
        let recording = recording();
        let machine = Machine { name: "m".to_owned(), first: 1, factor: 0.5 };
        let samples = recording.samples(&machine, 0, &[0, 1000, 2000, 3000], 1_000_000_000);
        assert_eq!(samples[0].0.to_string(), "a_total{env=\"simulated\",instance=\"m\",job=\"whit\"}");
        assert_eq!(samples[0].1, [(0, 6.0), (1000, 8.0), (2000, 8.0), (3000, 9.0)]);
        assert_eq!(samples[1].1, [(1000, 3.0), (2000, 1.0)]);
        // The next request goes on where this one ended; a longer interval takes every second tick.
        assert_eq!(recording.samples(&machine, 4, &[4000], 1_000_000_000)[0].1, [(4000, 11.0)]);
        assert_eq!(recording.samples(&machine, 1, &[2000], 2_000_000_000)[0].1, [(2000, 8.0)]);
    }

    #[test]
    fn machines_differ() {
        let recording = recording();
        let factors: BTreeSet<u64> =
            (0..100).map(|number| Machine::new(number, &recording).factor.to_bits()).collect();
        assert_eq!(factors.len(), 100);
    }
}
