//! Figures in sentences.

use text::plot::Measure;

pub(super) fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

pub(super) fn bytes(value: f64) -> String {
    Measure::Bytes.write(value)
}

/// Packets, switches, pages.
pub(super) fn count(value: f64) -> String {
    format!("{value:.0}")
}

/// How many processes, in words.
pub(super) fn processes(number: f64) -> String {
    match count(number).as_str() {
        "1" => "1 process".to_owned(),
        number => format!("{number} processes"),
    }
}
