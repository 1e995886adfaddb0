//! How much memory is in use: what new programs cannot get.

use facts::linux::meminfo::MemInfoField;
use facts::memory::MemoryBreakdown;
use facts::source::{Source, Wanted};
use facts::unit::{Bytes, Ratio};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::options::SegmentOptions as _;
use crate::{Segment, SegmentInput, Tone};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "memory",
    about: "Memory: used is what new programs cannot get, total − available.",
    fields: &[
        field("used", "total − available"),
        field("used_percent", "of the total"),
        field("available", "what new work could have without swapping"),
        field("available_percent", "of the total"),
        field("free", "memory that is not used for anything"),
        field("total", "all there is"),
        field("anonymous", "what only swap could hold"),
        field("caches", "files' pages and what else is given back when asked for"),
        field("kernel", "what the kernel itself holds"),
        field("free_percent", "of the total"),
        field("used_classical", "total − free − buffers − cached, as older tools count"),
        field("used_classical_percent", "of the total"),
        field("shared", "tmpfs and shared memory"),
        field("shared_percent", "of the total"),
        field("buffers", "block devices' pages"),
    ],
    format: "mem {used} {used_percent}",
    thresholds: &[(Tone::Urgent, "used_percent >= 92"), (Tone::Warning, "used_percent >= 80")],
    make: |options| Ok(Box::new(Memory { with_parts: options.mentions(KIND.format, FROM_ALL) })),
    ..Kind::DEFAULT
};

/// Fields that are made of more than the total and what is available.
const FROM_ALL: &[&str] = &[
    "anonymous",
    "caches",
    "kernel",
    "used_classical",
    "used_classical_percent",
    "shared",
    "shared_percent",
    "buffers",
];

struct Memory {
    with_parts: bool,
}

impl Segment for Memory {
    fn wanted(&self) -> Wanted {
        Wanted::from([if self.with_parts { Source::MemInfo } else { Source::AvailableMemory }])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(memory) = input.sample.memory.get() else { return };
        let Some(total) = memory.bytes(MemInfoField::MemTotal) else { return };
        let parts = self.with_parts.then(|| MemoryBreakdown::new(memory));
        let available = input.available.map(|available| available.bytes);
        let used = available.map(|available| total.saturating_sub(available));
        let size = |size: Option<Bytes>| Value::number_of(size.map(|size| size.0 as f64), Unit::Bytes);
        let share =
            |size: Option<Bytes>| size.map_or(Value::Absent, |size| Value::share(Ratio::of(size.0, total.0)));
        let bytes = |field| memory.bytes(field);
        let free = bytes(MemInfoField::MemFree);
        let shared = bytes(MemInfoField::Shmem).filter(|_| self.with_parts);
        let classical = || {
            let caches = bytes(MemInfoField::Buffers)? + bytes(MemInfoField::Cached)?;
            Some(total.saturating_sub(free? + caches))
        };
        let classical = self.with_parts.then(classical).flatten();
        items.only(&[
            size(used),
            share(used),
            size(available),
            share(available),
            size(free),
            size(Some(total)),
            size(parts.map(|parts| parts.anonymous)),
            size(parts.map(|parts| parts.caches.total())),
            size(parts.map(|parts| parts.kernel)),
            share(free),
            size(classical),
            share(classical),
            size(shared),
            share(shared),
            size(bytes(MemInfoField::Buffers).filter(|_| self.with_parts)),
        ]);
    }
}
