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
use probe::background_job::Notifier;
use probe::orphans::Known;
use probe::spawn::Process;
use probe::wait::Watch;

use super::appearance::ItemRenderer;

/// The data that a segment renders.
pub(crate) struct SegmentInput<'a> {
    pub(crate) sample: &'a Sample,
    /// Available memory, from the kernel or computed by its formula.
    pub(crate) available: Option<Available>,
    pub(crate) rates: &'a Rates,
    pub(crate) time_zone: &'a TimeZone,
}

/// The data that segments need to start background jobs.
#[derive(Debug)]
pub(crate) struct SegmentContext {
    pub(crate) roots: Roots,
    /// Notified when a background job has a result.
    pub(crate) notifier: Option<Notifier>,
    /// The instant whose recorded values are shown, in nanoseconds since 1970, and the directory of the history.
    pub(crate) past: Option<(i64, PathBuf)>,
    /// An earlier capture of the machine: rates are those between the two.
    pub(crate) before: Option<Roots>,
}

/// A part of the bar, such as a clock or the free space of a disk.
pub(crate) trait Segment {
    /// Called when its interval is due. Requests results from background jobs; does not wait.
    fn tick(&mut self, _context: &SegmentContext) {}

    /// Renders its current values.
    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>);

    /// The sources that it reads. The probe opens no others.
    fn wanted(&self) -> Wanted {
        Wanted::NONE
    }

    /// The paths whose filesystems it shows.
    fn filesystems(&self) -> &[PathBuf] {
        &[]
    }

    /// Its default interval, if that depends on its options.
    fn usual_interval(&self) -> Option<Duration> {
        None
    }

    /// Called after a click, which may have changed its value.
    fn refresh(&mut self, context: &SegmentContext) {
        self.tick(context);
    }

    /// Returns true if it waits for the first result of a background job.
    fn is_waiting(&self) -> bool {
        false
    }

    /// Returns the commands that it runs, if its kind runs some.
    fn commands(&self) -> Option<&dyn SegmentCommands> {
        None
    }

    /// Returns the same to change them.
    fn commands_mut(&mut self) -> Option<&mut dyn SegmentCommands> {
        None
    }
}

/// The commands of a segment.
pub(crate) trait SegmentCommands {
    /// Becomes readable when [`poll`](Self::poll) has something to do.
    fn watch(&self) -> Option<Watch<'_>>;

    /// Reads the output, notices the end, and enforces the timeout.
    fn poll(&mut self);

    /// When [`poll`](Self::poll) must be called at the latest, on the boot clock.
    fn poll_deadline(&self) -> Option<Nanos>;

    /// Stops the command. Returns the process if it has not ended yet, so that the caller can reap it.
    fn shutdown(&mut self) -> Option<Process>;

    /// Returns the processes that are not reaped yet: the running one, and one that is ending.
    fn processes(&self) -> [Option<Known<'_>>; 2];
}
