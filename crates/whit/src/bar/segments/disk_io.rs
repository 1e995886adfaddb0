//! Traffic of disks.

use facts::rate::DiskRates;
use facts::source::{Source, Wanted};

use super::field;
use crate::bar::kind::Kind;
use crate::bar::look::Items;
use crate::bar::{Scene, Segment, Tone};
use crate::show::template::{Unit, Value};

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

    fn say(&mut self, scene: &Scene<'_>, items: &mut Items<'_>) {
        let Ok(stats) = scene.sample.diskstats.get() else { return };
        let is_chosen = |name: &str| self.devices.iter().any(|device| device == name);
        let mut sum: Option<DiskRates> = None;
        for disk in &stats.disks {
            let name = disk.name.as_str();
            if if self.devices.is_empty() { !disk.is_whole() } else { !is_chosen(name) } {
                continue;
            }
            let rates = scene.rates.disks.iter().find(|rates| rates.name == disk.name);
            if self.is_each || !self.devices.is_empty() {
                items.named(name, &values(Some(name), rates));
            } else if let Some(rates) = rates {
                sum = Some(sum.map_or(*rates, |sum| together(&sum, rates)));
            }
        }
        if !self.is_each && self.devices.is_empty() {
            items.only(&values(None, sum.as_ref()));
        }
    }
}

fn together(a: &DiskRates, b: &DiskRates) -> DiskRates {
    let add = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    DiskRates {
        name: a.name,
        read_bytes_per_second: add(a.read_bytes_per_second, b.read_bytes_per_second),
        written_bytes_per_second: add(a.written_bytes_per_second, b.written_bytes_per_second),
        busy: if a.busy > b.busy { a.busy } else { b.busy },
    }
}

fn values<'a>(name: Option<&'a str>, rates: Option<&DiskRates>) -> [Value<'a>; 4] {
    let rate = |rate: Option<f64>| Value::number_of(rate, Unit::BytesPerSecond);
    [
        name.map_or(Value::Absent, Value::Text),
        rate(rates.and_then(|rates| rates.read_bytes_per_second)),
        rate(rates.and_then(|rates| rates.written_bytes_per_second)),
        Value::share(rates.and_then(|rates| rates.busy)),
    ]
}
