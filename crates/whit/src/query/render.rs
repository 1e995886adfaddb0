//! Answers as text.

use std::fmt::Write as _;

use ::history::answer::written;
use ::query::number::write_in_full;
use ::query::{Answer, Point};
use text::plot::Measure;
use text::printable::Shown as _;
use text::table::{Align, Table};

use command::time_zone;

/// Above this not every whole number is one of a double.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Appends a table with rounded values: of an instant a line a series; over time a column a series if these are few, otherwise a line a sample.
pub(super) fn push_text(answer: &Answer, measure: Measure, text: &mut String) {
    match answer {
        Answer::Scalar(point) => {
            let _ = writeln!(text, "{}", write_in_full(point.value));
        }
        Answer::Text(value) => {
            let _ = writeln!(text, "{}", value.shown());
        }
        Answer::Vector(series) if series.is_empty() => text.push_str("no series\n"),
        Answer::Vector(series) => {
            let mut table = Table::new(&[("VALUE", Align::Right), ("SERIES", Align::Left)]);
            for (name, point) in series {
                table.cell(|cell| cell.push_str(&value(*point, measure)));
                table.cell(|cell| cell.push_str(&written(name)));
            }
            table.write(text);
        }
        Answer::Matrix(series) if series.is_empty() => text.push_str("no series\n"),
        Answer::Matrix(series) => {
            let mut table =
                Table::new(&[("TIME", Align::Left), ("VALUE", Align::Right), ("SERIES", Align::Left)]);
            for (name, points) in series {
                for point in points {
                    table.cell(|cell| cell.push_str(&time(*point)));
                    table.cell(|cell| cell.push_str(&value(*point, measure)));
                    table.cell(|cell| cell.push_str(&written(name)));
                }
            }
            table.write(text);
        }
    }
}

/// A value in its unit. Whole numbers without one are often counts: they are in full.
fn value(point: Point, measure: Measure) -> String {
    match (measure, point.value.fract() == 0.0 && point.value.abs() < MOST_EXACT) {
        (Measure::Number, true) => write_in_full(point.value),
        _ => measure.write(point.value),
    }
}

fn time(point: Point) -> String {
    time_zone::written(point.at_ms.saturating_mul(1_000_000))
}
