//! Charge, and how long it lasts.

use std::fmt::Write as _;

use facts::battery::BatteryTotal;
use facts::linux::power_supply::BatteryStatus;
use facts::source::{Source, Wanted};

use crate::bar::{Block, Scene, Segment, Urgency};
use crate::show::units::push_percent;

const WARNING_PERCENT: f64 = 20.0;
const URGENT_PERCENT: f64 = 8.0;

/// `bat 80 % 2:35`, all batteries together; `+` while charging, `=` on mains. Nothing where there is none.
#[derive(Debug)]
pub(crate) struct Battery;

impl Segment for Battery {
    fn name(&self) -> &'static str {
        "battery"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::PowerSupply])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let supplies = scene.sample.power.get().map_or(&[][..], Vec::as_slice);
        let Some(total) = BatteryTotal::new(supplies) else { return };
        block.text.push_str("bat");
        if let Some(charge) = total.charge {
            block.text.push(' ');
            push_percent(&mut block.text, charge);
        }
        block.text.push_str(match total.status {
            BatteryStatus::Charging => " +",
            BatteryStatus::Full | BatteryStatus::NotCharging => " =",
            BatteryStatus::Discharging | BatteryStatus::Unknown => " ",
        });
        if let Some(minutes) = total.minutes_left {
            // A String takes whatever is written to it.
            let _ = write!(block.text, "{}:{:02}", minutes / 60, minutes % 60);
        }
        block.text.truncate(block.text.trim_end().len());
        let percent = total.charge.map_or(100.0, |charge| charge.percent());
        if total.status == BatteryStatus::Discharging {
            block.urgency = match percent {
                ..URGENT_PERCENT => Urgency::Urgent,
                ..WARNING_PERCENT => Urgency::Warning,
                _ => Urgency::Normal,
            };
        }
    }
}
