//! The head: what the machine as a whole does, and what whit itself costs.

use std::collections::HashMap;

use facts::memory::MemoryReport;
use facts::rate::totals::Traffic;
use facts::rate::{CpuShares, Rates, Width};
use facts::sample::Sample;
use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use probe::survey::Survey;
use probe::{Probe, Request, Roots};

use crate::failure::Failure;
use crate::memory_reader::MemoryReader;

/// Interfaces that are remembered.
const MOST_INTERFACES: usize = 4096;

/// Reads the machine's own figures from tick to tick.
pub(crate) struct Machine {
    probe: Probe,
    memory: MemoryReader,
    survey: Survey,
    /// By name.
    hardware: HashMap<String, bool>,
    width: Width,
    before: Sample,
    pub(crate) now: Sample,
    pub(crate) rates: Rates,
    own_cpu: Nanos,
    /// CPU time that whit used since the last tick.
    pub(crate) own_cpu_delta: Nanos,
}

impl Machine {
    pub(crate) fn open(roots: &Roots) -> Result<Self, Failure> {
        let wanted = Wanted::from([
            Source::Stat,
            Source::MemInfo,
            Source::LoadAverage,
            Source::Uptime,
            Source::PressureCpu,
            Source::PressureIo,
            Source::PressureMemory,
            Source::NetDev,
            Source::DiskStats,
        ]);
        let request = Request { wanted, ..Request::default() };
        // Taken again at the first tick, together with the tasks.
        let (memory, probe) = MemoryReader::open(roots, request, false, &mut Sample::default())?;
        let width = probe.counter_width();
        Ok(Self {
            probe,
            memory,
            survey: Survey::open(roots)?,
            hardware: HashMap::new(),
            width,
            before: Sample::default(),
            now: Sample::default(),
            rates: Rates::default(),
            own_cpu: Nanos(0),
            own_cpu_delta: Nanos(0),
        })
    }

    /// Reads anew.
    pub(crate) fn tick(&mut self) {
        std::mem::swap(&mut self.before, &mut self.now);
        self.probe.sample(&mut self.now);
        self.rates.fill(&self.before, &self.now, self.width);
        self.look_at_new_interfaces();
    }

    /// Takes whit's own CPU time. After everything else has been read, so that it contains what this tick cost.
    pub(crate) fn count_own(&mut self) {
        let own_cpu = probe::own_cpu_time();
        self.own_cpu_delta = own_cpu.saturating_sub(self.own_cpu);
        self.own_cpu = own_cpu;
    }

    /// What all CPUs did.
    pub(crate) fn cpu(&self) -> Option<CpuShares> {
        self.rates.cpu
    }

    /// Memory as `whit free` counts it.
    pub(crate) fn memory(&self) -> Option<MemoryReport> {
        self.memory.report(&self.now).ok()
    }

    /// whit's share of a CPU.
    pub(crate) fn own_share(&self) -> Option<f64> {
        Some(self.own_cpu_delta.0 as f64 / self.rates.interval?.elapsed().0 as f64)
    }

    /// All interfaces, as [`facts::rate::totals`] says.
    pub(crate) fn network(&self) -> Traffic {
        let has_hardware = |name: &str| self.hardware.get(name).copied().unwrap_or(false);
        self.rates.all_interfaces(has_hardware)
    }

    /// All disks, likewise.
    pub(crate) fn disks(&self) -> Traffic {
        self.rates.all_disks()
    }

    /// Looks once at each interface whether there is a device behind it.
    fn look_at_new_interfaces(&mut self) {
        for interface in self.now.net_dev.get().map_or(&[][..], |net| &net.interfaces) {
            let name = interface.name.as_str();
            if !self.hardware.contains_key(name) {
                let device = format!("/sys/class/net/{name}/device");
                // Renamed and new ones come without end on some hosts.
                if self.hardware.len() > MOST_INTERFACES {
                    self.hardware.clear();
                }
                self.hardware.insert(name.to_owned(), self.survey.exists(&device).is_ok());
            }
        }
    }

    /// Stalls in the last ten seconds, per cent: CPU, I/O, memory; none where the kernel does not say.
    pub(crate) fn pressure(&self) -> [Option<f64>; 3] {
        let pressure = &self.now.pressure;
        [&pressure.cpu, &pressure.io, &pressure.memory]
            .map(|reading| Some(reading.get().ok()?.some?.averages_percent()[0]))
    }
}
