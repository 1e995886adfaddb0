//! Stalls: time that tasks were held up for want of something.

use facts::linux::pressure::{Pressure as Stalls, Stall};
use facts::sample::Reading;
use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput, Tone};
use std::time::Duration;
use text::template::Value;

pub(crate) const KIND: Kind = Kind {
    name: "pressure",
    about: "Share of the last ten seconds in which some task, or all, were held up for want of something.",
    fields: &[
        field("cpu", "some task waited for a CPU, per cent"),
        field("io", "some task waited for I/O, per cent"),
        field("memory", "some task waited for memory, per cent"),
        field("io_full", "all tasks that had work waited for I/O, per cent"),
        field("memory_full", "all tasks that had work waited for memory, per cent"),
        field("irq_full", "interrupts held all tasks up, per cent; Linux 6.1"),
    ],
    format: "stall cpu {cpu} io {io} mem {memory}",
    thresholds: &[(Tone::Urgent, "memory_full >= 20"), (Tone::Warning, "memory >= 20")],
    // The kernel itself reckons anew every two seconds.
    interval: Some(Duration::from_secs(2)),
    make: |_| Ok(Box::new(Pressure)),
    ..Kind::DEFAULT
};

struct Pressure;

impl Segment for Pressure {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::PressureCpu, Source::PressureIo, Source::PressureMemory, Source::PressureIrq])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let pressure = &input.sample.pressure;
        let value = |reading: &Reading<Stalls>, line: fn(&Stalls) -> Option<Stall>| {
            let stall = reading.get().ok().and_then(line);
            stall.map_or(Value::Absent, |stall| Value::percent(stall.average_thousandths[0] as f64 / 1e3))
        };
        let values = [
            value(&pressure.cpu, |stalls| stalls.some),
            value(&pressure.io, |stalls| stalls.some),
            value(&pressure.memory, |stalls| stalls.some),
            value(&pressure.io, |stalls| stalls.full),
            value(&pressure.memory, |stalls| stalls.full),
            value(&pressure.irq, |stalls| stalls.full),
        ];
        // A kernel without any says nothing.
        if values.iter().any(|value| !value.is_absent()) {
            items.only(&values);
        }
    }
}
