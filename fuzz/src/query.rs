//! Any text as an expression, evaluated over a few series.

use query::{Limits, Point, Query, Selection, Series, Source};

struct Few(Vec<Series>);

impl Source for Few {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        Ok(self.0.iter().filter(|series| selection.is_met_by(&series.name)).cloned().collect())
    }
}

/// Ignores bytes that are not UTF-8.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(query) = Query::parse(text) else { return };
    let series = ["a", "a{b=\"c\"}", "a_bucket{le=\"1\"}", "a_bucket{le=\"+Inf\"}"].into_iter().enumerate();
    let series = series.map(|(number, name)| {
        let point = |tick: i64| Point { at_ms: tick * 15_000, value: (tick * number as i64) as f64 };
        Series {
            name: formats::series_name::SeriesName::parse(name).expect("a series"),
            samples: (0..40).map(point).collect(),
        }
    });
    let source = Few(series.collect());
    let limits = Limits { most_points: 10_000, ..Limits::default() };
    let _ = query.at(&source, 300_000, &limits);
    let _ = query.between(&source, [0, 600_000], 60_000, &limits);
}
