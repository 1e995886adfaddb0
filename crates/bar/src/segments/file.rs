//! The contents of a file.

use std::path::Path;
use std::time::Duration;

use facts::sample::Absence;
use probe::paths;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput};
use text::printable::Shown as _;
use text::template::{Unit, Value};

/// More does not fit into a bar.
const MAX_BYTES: usize = 4096;

pub(crate) const KIND: Kind = Kind {
    name: "file",
    about: "The first line of a file.",
    fields: &[
        field("text", "the line, without blanks around it"),
        field("number", "the line, where it is a number"),
        field("path", "the file's"),
        field("state", "found, missing, denied or unreadable"),
    ],
    format: "{text}",
    interval: Some(Duration::from_secs(5)),
    options: &[("path", "the file")],
    make: |options| {
        let path = options.required_path("path", "\"/path/to/file\"")?;
        let name = path.shown().to_string();
        let read: Job<Contents> = Box::new(move || contents(&path));
        Ok(Box::new(File { path: name, query: Query::new(read) }))
    },
    ..Kind::DEFAULT
};

/// The line, and its number.
type Contents = Result<(String, Option<f64>), Absence>;

struct File {
    path: String,
    query: Query<Contents, Job<Contents>>,
}

fn contents(path: &Path) -> Contents {
    let bytes = paths::read_start(path, MAX_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let number = line.parse().ok().filter(|number: &f64| number.is_finite());
    Ok((line.to_owned(), number))
}

impl Segment for File {
    fn tick(&mut self, context: &SegmentContext) {
        self.query.request("file", context);
    }

    fn is_waiting(&self) -> bool {
        self.query.is_waiting()
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        self.query.render(items, |contents, items| {
            let (text, number, state) = match contents {
                None => (Value::Absent, None, Value::Absent),
                Some(Ok((text, number))) => (Value::text(text), *number, Value::Text("found")),
                Some(Err(Absence::Gone)) => (Value::Absent, None, Value::Text("missing")),
                Some(Err(Absence::Denied)) => (Value::Absent, None, Value::Text("denied")),
                Some(Err(_)) => (Value::Absent, None, Value::Text("unreadable")),
            };
            let digits = number.map_or(0, |number| if number.fract() == 0.0 { 0 } else { 2 });
            let number = Value::number_of(number, Unit::Plain(digits));
            items.only(&[text, number, Value::Text(&self.path), state]);
        });
    }
}
