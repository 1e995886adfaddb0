//! The run queue's averages.

use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::options::SegmentOptions as _;
use crate::{Segment, SegmentInput, Tone};
use std::time::Duration;
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "load",
    about: "Tasks that run, wait for a CPU or for I/O, averaged.",
    fields: &[
        field("load1", "over a minute"),
        field("load5", "over five minutes"),
        field("load15", "over a quarter of an hour"),
        field("per_cpu", "over a minute, for each CPU online"),
        field("runnable", "tasks that run or could, now"),
        field("tasks", "threads there are"),
    ],
    format: "load {load1}",
    thresholds: &[(Tone::Warning, "per_cpu > 2")],
    // The kernel itself reckons anew every five seconds.
    interval: Some(Duration::from_secs(5)),
    make: |options| {
        // The built-in threshold is on it, unless another takes its place.
        let with_cpus = options.mentions(KIND.format, &["per_cpu"]) || options.get("warning").is_none();
        Ok(Box::new(Load { with_cpus }))
    },
    ..Kind::DEFAULT
};

struct Load {
    with_cpus: bool,
}

impl Segment for Load {
    fn wanted(&self) -> Wanted {
        let wanted = Wanted::from([Source::LoadAverage]);
        if self.with_cpus { wanted.with(Source::Stat) } else { wanted }
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(load) = input.sample.load.get() else { return };
        let averages = load.averages();
        let cpus = input.sample.stat.get().ok().map(|stat| stat.cpus.len() as f64).filter(|cpus| *cpus > 0.0);
        let [load1, load5, load15] = averages.map(|average| Value::Number(average, Unit::Plain(2)));
        items.only(&[
            load1,
            load5,
            load15,
            Value::number_of(cpus.map(|cpus| averages[0] / cpus), Unit::Plain(2)),
            Value::count(load.runnable_tasks),
            Value::count(load.tasks),
        ]);
    }
}
