//! Space left on filesystems.

use facts::source::{Source, Wanted};
use facts::unit::Ratio;

use crate::bar::{Block, Scene, Segment, Urgency};
use crate::show::ABSENT;
use crate::show::text::push_printable;
use crate::show::units::push_bytes;

const WARNING_LEFT_PERCENT: f64 = 10.0;
const URGENT_LEFT_PERCENT: f64 = 4.0;

/// `/ 70 GiB free`; `(stale)` behind a filesystem that does not answer.
#[derive(Debug)]
pub(crate) struct Disk;

impl Segment for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::Filesystems])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let Ok(filesystems) = scene.sample.filesystems.get() else { return };
        for filesystem in filesystems {
            let text = &mut block.text;
            text.push_str(if text.is_empty() { "" } else { "  " });
            push_printable(text, &filesystem.mount.target);
            text.push(' ');
            match filesystem.space {
                Some(space) => {
                    push_bytes(text, space.available);
                    text.push_str(" free");
                    let left = Ratio::of(space.available.0, space.total.0).map_or(100.0, Ratio::percent);
                    let urgency = match left {
                        ..URGENT_LEFT_PERCENT => Urgency::Urgent,
                        ..WARNING_LEFT_PERCENT => Urgency::Warning,
                        _ => Urgency::Normal,
                    };
                    block.urgency = block.urgency.max(urgency);
                }
                None => text.push_str(ABSENT),
            }
            if filesystem.is_stale {
                text.push_str(" (stale)");
            }
        }
    }
}
