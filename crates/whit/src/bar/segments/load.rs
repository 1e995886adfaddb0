//! The run queue's average over a minute.

use facts::source::{Source, Wanted};

use crate::bar::{Block, Scene, Segment, Urgency};
use crate::show::units::push_thousandths;

/// `load 0.53`; a warning above twice the CPUs there are.
#[derive(Debug, Default)]
pub(crate) struct Load;

impl Segment for Load {
    fn name(&self) -> &'static str {
        "load"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::LoadAverage, Source::Stat])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let Ok(load) = scene.sample.load.get() else { return };
        let minute = load.thousandths[0];
        block.text.push_str("load ");
        push_thousandths(&mut block.text, minute, 2);
        let cpus = scene.sample.stat.get().map_or(0, |stat| stat.cpus.len() as u64);
        if cpus > 0 && minute > 2000 * cpus {
            block.urgency = Urgency::Warning;
        }
    }
}
