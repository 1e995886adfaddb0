//! Answers over time as plots: the same for terminals, files and the page.

mod measure;

use formats::series_name::SeriesName;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use query::{Answer, Point};
use text::plot::{MAX_LINES, Plot, PlotLine, TimeForm};
use text::printable::Shown as _;

pub use measure::of as measure_of;

/// An answer that can be drawn.
#[derive(Clone, Debug)]
pub struct Drawing {
    expression: String,
    /// From when to when, and from one value to the next, in milliseconds.
    times: [i64; 3],
    lines: Vec<PlotLine>,
    /// Series for which there was no more room.
    pub beyond: usize,
    zone: TimeZone,
}

impl Drawing {
    /// Creates the drawing of the answer to an expression, with times in a zone. `None`: it is no answer over time.
    pub fn new(expression: &str, answer: Answer, times: [i64; 3], zone: TimeZone) -> Option<Self> {
        let Answer::Matrix(series) = answer else { return None };
        let mut lines: Vec<PlotLine> = series.into_iter().map(line).collect();
        // Those with the highest means first.
        lines.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let beyond = lines.len().saturating_sub(MAX_LINES);
        lines.truncate(MAX_LINES);
        Some(Self { expression: expression.to_owned(), times, lines, beyond, zone })
    }

    /// Returns whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Draws it.
    pub fn draw<T>(&self, draw: impl FnOnce(&Plot<'_>) -> T) -> T {
        let write_time = |at_ms: i64, form: TimeForm| {
            timestamp(at_ms).to_zoned(self.zone.clone()).strftime(form.format()).to_string()
        };
        let [from_ms, to_ms, step_ms] = self.times;
        let span = [from_ms, to_ms].map(|at_ms| write_time(at_ms, TimeForm::Whole)).join(" to ");
        draw(&Plot {
            title: &format!("{}   {span}", self.expression.shown()),
            lines: &self.lines,
            from_ms,
            to_ms,
            step_ms,
            measure: measure_of(&self.expression),
            write_time: &write_time,
            offset_ms: i64::from(self.zone.to_offset(timestamp(to_ms)).seconds()) * 1000,
        })
    }
}

fn timestamp(at_ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at_ms).unwrap_or_default()
}

fn line((name, points): (SeriesName, Vec<Point>)) -> PlotLine {
    let name = name.to_string();
    PlotLine {
        name: if name.is_empty() { "{}".to_owned() } else { name.shown().to_string() },
        points: points.iter().map(|point| (point.at_ms, point.value)).collect(),
    }
}

fn mean(line: &PlotLine) -> f64 {
    let values = line.points.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
    values.sum::<f64>() / line.points.len().max(1) as f64
}
