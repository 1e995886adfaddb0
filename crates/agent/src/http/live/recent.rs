//! The series of the last ticks, in memory, as long as a page watches and a little longer: an expression over a few seconds needs no history.

use std::collections::{HashMap, VecDeque};

use facts::container::ContainerNames;
use formats::series_name::SeriesName;
use query::{Point, STALE_BITS, Selection, Series, Source};

use history::metrics;

/// Ticks are kept for so long, and so many: rates over half a minute, at ten ticks a second.
pub(super) const MAX_MS: i64 = 32_000;
const MAX_TICKS: usize = 330;
/// Names of series that are gone from all ticks are forgotten when there are so many: containers come and go while a page is open for days.
const MAX_GONE: usize = 1000;
/// So many names are looked at before it is asked whether that takes too long.
const NAMES_AT_ONCE: usize = 64;

/// The last ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    places: HashMap<String, usize>,
    names: Vec<SeriesName>,
    /// What these say of containers.
    containers: ContainerNames,
    /// When they were, in milliseconds since 1970, and the values by the place of their names.
    ticks: VecDeque<(i64, Vec<f64>)>,
    /// When names were forgotten last, in milliseconds since 1970.
    forgot_ms: i64,
}

impl Recent {
    /// Takes a tick.
    pub(super) fn push<'s>(&mut self, at_ms: i64, series: impl Iterator<Item = (&'s str, f64)>) {
        let mut values = Vec::new();
        while let Some((first_ms, _)) = self.ticks.front() {
            if self.ticks.len() < MAX_TICKS && at_ms - first_ms < MAX_MS {
                break;
            }
            values = self.ticks.pop_front().unwrap_or_default().1;
        }
        values.clear();
        values.resize(self.names.len(), f64::from_bits(STALE_BITS));
        let mut present = 0;
        for (name, value) in series {
            present += 1;
            match self.places.get(name) {
                Some(place) => values[*place] = value,
                None => {
                    self.places.insert(name.to_owned(), self.names.len());
                    let parsed = SeriesName::parse(name).unwrap_or_default();
                    metrics::name_container(&parsed, &mut self.containers);
                    self.names.push(parsed);
                    values.push(value);
                }
            }
        }
        self.ticks.push_back((at_ms, values));
        // Before that nothing more is gone from all ticks.
        if self.names.len() > present + MAX_GONE && at_ms - self.forgot_ms >= MAX_MS {
            self.forget_gone();
            self.forgot_ms = at_ms;
        }
    }

    fn forget_gone(&mut self) {
        let is_there = |place: &usize| {
            let of_tick = |(_, values): &(i64, Vec<f64>)| values.get(*place).map(|value| value.to_bits());
            self.ticks.iter().filter_map(of_tick).any(|bits| bits != STALE_BITS)
        };
        let kept: Vec<usize> = (0..self.names.len()).filter(is_there).collect();
        let stale = f64::from_bits(STALE_BITS);
        for (_, values) in &mut self.ticks {
            *values = kept.iter().map(|place| values.get(*place).copied().unwrap_or(stale)).collect();
        }
        self.names = kept.iter().map(|place| std::mem::take(&mut self.names[*place])).collect();
        self.containers = ContainerNames::default();
        self.names.iter().for_each(|name| metrics::name_container(name, &mut self.containers));
        self.places.retain(|_, place| {
            let new = kept.binary_search(place);
            *place = new.unwrap_or(0);
            new.is_ok()
        });
    }

    /// The names of containers.
    pub(super) fn container_names(&self) -> &ContainerNames {
        &self.containers
    }

    /// The time of the last tick, in milliseconds since 1970.
    pub(super) fn last_ms(&self) -> Option<i64> {
        self.ticks.back().map(|(at_ms, _)| *at_ms)
    }

    /// Returns the part of them that may be seen: not what all tasks did together, unless all are seen.
    pub(super) fn seen_by(&self, sees_all: bool) -> Seen<'_> {
        Seen { recent: self, sees_all }
    }

    fn points(&self, place: usize, selection: &Selection<'_>) -> Vec<Point> {
        let times = selection.from_ms..=selection.to_ms;
        let values = self.ticks.iter().filter(|(at_ms, _)| times.contains(at_ms));
        let points =
            values.filter_map(|(at_ms, values)| Some(Point { at_ms: *at_ms, value: *values.get(place)? }));
        match selection.is_newest {
            true => points.rev().take(1).collect(),
            false => points.collect(),
        }
    }
}

/// The part of the last ticks that a user may see.
#[derive(Debug)]
pub(super) struct Seen<'r> {
    recent: &'r Recent,
    sees_all: bool,
}

/// A series that came later or is gone has marks where it is not there.
impl Source for Seen<'_> {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let is_seen = |name: &SeriesName| self.sees_all || !metrics::RESTRICTED.contains(&name.metric());
        let mut series = Vec::new();
        for (place, name) in self.recent.names.iter().enumerate() {
            // Patterns can take long.
            if place % NAMES_AT_ONCE == 0 && (selection.limits.is_interrupted)() {
                return Err("it takes too long".to_owned());
            }
            if selection.is_met_by(name) && is_seen(name) {
                let points = self.recent.points(place, selection);
                series.push(Series { name: name.clone(), samples: points.into() });
            }
        }
        Ok(series)
    }
}

#[cfg(test)]
mod tests {
    use query::{Answer, Limits, Query};

    use super::*;

    fn ask(recent: &Recent, expression: &str, at_ms: i64) -> Vec<(String, f64)> {
        match Query::parse(expression).unwrap().at(&recent.seen_by(true), at_ms, &Limits::default()).unwrap()
        {
            Answer::Vector(series) => {
                series.into_iter().map(|(name, point)| (name.to_string(), point.value)).collect()
            }
            answer => panic!("{answer:?}"),
        }
    }

    #[test]
    fn what_is_gone_for_long_is_forgotten() {
        let mut recent = Recent::default();
        for second in 0..5000 {
            let name = format!("a{{b=\"{second}\"}}");
            let series = [("c_total", f64::from(second)), (name.as_str(), 1.0)];
            recent.push(i64::from(second) * 1000, series.into_iter());
        }
        assert!(recent.names.len() < 1200 && recent.places.len() == recent.names.len());
        let rate = ask(&recent, "rate(c_total[10s])", 4_999_000);
        assert_eq!(rate, [(String::new(), 1.0)]);
        assert_eq!(ask(&recent, "count(a)", 4_999_000), [(String::new(), 1.0)]);
    }

    #[test]
    fn rates_are_those_of_the_last_ticks() {
        let mut recent = Recent::default();
        for second in 0..100 {
            let a = ("a_total", second as f64 * 2.0);
            let b = (second % 50 > 40).then_some(("b{c=\"d\"}", 1.0));
            recent.push(second * 1000, std::iter::once(a).chain(b));
        }
        assert_eq!(recent.ticks.len(), 32);
        assert_eq!(ask(&recent, "rate(a_total[4s])", 99_000), [(String::new(), 2.0)]);
        assert_eq!(ask(&recent, "b", 99_000), [("b{c=\"d\"}".to_owned(), 1.0)]);
        assert_eq!(ask(&recent, "b", 85_000), []);
        assert_eq!(ask(&recent, "count_over_time(b[32s])", 99_000), [("{c=\"d\"}".to_owned(), 9.0)]);
    }
}
