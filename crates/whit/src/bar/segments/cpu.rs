//! How busy the CPUs are, and how warm.

use std::fmt::Write as _;

use facts::linux::sensors::Temperature;
use facts::source::{Source, Wanted};

use crate::bar::{Block, Scene, Segment, Urgency};
use crate::show::ABSENT;

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
        // A String takes whatever is written to it.
        let _ = match scene.rates.cpu_busy {
            Some(busy) => write!(block.text, "cpu {:.0} %", busy.percent()),
            None => write!(block.text, "cpu {ABSENT}"),
        };
        let temperatures = scene.sample.temperatures.get().map_or(&[][..], Vec::as_slice);
        let cpus = temperatures.iter().filter(|temperature| temperature.is_cpu());
        let Some(warmest) = cpus.filter_map(|temperature: &Temperature| temperature.millidegrees).max()
        else {
            return;
        };
        let _ = write!(block.text, " {:.0} °C", warmest as f64 / 1000.0);
        block.urgency = match warmest {
            URGENT_MILLIDEGREES.. => Urgency::Urgent,
            WARNING_MILLIDEGREES.. => Urgency::Warning,
            _ => Urgency::Normal,
        };
    }
}
