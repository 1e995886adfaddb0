//! Charge, and how long it lasts.

use std::time::Duration;

use facts::battery::BatteryTotal;
use facts::linux::power_supply::{BatteryStatus, PowerSupply};
use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput, Tone};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "battery",
    about: "All batteries together or each: charge, what they do, and for how long. Nothing where there is none.",
    fields: &[
        field("percent", "charge"),
        field("state", "discharging, charging, idle (on mains, below full), full, unknown"),
        field("remaining", "until empty or full, hours:minutes, at the power drawn now"),
        field("watts", "drawn or taken"),
        field("name", "with each or batteries: the battery's"),
        field("mains", "on or off"),
    ],
    format: "bat[ {percent}][ {remaining}]",
    variants: &[
        ("state == charging", "bat[ {percent}] +[{remaining}]"),
        ("state == idle", "bat[ {percent}] ="),
        ("state == full", "bat[ {percent}] ="),
    ],
    thresholds: &[
        (Tone::Urgent, "state == discharging and percent < 8"),
        (Tone::Warning, "state == discharging and percent < 20"),
    ],
    interval: Some(Duration::from_secs(5)),
    options: &[
        ("batteries", "a battery, or several: [\"BAT0\"]"),
        ("each", "true: the format for each battery"),
        ("none", "what is shown where there is no battery; \"\""),
    ],
    make: |options| {
        Ok(Box::new(Battery {
            names: options.texts("batteries")?,
            is_each: options.flag("each")?,
            none: options.text("none")?.unwrap_or_default().to_owned(),
        }))
    },
};

struct Battery {
    names: Vec<String>,
    is_each: bool,
    none: String,
}

impl Segment for Battery {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::PowerSupply])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let supplies = input.sample.power.get().map_or(&[][..], Vec::as_slice);
        let mains = supplies.iter().find_map(|supply| supply.online);
        let is_chosen = |supply: &&PowerSupply| {
            self.names.is_empty() || self.names.iter().any(|name| name == supply.name.as_str())
        };
        if !self.is_each && self.names.is_empty() {
            match BatteryTotal::new(supplies) {
                Some(total) => items.only(&values(&total, "", mains)),
                None => items.note(&self.none),
            }
            return;
        }
        let mut any = false;
        for supply in supplies.iter().filter(is_chosen) {
            if let Some(total) = BatteryTotal::new(std::slice::from_ref(supply)) {
                let name = supply.name.as_str();
                items.named(name, &values(&total, name, mains));
                any = true;
            }
        }
        if !any {
            items.note(&self.none);
        }
    }
}

fn values<'a>(total: &BatteryTotal, name: &'a str, mains: Option<bool>) -> [Value<'a>; 6] {
    [
        Value::share(total.charge),
        Value::Text(match total.status {
            BatteryStatus::Discharging => "discharging",
            BatteryStatus::Charging => "charging",
            BatteryStatus::NotCharging => "idle",
            BatteryStatus::Full => "full",
            BatteryStatus::Unknown => "unknown",
        }),
        Value::number_of(total.minutes_left.map(|minutes| minutes as f64 * 60.0), Unit::HoursMinutes),
        Value::number_of(total.power_uw.map(|microwatts| microwatts as f64 / 1e6), Unit::Watts),
        Value::text(name),
        mains.map_or(Value::Absent, |on| Value::Text(if on { "on" } else { "off" })),
    ]
}
