//! The samples of all segments with the same interval, and the rates between them.

use std::time::Duration;

use facts::rate::{Rates, Width};
use facts::sample::Sample;
use facts::source::Wanted;
use jiff::tz::TimeZone;
use probe::wait::Watch;
use probe::{Probe, Request};

use super::config::Member;
use super::{SegmentContext, SegmentInput};
use crate::failure::Failure;
use crate::memory_reader::MemoryReader;

/// Samples the sources of all segments with the same interval.
#[derive(Debug)]
pub(crate) struct IntervalSampler {
    pub(crate) interval: Duration,
    probe: Probe,
    memory: MemoryReader,
    // Boxed, since they are swapped at every tick.
    before: Box<Sample>,
    now: Box<Sample>,
    rates: Rates,
    width: Width,
}

impl IntervalSampler {
    /// Opens the sources of these segments and takes the first sample.
    pub(crate) fn open<'a>(
        interval: Duration,
        members: impl Iterator<Item = &'a Member> + Clone,
        context: &SegmentContext,
    ) -> Result<Self, Failure> {
        let segments = || members.clone().map(|member| &member.segment);
        let wanted = segments().fold(Wanted::NONE, |wanted, segment| wanted.union(segment.wanted()));
        let request = Request {
            wanted,
            filesystems: segments().flat_map(|segment| segment.filesystems().to_vec()).collect(),
            notifier: context.notifier.clone(),
        };
        // The clocks come with a sample, also where nothing is read.
        let (before, mut now) = (Box::default(), Box::default());
        let (memory, probe) = MemoryReader::open(&context.roots, request, false, &mut now)?;
        let width = probe.counter_width();
        Ok(Self { interval, probe, memory, before, now, rates: Rates::default(), width })
    }

    /// Reads, and takes rates against the reading before. Between two of its times (`is_extra`) the reading replaces
    /// the last, so that rates are not taken over a moment.
    pub(crate) fn sample(&mut self, is_extra: bool) {
        if !is_extra {
            std::mem::swap(&mut self.before, &mut self.now);
        }
        self.probe.sample(&mut self.now);
        self.rates.fill(&self.before, &self.now, self.width);
    }

    /// Takes late results of background jobs.
    pub(crate) fn collect(&mut self) {
        self.probe.collect(&mut self.now);
    }

    /// Readable when the network has changed.
    pub(crate) fn watch(&self) -> Option<Watch<'_>> {
        self.probe.watch().map(Watch::Readable)
    }

    /// Reads the changes of the network.
    pub(crate) fn drain_events(&mut self) {
        self.probe.drain_events();
    }

    /// What its segments see.
    pub(crate) fn input<'a>(&'a self, time_zone: &'a TimeZone) -> SegmentInput<'a> {
        let available = self.memory.available(&self.now);
        SegmentInput { sample: &self.now, available, rates: &self.rates, time_zone }
    }

    /// System calls made.
    pub(crate) fn system_calls(&self) -> u64 {
        self.probe.system_calls()
    }
}
