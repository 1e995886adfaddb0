//! Temperatures of anything that has a sensor.

use facts::linux::sensors::Temperature as Sensor;
use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput, Tone};
use std::time::Duration;
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "temperature",
    about: "The warmest of the sensors that are meant, or each of them.",
    fields: &[
        field("temperature", "°C"),
        field("label", "what the sensor measures: Package id 0, Composite …"),
        field("chip", "coretemp, nvme, thermal_zone …"),
        field("device", "the entry in /sys: hwmon1, thermal_zone0 …"),
    ],
    format: "{temperature}",
    thresholds: &[(Tone::Urgent, "temperature >= 95"), (Tone::Warning, "temperature >= 80")],
    interval: Some(Duration::from_secs(2)),
    options: &[
        ("sensors", "parts of labels or chips, or whole devices: [\"nvme\", \"hwmon1\"]; the CPUs' own"),
        ("each", "true: the format for each sensor"),
    ],
    make: |options| {
        Ok(Box::new(Temperature { parts: options.texts("sensors")?, is_each: options.flag("each")? }))
    },
    ..Kind::DEFAULT
};

struct Temperature {
    parts: Vec<String>,
    is_each: bool,
}

impl Temperature {
    fn is_meant(&self, sensor: &Sensor) -> bool {
        let names = [sensor.label.as_str(), sensor.chip.as_str()];
        let is_named = |part: &String| {
            // thermal_zone1 is not thermal_zone10.
            part == sensor.device.as_str() || names.iter().any(|name| name.contains(part.as_str()))
        };
        match self.parts.as_slice() {
            [] => sensor.is_cpu(),
            parts => parts.iter().any(is_named),
        }
    }
}

impl Segment for Temperature {
    fn wanted(&self) -> Wanted {
        let is_of_cpu = self.parts.is_empty() && !self.is_each;
        Wanted::from([if is_of_cpu { Source::CpuTemperatures } else { Source::Sensors }])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(sensors) = input.sample.temperatures.get() else { return };
        let meant = || sensors.iter().filter(|sensor| self.is_meant(sensor));
        if self.is_each {
            for sensor in meant() {
                // Two inputs of a chip may carry one label; their histories are then one, too.
                items.named(sensor.label.as_str(), &values(sensor));
            }
        } else if let Some(warmest) = meant().max_by_key(|sensor| sensor.millidegrees) {
            items.only(&values(warmest));
        }
    }
}

fn values(sensor: &Sensor) -> [Value<'_>; 4] {
    let celsius = sensor.millidegrees.map(|millidegrees| millidegrees as f64 / 1e3);
    [
        Value::number_of(celsius, Unit::Celsius),
        Value::text(sensor.label.as_str()),
        Value::text(sensor.chip.as_str()),
        Value::text(sensor.device.as_str()),
    ]
}
