//! Space left on filesystems.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use facts::sample::Filesystem;
use facts::source::{Source, Wanted};
use facts::unit::{Bytes, Ratio};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput, Tone};
use text::printable::Shown as _;
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "disk",
    about: "Space of filesystems; one that does not answer is shown as stale.",
    fields: &[
        field("path", "as it was asked for"),
        field("available", "free for everyone"),
        field("available_percent", "of the size"),
        field("free", "root's reserve included"),
        field("used", "size − free"),
        field("used_percent", "of what everyone could use"),
        field("total", "size"),
        field("free_inodes_percent", "absent where they are made as needed"),
        field("filesystem", "ext4, nfs4 …"),
        field("free_percent", "of the size, root's reserve included"),
        field("size_used_percent", "size − free, of the size"),
        field("unavailable_percent", "size − available, of the size"),
        field("mounted", "yes, or no where the path is a directory of another filesystem"),
    ],
    format: "{path} {available} free",
    thresholds: &[(Tone::Urgent, "available_percent < 4"), (Tone::Warning, "available_percent < 10")],
    interval: Some(Duration::from_secs(5)),
    options: &[("paths", "a path, or several: whose filesystems to show; \"/\"")],
    make: |options| {
        let mut paths = options.paths("paths")?;
        if paths.is_empty() {
            paths.push("/".into());
        }
        if let Some(path) = paths.iter().find(|path| !path.is_absolute()) {
            let message = format!("\"{}\" is not absolute", path.shown());
            return Err(options.fault_of("paths", message));
        }
        Ok(Box::new(Disk { paths, path: String::new(), filesystem: String::new() }))
    },
    ..Kind::DEFAULT
};

struct Disk {
    paths: Vec<PathBuf>,
    path: String,
    filesystem: String,
}

impl Segment for Disk {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::Filesystems])
    }

    fn filesystems(&self) -> &[PathBuf] {
        &self.paths
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(filesystems) = input.sample.filesystems.get() else { return };
        let mut is_stale = false;
        for path in &self.paths {
            let target = path.as_os_str().as_bytes();
            let Some(found) = filesystems.iter().find(|found| found.mount.target == target) else { continue };
            is_stale |= found.is_stale;
            set_lossy(&mut self.path, target);
            set_lossy(&mut self.filesystem, &found.mount.filesystem);
            items.named(&self.path, &values(found, &self.path, &self.filesystem));
        }
        if is_stale {
            items.stale();
        }
    }
}

fn values<'a>(found: &Filesystem, path: &'a str, filesystem: &'a str) -> [Value<'a>; 13] {
    let space = found.space;
    let bytes = |bytes: Option<Bytes>| Value::number_of(bytes.map(|bytes| bytes.0 as f64), Unit::Bytes);
    let used = space.map(|space| space.total.saturating_sub(space.free));
    // As df reckons: the reserve is neither used nor available.
    let usable = space.zip(used).map(|(space, used)| (used, used + space.available));
    [
        Value::Text(path),
        bytes(space.map(|space| space.available)),
        Value::share(space.and_then(|space| Ratio::of(space.available.0, space.total.0))),
        bytes(space.map(|space| space.free)),
        bytes(used),
        Value::share(usable.and_then(|(used, usable)| Ratio::of(used.0, usable.0))),
        bytes(space.map(|space| space.total)),
        Value::share(space.and_then(|space| Ratio::of(space.free_inodes, space.inodes))),
        Value::text(filesystem),
        Value::share(space.and_then(|space| Ratio::of(space.free.0, space.total.0))),
        Value::share(space.zip(used).and_then(|(space, used)| Ratio::of(used.0, space.total.0))),
        Value::share(
            space.and_then(|space| Ratio::of(space.total.saturating_sub(space.available).0, space.total.0)),
        ),
        Value::Text(if found.is_mount_point { "yes" } else { "no" }),
    ]
}

fn set_lossy(text: &mut String, bytes: &[u8]) {
    text.clear();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
