//! How fast the CPUs run.

use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput};
use std::time::Duration;
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "frequency",
    about: "How fast the CPUs run.",
    fields: &[
        field("average", "of all CPUs"),
        field("highest", "of the fastest"),
        field("lowest", "of the slowest"),
    ],
    format: "{average}",
    interval: Some(Duration::from_secs(2)),
    options: &[("cpu", "one CPU by its number, from 0")],
    make: |options| {
        Ok(Box::new(Frequency { cpu: options.number("cpu", 0.0, 65_535.0)?.map(|cpu| cpu as usize) }))
    },
    ..Kind::DEFAULT
};

struct Frequency {
    /// All, if none is named.
    cpu: Option<usize>,
}

impl Segment for Frequency {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::Frequency])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(frequencies) = input.sample.frequencies_khz.get() else { return };
        let hertz = |kilohertz: u64| kilohertz as f64 * 1e3;
        let chosen = match self.cpu {
            Some(cpu) => frequencies.get(cpu).map_or(&[][..], std::slice::from_ref),
            None => frequencies.as_slice(),
        };
        if chosen.is_empty() {
            return;
        }
        let all = chosen.iter().copied().map(hertz);
        let average = all.clone().sum::<f64>() / chosen.len() as f64;
        let (highest, lowest) = (all.clone().reduce(f64::max), all.reduce(f64::min));
        let value = |hertz| Value::number_of(hertz, Unit::Hertz);
        items.only(&[value(Some(average)), value(highest), value(lowest)]);
    }
}
