//! The run queue's average over a minute.

use std::fmt::Write as _;

use facts::source::{Source, Wanted};

use crate::bar::{Block, Scene, Segment, Urgency};

/// `load 0.53`; urgent above twice the CPUs there are.
#[derive(Debug, Default)]
pub(crate) struct Load;

impl Segment for Load {
    fn name(&self) -> &'static str {
        "load"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::LoadAverage])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let Ok(load) = scene.sample.load.get() else { return };
        let [minute, ..] = load.averages();
        // A String takes whatever is written to it.
        let _ = write!(block.text, "load {minute:.2}");
        let cpus = scene.sample.stat.get().map_or(0, |stat| stat.cpus.len());
        if cpus > 0 && minute > 2.0 * cpus as f64 {
            block.urgency = Urgency::Warning;
        }
    }
}
