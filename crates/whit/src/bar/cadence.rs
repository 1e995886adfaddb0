//! Segments that are drawn equally often share what is read for them, and the time over which rates are taken.

use std::time::Duration;

use facts::rate::{Rates, Width};
use facts::sample::Sample;
use facts::source::Wanted;
use jiff::tz::TimeZone;
use probe::wait::Watch;
use probe::{Probe, Request};

use super::config::Member;
use super::{Scene, Workshop};
use crate::failure::Failure;
use crate::memory_reader::MemoryReader;

/// One interval, and what is read in it.
#[derive(Debug)]
pub(crate) struct Cadence {
    pub(crate) interval: Duration,
    probe: Probe,
    memory: MemoryReader,
    // Boxed: they change places at every tick.
    before: Box<Sample>,
    now: Box<Sample>,
    rates: Rates,
    width: Width,
}

impl Cadence {
    /// Opens what the members of this interval want, and reads it a first time.
    pub(crate) fn open<'a>(
        interval: Duration,
        members: impl Iterator<Item = &'a Member> + Clone,
        workshop: &Workshop,
    ) -> Result<Self, Failure> {
        let segments = || members.clone().map(|member| &member.segment);
        let wanted = segments().fold(Wanted::NONE, |wanted, segment| wanted.union(segment.wanted()));
        let request = Request {
            wanted,
            filesystems: segments().flat_map(|segment| segment.filesystems().to_vec()).collect(),
            cpu_temperatures_only: !segments().any(|segment| segment.wants_all_temperatures()),
            available_memory_only: !segments().any(|segment| segment.wants_all_of_memory()),
            bell: workshop.bell.clone(),
        };
        // The clocks come with a sample, also where nothing is read.
        let (before, mut now) = (Box::default(), Box::default());
        let (memory, probe) = MemoryReader::open(&workshop.roots, request, false, &mut now)?;
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

    /// Takes what was answered late.
    pub(crate) fn collect(&mut self) {
        self.probe.collect(&mut self.now);
    }

    /// Readable when there are news to hear.
    pub(crate) fn watch(&self) -> Option<Watch<'_>> {
        self.probe.watch().map(Watch::Readable)
    }

    /// Takes news of the network.
    pub(crate) fn hear(&mut self) {
        self.probe.hear();
    }

    /// What its segments see.
    pub(crate) fn scene<'a>(&'a self, time_zone: &'a TimeZone) -> Scene<'a> {
        let available = self.memory.available(&self.now);
        Scene { sample: &self.now, available, rates: &self.rates, time_zone }
    }

    /// System calls made.
    pub(crate) fn system_calls(&self) -> u64 {
        self.probe.system_calls()
    }
}
