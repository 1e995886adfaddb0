//! Swap space.

use facts::memory::Swap as SwapSpace;
use facts::source::{Source, Wanted};
use facts::unit::{Bytes, Ratio};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput, Tone};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "swap",
    about: "Swap space; nothing where there is none.",
    fields: &[
        field("used", "in use"),
        field("used_percent", "of the total"),
        field("free", "not in use"),
        field("total", "all there is"),
    ],
    format: "swap {used} {used_percent}",
    thresholds: &[(Tone::Urgent, "used_percent >= 90"), (Tone::Warning, "used_percent >= 60")],
    make: |_| Ok(Box::new(Swap)),
    ..Kind::DEFAULT
};

struct Swap;

impl Segment for Swap {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::MemInfo])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let swap = input.sample.memory.get().ok().and_then(SwapSpace::new);
        let Some(swap) = swap.filter(|swap| swap.total.0 > 0) else { return };
        let bytes = |bytes: Bytes| Value::Number(bytes.0 as f64, Unit::Bytes);
        let share = Value::share(Ratio::of(swap.used.0, swap.total.0));
        items.only(&[bytes(swap.used), share, bytes(swap.free), bytes(swap.total)]);
    }
}
