//! The existence of something at a path: a VPN's interface, a mounted key, a lock.

use std::time::Duration;

use facts::sample::Absence;
use probe::paths;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput};
use text::printable::Shown as _;
use text::template::Value;

pub(crate) const KIND: Kind = Kind {
    name: "path",
    about: "Whether something is at a path.",
    fields: &[
        field("name", "the segment's name, or the path's last part"),
        field("state", "found, missing or unknown"),
        field("path", "the whole path"),
    ],
    format: "{name} yes",
    variants: &[("state == missing", "{name} no"), ("state == unknown", "{name} ?")],
    interval: Some(Duration::from_secs(5)),
    options: &[("path", "the path")],
    make: |options| {
        let path = options.required_path("path", "\"/path\"")?;
        let last = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = options.text("name")?.unwrap_or(last).to_owned();
        let text = path.shown().to_string();
        let job: Job<Found> = Box::new(move || paths::exists(&path));
        Ok(Box::new(Path { name, path: text, query: Query::new(job) }))
    },
    ..Kind::DEFAULT
};

type Found = Result<bool, Absence>;

struct Path {
    name: String,
    path: String,
    query: Query<Found, Job<Found>>,
}

impl Segment for Path {
    fn tick(&mut self, context: &SegmentContext) {
        self.query.request("path", context);
    }

    fn is_waiting(&self) -> bool {
        self.query.is_waiting()
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        self.query.render(items, |found, items| {
            let state = match found {
                Some(Ok(true)) => "found",
                Some(Ok(false)) => "missing",
                Some(Err(_)) | None => "unknown",
            };
            items.only(&[Value::Text(&self.name), Value::Text(state), Value::Text(&self.path)]);
        });
    }
}
