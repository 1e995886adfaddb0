//! Plots of values over time: for terminals in braille, and as SVG.

mod axis;
mod braille;
mod svg;
mod time_axis;

pub use axis::{Axis, Measure, Unit};
pub use braille::push_braille;
pub use svg::{COLORS, push_svg};
pub use time_axis::{TimeForm, TimeTicks};

/// Values of several series over one time.
pub struct Plot<'p> {
    /// The text that stands above it.
    pub title: &'p str,
    /// The series, in the order in which they are drawn and listed.
    pub lines: &'p [PlotLine],
    /// The time, in milliseconds since 1970.
    pub from_ms: i64,
    /// Its end.
    pub to_ms: i64,
    /// From one value to the next: where one is missing the line is interrupted.
    pub step_ms: i64,
    /// The kind of the values.
    pub measure: Measure,
    /// A time as it is written, in milliseconds since 1970.
    pub write_time: &'p dyn Fn(i64, TimeForm) -> String,
    /// How far local time is ahead of UTC, in milliseconds.
    pub offset_ms: i64,
}

/// One series of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotLine {
    /// Its name.
    pub name: String,
    /// Its values, by time in milliseconds since 1970.
    pub points: Vec<(i64, f64)>,
}

/// Names of lines: `a` to `z`.
pub const MAX_LINES: usize = 26;

/// The letter of a line.
pub fn letter(place: usize) -> char {
    char::from(b'a' + (place % MAX_LINES) as u8)
}

impl Plot<'_> {
    /// The axis of the values, with at most so many ticks.
    pub fn value_axis(&self, most_ticks: usize) -> Axis {
        let values = self.lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > most {
            Axis::new(0.0, 1.0, self.measure, most_ticks)
        } else {
            Axis::new(least, most, self.measure, most_ticks)
        }
    }

    /// The ticks of the time, at most so many.
    pub fn time_ticks(&self, most_ticks: usize) -> TimeTicks {
        TimeTicks::new([self.from_ms, self.to_ms], self.offset_ms, most_ticks)
    }

    /// A time as a part of the whole, from 0 to 1.
    pub fn part_of_time(&self, at_ms: i64) -> f64 {
        (at_ms - self.from_ms) as f64 / (self.to_ms - self.from_ms).max(1) as f64
    }

    /// The pieces of a line that are not interrupted, as parts of the time and of an axis.
    pub fn pieces(&self, line: &PlotLine, axis: &Axis) -> Vec<Vec<(f64, f64)>> {
        let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut last_ms = None;
        for (at_ms, value) in &line.points {
            if !value.is_finite() {
                last_ms = None;
                continue;
            }
            // A step and a half: the times of values are rounded.
            let is_next = last_ms.is_some_and(|last| at_ms - last <= self.step_ms + self.step_ms / 2);
            if !is_next {
                pieces.push(Vec::new());
            }
            last_ms = Some(*at_ms);
            if let Some(piece) = pieces.last_mut() {
                piece.push((self.part_of_time(*at_ms), axis.part(*value)));
            }
        }
        pieces
    }
}
