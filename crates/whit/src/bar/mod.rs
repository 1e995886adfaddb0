//! The status line: segments say what they want of the machine and what they make of it; an output writes the line.

mod cycle;
pub(crate) mod outputs;
mod segments;

pub(crate) use cycle::run;

use facts::rate::Rates;
use facts::sample::Sample;
use facts::source::Wanted;
use jiff::tz::TimeZone;

/// What a segment sees at a tick.
pub(crate) struct Scene<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) rates: &'a Rates,
    pub(crate) time_zone: &'a TimeZone,
}

/// How much a block wants to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    #[default]
    Normal,
    /// Look when there is time.
    Warning,
    /// Look now.
    Urgent,
}

/// What a segment has to say; an empty text is not shown.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The segment.
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) urgency: Urgency,
}

/// A part of the bar.
pub(crate) trait Segment {
    /// Its name in outputs that name blocks.
    fn name(&self) -> &'static str;

    /// What it reads of the machine: the probe opens nothing else.
    fn wanted(&self) -> Wanted;

    /// Appends what it has to say to the block's text, which is empty.
    fn say(&mut self, scene: &Scene<'_>, block: &mut Block);
}

/// Writes lines for one kind of reader.
pub(crate) trait Output {
    /// What comes before the first line.
    fn start(&mut self, out: &mut Vec<u8>);

    /// One line; blocks without text are left out.
    fn line(&mut self, blocks: &[Block], out: &mut Vec<u8>);
}
