//! How busy the CPUs are, and how warm.

use facts::linux::sensors::Temperature;
use facts::source::{Source, Wanted};

use crate::bar::{Block, Scene, Segment, Urgency};
use crate::show::ABSENT;
use crate::show::units::{push_percent, push_thousandths};

const WARNING_MILLIDEGREES: i64 = 80_000;
const URGENT_MILLIDEGREES: i64 = 95_000;

/// `cpu 12 % 51 °C`: all CPUs together, and the warmest package.
#[derive(Debug)]
pub(crate) struct Cpu;

impl Segment for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::Stat, Source::Sensors])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        if scene.sample.stat.get().is_err() {
            return;
        }
        block.text.push_str("cpu ");
        match scene.rates.cpu_busy {
            Some(busy) => push_percent(&mut block.text, busy),
            None => block.text.push_str(ABSENT),
        }
        let temperatures = scene.sample.temperatures.get().map_or(&[][..], Vec::as_slice);
        let cpus = temperatures.iter().filter(|temperature| temperature.is_cpu());
        let Some(warmest) = cpus.filter_map(|temperature: &Temperature| temperature.millidegrees).max()
        else {
            return;
        };
        block.text.push_str(if warmest < 0 { " -" } else { " " });
        push_thousandths(&mut block.text, warmest.unsigned_abs(), 0);
        block.text.push_str(" °C");
        block.urgency = match warmest {
            URGENT_MILLIDEGREES.. => Urgency::Urgent,
            WARNING_MILLIDEGREES.. => Urgency::Warning,
            _ => Urgency::Normal,
        };
    }
}
