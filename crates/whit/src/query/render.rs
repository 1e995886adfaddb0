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
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// From here on three digits would leave out whole ones.
const MIN_WHOLE: f64 = 1000.0;

/// Appends a table with rounded values: of an instant a line a series; over time a column a series if these are few, otherwise a line a sample.
pub(super) fn push_text(answer: &Answer, measure: Measure, text: &mut String) {
    match answer {
        Answer::Scalar(point) => {
            let _ = writeln!(text, "{}", value(point.value, measure));
        }
        Answer::Text(answer) => {
            let _ = writeln!(text, "{}", answer.shown());
        }
        Answer::Vector(series) if series.is_empty() => text.push_str("no series\n"),
        Answer::Vector(series) => {
            let mut table = Table::new(&[("VALUE", Align::Right), ("SERIES", Align::Left)]);
            for (name, point) in series {
                table.cell(|cell| cell.push_str(&value(point.value, measure)));
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
                    table.cell(|cell| cell.push_str(&value(point.value, measure)));
                    table.cell(|cell| cell.push_str(&written(name)));
                }
            }
            table.write(text);
        }
    }
}

/// A value in its unit. A large one without a unit is often a count or a time: its whole part is in full.
fn value(value: f64, measure: Measure) -> String {
    let is_exact = value.abs() < MAX_EXACT;
    match measure {
        _ if !value.is_finite() => write_in_full(value),
        Measure::Number if is_exact && value.fract() == 0.0 => write_in_full(value),
        Measure::Number if is_exact && value.abs() >= MIN_WHOLE => write_in_full(value.round()),
        Measure::Number if !is_exact => format!("{value:e}"),
        _ => measure.write(value),
    }
}

fn time(point: Point) -> String {
    time_zone::written(point.at_ms.saturating_mul(1_000_000))
}
