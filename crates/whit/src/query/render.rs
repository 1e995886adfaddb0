//! Answers as text.

use std::fmt::Write as _;

use ::history::answer::written;
use ::query::number::write_in_full;
use ::query::{Answer, Point};
use text::printable::Shown as _;
use text::table::{Align, Table};

use command::time_zone;

/// Appends a table: of an instant a line a series; over time a column a series if these are few, otherwise a line a sample.
pub(super) fn push_text(answer: &Answer, text: &mut String) {
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
                table.cell(|cell| cell.push_str(&write_in_full(point.value)));
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
                    table.cell(|cell| cell.push_str(&write_in_full(point.value)));
                    table.cell(|cell| cell.push_str(&written(name)));
                }
            }
            table.write(text);
        }
    }
}

fn time(point: Point) -> String {
    time_zone::written(point.at_ms.saturating_mul(1_000_000))
}
