//! How much memory is in use: what new work could not have.

use facts::linux::meminfo::MemInfoField as Field;
use facts::memory::MemoryBreakdown;
use facts::source::{Source, Wanted};
use facts::unit::Ratio;

use crate::bar::{Block, Scene, Segment, Urgency};
use crate::show::units::{push_bytes, push_percent};

const WARNING_PERCENT: f64 = 80.0;
const URGENT_PERCENT: f64 = 92.0;

/// `mem 1.2 GiB 15 %`: total − available, and its share.
#[derive(Debug)]
pub(crate) struct Memory;

impl Segment for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::MemInfo])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let Ok(memory) = scene.sample.memory.get() else { return };
        let Some(total) = memory.bytes(Field::MemTotal) else { return };
        // A kernel before 3.14 does not say what is available; what is used beside the caches is the nearest it says.
        let used = match memory.bytes(Field::MemAvailable) {
            Some(available) => total.saturating_sub(available),
            None => {
                let parts = MemoryBreakdown::new(memory);
                parts.used.saturating_sub(parts.caches.total())
            }
        };
        let share = Ratio::of(used.0, total.0).unwrap_or_default();
        block.text.push_str("mem ");
        push_bytes(&mut block.text, used);
        block.text.push(' ');
        push_percent(&mut block.text, share);
        block.urgency = match share.percent() {
            URGENT_PERCENT.. => Urgency::Urgent,
            WARNING_PERCENT.. => Urgency::Warning,
            _ => Urgency::Normal,
        };
    }
}
