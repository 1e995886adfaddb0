//! The status line: segments say what they want of the machine and what they make of it; an output writes the line.
//!
//! ```text
//! configuration ─► Line: segments, grouped by how often they are drawn (cadences)
//! loop: wait for the next whole interval, a signal, a click, an answer
//!       cadence: probe.sample, rates          what is due, and only that
//!       segment.say ─► look ─► block          format, thresholds, colours
//!       output.line ─► one write, if it changed
//! ```

mod actions;
mod asking;
mod cadence;
mod clicks;
pub(crate) mod config;
mod cycle;
mod debug;
mod events;
mod kind;
mod kinds;
mod line;
mod look;
mod options;
mod outflow;
pub(crate) mod outputs;
mod reference;
mod schedule;
mod segments;
#[cfg(test)]
mod simulation;
mod theme;

pub(crate) use config::{Defaults, Origin, default_configuration, import};
pub(crate) use cycle::run;
pub(crate) use reference::reference;
pub(crate) use theme::Theme;

use std::path::PathBuf;
use std::time::Duration;

use facts::memory::Available;
use facts::rate::Rates;
use facts::sample::Sample;
use facts::source::Wanted;
use facts::unit::Nanos;
use jiff::tz::TimeZone;
use probe::Roots;
use probe::errand::Bell;
use probe::orphans::Known;
use probe::spawn::Process;
use probe::wait::Watch;
pub(crate) use wire::i3bar::Hex as Color;

use crate::failure::Failure;
use look::Items;

/// What a segment sees when it is drawn.
pub(crate) struct Scene<'a> {
    pub(crate) sample: &'a Sample,
    /// Memory for new work, by the kernel or by its formula.
    pub(crate) available: Option<Available>,
    pub(crate) rates: &'a Rates,
    pub(crate) time_zone: &'a TimeZone,
}

/// What segments that ask slow things need to do so.
#[derive(Debug)]
pub(crate) struct Workshop {
    pub(crate) roots: Roots,
    /// Rung when an answer is there.
    pub(crate) bell: Option<Bell>,
}

/// How much a block wants to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    #[default]
    Normal,
    /// All is well.
    Good,
    /// Look when there is time.
    Warning,
    /// Look now.
    Urgent,
}

/// What a segment has to say; an empty text is not shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block {
    /// The kind of segment.
    pub(crate) kind: &'static str,
    /// Which of its kind: clicks name it.
    pub(crate) instance: String,
    pub(crate) text: String,
    /// For where the room does not suffice; empty: none.
    pub(crate) short: String,
    pub(crate) tone: Tone,
    /// Instead of the tone's.
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
    /// The text is markup.
    pub(crate) is_markup: bool,
    /// A text whose width it has at least.
    pub(crate) min_width: String,
    pub(crate) align: Option<&'static str>,
}

/// A part of the bar.
pub(crate) trait Segment {
    /// What it reads of the machine: the probe opens nothing else.
    fn wanted(&self) -> Wanted {
        Wanted::NONE
    }

    /// Whose filesystems it shows.
    fn filesystems(&self) -> &[PathBuf] {
        &[]
    }

    /// Whether it shows temperatures other than the CPUs'.
    fn wants_all_temperatures(&self) -> bool {
        false
    }

    /// Whether it shows more of memory than how much is there, free and available.
    fn wants_all_of_memory(&self) -> bool {
        false
    }

    /// How often it is drawn where nobody said, if that depends on what it shows.
    fn usual_interval(&self) -> Option<Duration> {
        None
    }

    /// Its time has come: has slow things asked, without waiting.
    fn tick(&mut self, _workshop: &Workshop) {}

    /// Something happened that may have changed what it says: a click.
    fn hurry(&mut self, workshop: &Workshop) {
        self.tick(workshop);
    }

    /// Says what it knows.
    fn say(&mut self, scene: &Scene<'_>, items: &mut Items<'_>);

    /// Whether its first answer is still to come.
    fn is_waiting(&self) -> bool {
        false
    }

    /// What becomes readable when there is something to [`attend`](Self::attend) to.
    fn watch(&self) -> Option<Watch<'_>> {
        None
    }

    /// Looks after what it has under way, a command: its output, its end, its time.
    fn attend(&mut self) {}

    /// Ends what it has under way; a process that is still dying is given to whoever goes on.
    fn retire(&mut self) -> Option<Process> {
        None
    }

    /// Whether it starts processes.
    fn runs_commands(&self) -> bool {
        false
    }

    /// Its processes that were not reaped: the one under way, and one that is dying.
    fn processes(&self) -> [Option<Known<'_>>; 2] {
        [None, None]
    }

    /// When it wants to attend at the latest, on the boot clock.
    fn attend_by(&self) -> Option<Nanos> {
        None
    }
}

/// Writes lines for one kind of reader.
pub(crate) trait Output {
    /// What comes before the first line.
    fn start(&mut self, _out: &mut Vec<u8>) {}

    /// One line; blocks without text are left out.
    ///
    /// # Errors
    /// Where an output that writes elsewhere cannot.
    fn line(&mut self, blocks: &[Block], dress: &Dress, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// What stands before every line but the first.
    fn between(&self) -> &'static [u8] {
        b""
    }
}

/// How all outputs dress the line.
#[derive(Clone, Debug)]
pub(crate) struct Dress {
    pub(crate) theme: Theme,
    /// Between segments, for readers that have none of their own.
    pub(crate) separator: String,
}

/// The blocks that are shown.
pub(crate) fn shown(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| !block.text.is_empty())
}
