//! Date and time.

use std::fmt::Write as _;

use facts::source::Wanted;
use jiff::Timestamp;

use crate::bar::{Block, Scene, Segment};

/// `Fri 2026-11-20 15:42:07` in the system's time zone.
#[derive(Debug, Default)]
pub(crate) struct Date;

impl Segment for Date {
    fn name(&self) -> &'static str {
        "date"
    }

    fn wanted(&self) -> Wanted {
        Wanted::NONE
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let nanos = i128::from(scene.sample.clock.realtime.0);
        let Ok(now) = Timestamp::from_nanosecond(nanos) else { return };
        let now = now.to_zoned(scene.time_zone.clone());
        // A String takes whatever is written to it.
        let _ = write!(block.text, "{}", now.strftime("%a %Y-%m-%d %H:%M:%S"));
    }
}
