//! Measurements, for people and as JSON.

use facts::unit::Nanos;
use serde_json::{Value, json};

use crate::measurement::Measurement;
use crate::{Measured, SideMeasured, Spread, Unit};
use text::table::{Align, Table};
use text::units::{Span, push_decimals};

impl Unit {
    /// Describes the quantity of the numbers.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Cpu(unit) => format!("CPU time {unit}"),
            Self::Wall(unit) => format!("time {unit}"),
            Self::Count(unit) => unit.to_owned(),
        }
    }

    /// A number of them.
    pub(crate) fn value(self, value: f64) -> String {
        match self {
            // Below a nanosecond a span says nothing.
            Self::Cpu(_) | Self::Wall(_) if value < 10.0 => {
                let mut text = String::new();
                push_decimals(&mut text, value, 2);
                text + " ns"
            }
            Self::Cpu(_) | Self::Wall(_) => Span(Nanos(value.round() as u64)).to_string(),
            Self::Count(_) => {
                let mut text = String::new();
                push_decimals(&mut text, value, if value < 10.0 { 4 } else { 0 });
                text
            }
        }
    }
}

/// Names of measurements, and what each measures.
pub(crate) fn list(measurements: &[Measurement]) -> String {
    measurements.iter().map(|one| format!("{:<18} {}\n", one.name, one.title)).collect()
}

/// Returns the list as the body of a document.
pub(crate) fn list_json(measurements: &[Measurement]) -> Value {
    let all = measurements.iter().map(|one| json!({ "name": one.name, "title": one.title }));
    json!({ "measurements": all.collect::<Value>() })
}

/// A ratio in three digits.
pub(crate) fn ratio_words(ratio: f64) -> String {
    let digits = match ratio {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    let mut text = String::new();
    push_decimals(&mut text, ratio, digits);
    text
}

/// A table of one measurement.
pub(crate) fn text(measured: &Measured) -> String {
    let mut text = format!("{}: {}\n", measured.name, measured.title);
    let heading = format!("  {}", measured.unit.words());
    let mut table = Table::new(&[
        (&heading, Align::Left),
        ("median", Align::Right),
        ("least", Align::Right),
        ("most", Align::Right),
        ("× whit", Align::Right),
        ("spread", Align::Left),
    ]);
    for SideMeasured { name, ns, ratio } in &measured.sides {
        let value = |value| measured.unit.value(value);
        let cells = match ns {
            Ok(Spread { median, least, most }) => [value(*median), value(*least), value(*most)],
            Err(_) => [(); 3].map(|()| text::ABSENT.to_owned()),
        };
        let spread = match (ns, ratio) {
            (Err((_, reason)), _) => reason.clone(),
            (_, Some(ratio)) => format!("{} to {}", ratio_words(ratio.least), ratio_words(ratio.most)),
            (_, None) => String::new(),
        };
        let ratio = ratio.filter(|_| ns.is_ok()).map_or(String::new(), |ratio| ratio_words(ratio.median));
        let [median, least, most] = cells;
        table.row([format!("  {name}"), median, least, most, ratio, spread]);
    }
    table.write(&mut text);
    text.push('\n');
    text
}

/// The body of a document of one measurement.
pub(crate) fn json(measured: &Measured) -> Value {
    let spread = |spread: &Spread, unit: &str| {
        let figures = [("median", spread.median), ("least", spread.least), ("most", spread.most)];
        figures.map(|(name, value)| (format!("{name}_{unit}"), json!(value))).into_iter().collect::<Value>()
    };
    let sides = measured.sides.iter().map(|SideMeasured { name, ns, ratio }| {
        let mut document =
            json!({ "name": name, "relative": ratio.as_ref().map(|ratio| spread(ratio, "ratio")) });
        let (name, unit) = match measured.unit {
            Unit::Cpu(_) => ("cpu", "ns"),
            Unit::Wall(_) => ("wall", "ns"),
            Unit::Count(_) => ("number", "count"),
        };
        match ns {
            Ok(values) => document[name] = spread(values, unit),
            Err((_, reason)) => document["not_measured"] = json!(reason),
        }
        document
    });
    json!({
        "name": measured.name,
        "title": measured.title,
        "how": measured.how,
        "unit": measured.unit.words(),
        "rounds": measured.rounds,
        "sides": sides.collect::<Vec<Value>>(),
    })
}
