//! Traffic of disks.

use facts::source::{Source, Wanted};
use facts::unit::Ratio;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput, Tone};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "disk_io",
    about: "What is read from and written to disks: all whole disks together, or those that are named.",
    fields: &[
        field("name", "the disk's; absent for all together"),
        field("read", "per second"),
        field("written", "per second"),
        field("busy", "share of the time with a request under way, per cent; of all: the busiest"),
    ],
    format: "[{name} ]r {read} w {written}",
    thresholds: &[(Tone::Warning, "busy >= 90")],
    options: &[
        ("devices", "a disk, or several: [\"sda\", \"nvme0n1p2\"]"),
        ("each", "true: the format for each disk"),
    ],
    make: |options| {
        Ok(Box::new(DiskIo { devices: options.texts("devices")?, is_each: options.flag("each")? }))
    },
    ..Kind::DEFAULT
};

struct DiskIo {
    devices: Vec<String>,
    is_each: bool,
}

impl Segment for DiskIo {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::DiskStats])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(stats) = input.sample.diskstats.get() else { return };
        let is_chosen = |name: &str| self.devices.iter().any(|device| device == name);
        if !self.is_each && self.devices.is_empty() {
            let all = input.rates.all_disks();
            return items.only(&values(None, all.inwards, all.outwards, all.busy));
        }
        for disk in &stats.disks {
            let name = disk.name.as_str();
            if if self.devices.is_empty() { !disk.is_whole } else { !is_chosen(name) } {
                continue;
            }
            let rates = input.rates.disks.iter().find(|rates| rates.name == disk.name);
            let read = rates.and_then(|rates| rates.read_bytes_per_second);
            let written = rates.and_then(|rates| rates.written_bytes_per_second);
            items.named(name, &values(Some(name), read, written, rates.and_then(|rates| rates.busy)));
        }
    }
}

fn values<'a>(
    name: Option<&'a str>,
    read: Option<f64>,
    written: Option<f64>,
    busy: Option<Ratio>,
) -> [Value<'a>; 4] {
    let rate = |rate: Option<f64>| Value::number_of(rate, Unit::BytesPerSecond);
    [name.map_or(Value::Absent, Value::Text), rate(read), rate(written), Value::share(busy)]
}
