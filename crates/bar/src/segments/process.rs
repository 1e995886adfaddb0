//! The state of a PID file's process: it lives or not.

use std::time::Duration;

use facts::sample::Absence;
use probe::paths;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "process",
    about: "Whether the process lives whose number stands in a file.",
    fields: &[
        field("name", "the segment's name, or the file's without its ending"),
        field("state", "running, stopped or unknown"),
        field("pid", "its number; absent where it does not run"),
    ],
    format: "{name} yes",
    variants: &[("state == stopped", "{name} no"), ("state == unknown", "{name} ?")],
    interval: Some(Duration::from_secs(5)),
    options: &[("pid_file", "the file; one * may stand in its name")],
    make: |options| {
        let path = options.required_path("pid_file", "\"/run/program.pid\"")?;
        let stem = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let name = options.text("name")?.unwrap_or(stem).to_owned();
        let job: Job<Living> = Box::new(move || paths::living_process(&path));
        Ok(Box::new(Process { name, query: Query::new(job) }))
    },
    ..Kind::DEFAULT
};

type Living = Result<Option<u32>, Absence>;

struct Process {
    name: String,
    query: Query<Living, Job<Living>>,
}

impl Segment for Process {
    fn tick(&mut self, context: &SegmentContext) {
        self.query.request("process", context);
    }

    fn is_waiting(&self) -> bool {
        self.query.is_waiting()
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        self.query.render(items, |living, items| {
            let (state, pid) = match living {
                Some(Ok(Some(pid))) => ("running", Some(*pid)),
                Some(Ok(None)) => ("stopped", None),
                Some(Err(_)) | None => ("unknown", None),
            };
            let pid = Value::number_of(pid.map(f64::from), Unit::Count);
            items.only(&[Value::Text(&self.name), Value::Text(state), pid]);
        });
    }
}
