//! The machine as a whole: two samples, and the rates between them.

use facts::memory::{Available, MemoryReport};
use facts::rate::{Rates, Width};
use facts::sample::{Absence, Clock, Sample};
use probe::roots::RootError;
use probe::wait::Watch;
use probe::{Probe, Request, Roots};

use crate::memory::{Formula, MemoryReader};

/// Samples the sources that were requested.
#[derive(Debug)]
pub struct MachineSampler {
    /// `None`: the samples are recorded or captured, and stay.
    probe: Option<Probe>,
    memory: MemoryReader,
    // Boxed, since they are swapped at every tick.
    before: Box<Sample>,
    now: Box<Sample>,
    rates: Rates,
    width: Width,
}

impl MachineSampler {
    /// Opens the sources and takes the first sample.
    ///
    /// # Errors
    /// If the root cannot be opened. A source that is missing is absent in the samples.
    pub fn open(roots: &Roots, request: Request, formula: Formula) -> Result<Self, RootError> {
        // The clocks come with a sample, also where nothing is read.
        let (before, mut now) = (Box::default(), Box::default());
        let (memory, probe) = MemoryReader::open(roots, request, formula, &mut now)?;
        let (width, probe) = (probe.counter_width(), Some(probe));
        Ok(Self { probe, memory, before, now, rates: Rates::default(), width })
    }

    /// A machine as it was: two samples that were recorded.
    pub fn of_past(before: Sample, now: Sample) -> Self {
        let mut rates = Rates::default();
        let width = Width::Bits64;
        rates.fill(&before, &now, width);
        let (before, now) = (Box::new(before), Box::new(now));
        Self { probe: None, memory: MemoryReader::of_past(), before, now, rates, width }
    }

    /// A captured machine with the rates since an earlier capture of it. How much time is between them is what /proc/uptime of both says;
    /// `None` if one has no uptime, or the earlier one is not earlier.
    pub fn since(mut self, earlier: Self) -> Option<Self> {
        let uptime = |sample: &Sample| sample.uptime.get().ok().map(|uptime| uptime.uptime);
        let (then, now) = (uptime(&earlier.now)?, uptime(&self.now)?);
        let realtime = self.now.clock.realtime;
        self.before = earlier.now;
        // Clocks are made from the captures' uptimes: the uptime of the machine that reads them may be shorter than the time between them.
        let before = realtime.saturating_sub(now.saturating_sub(then));
        self.before.clock = Clock { monotonic: then, boottime: then, realtime: before };
        self.now.clock = Clock { monotonic: now, boottime: now, realtime };
        self.rates.fill(&self.before, &self.now, self.width);
        self.probe = None;
        self.rates.interval?;
        Some(self)
    }

    /// Takes a sample, and the rates since the one before.
    pub fn sample(&mut self) {
        if self.probe.is_none() {
            return;
        }
        std::mem::swap(&mut self.before, &mut self.now);
        self.replace();
    }

    /// Takes a sample in place of the last one, between two intervals: the rates are then over the time since the sample before that.
    pub fn replace(&mut self) {
        let Some(probe) = &mut self.probe else { return };
        probe.sample(&mut self.now);
        self.rates.fill(&self.before, &self.now, self.width);
    }

    /// Takes late results of background jobs.
    pub fn collect(&mut self) {
        if let Some(probe) = &mut self.probe {
            probe.collect(&mut self.now);
        }
    }

    /// Readable when the network has changed.
    pub fn watch(&self) -> Option<Watch<'_>> {
        self.probe.as_ref()?.watch().map(Watch::Readable)
    }

    /// Reads the changes of the network.
    pub fn drain_events(&mut self) {
        if let Some(probe) = &mut self.probe {
            probe.drain_events();
        }
    }

    /// The last sample.
    pub fn now(&self) -> &Sample {
        &self.now
    }

    /// The rates between the last two samples.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// Available memory; `None` if neither the kernel nor the formula says it.
    pub fn available(&self) -> Option<Available> {
        self.memory.available(&self.now)
    }

    /// Everything that is known of memory.
    ///
    /// # Errors
    /// Why there is none.
    pub fn memory(&self) -> Result<MemoryReport, Absence> {
        self.memory.report(&self.now)
    }

    /// System calls made.
    pub fn system_calls(&self) -> u64 {
        self.probe.as_ref().map_or(0, Probe::system_calls)
    }
}
