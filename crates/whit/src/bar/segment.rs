//! The interface of segments.

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

use super::look::Items;

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
