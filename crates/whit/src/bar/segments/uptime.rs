//! Time since boot.

use super::field;
use crate::bar::kind::Kind;
use crate::bar::look::Items;
use crate::bar::{Scene, Segment};
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
    fn say(&mut self, scene: &Scene<'_>, items: &mut Items<'_>) {
        let seconds = scene.sample.clock.boottime.as_secs_f64();
        items.only(&[Value::Number(seconds, Unit::Seconds), Value::count((seconds / 86_400.0) as u64)]);
    }
}
