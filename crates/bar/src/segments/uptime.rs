//! Time since boot.

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "uptime",
    about: "Time since boot, suspends included.",
    fields: &[field("uptime", "12d04h, 3h05m, 2m28s"), field("days", "whole days")],
    format: "up {uptime}",
    make: |_| Ok(Box::new(Uptime)),
    ..Kind::DEFAULT
};

struct Uptime;

impl Segment for Uptime {
    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let seconds = input.sample.clock.boottime.as_secs_f64();
        items.only(&[Value::Number(seconds, Unit::Seconds), Value::count((seconds / 86_400.0) as u64)]);
    }
}
