//! The head: what the machine as a whole does, and what whit itself costs.

use facts::memory::MemoryReport;
use facts::rate::totals::Traffic;
use facts::rate::{CpuShares, Rates};
use facts::sample::Sample;
use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use probe::roots::RootError;
use probe::{Request, Roots};
use sampling::Formula;
use sampling::machine::MachineSampler;
use sampling::network_total::NetworkTotal;
use sampling::own_cost::OwnCost;

/// Reads the machine's own figures from tick to tick.
pub(crate) struct Machine {
    sampler: MachineSampler,
    network: NetworkTotal,
    own: OwnCost,
    is_first: bool,
}

impl Machine {
    pub(crate) fn open(roots: &Roots) -> Result<Self, RootError> {
        let wanted = Wanted::from([
            Source::Stat,
            Source::MemInfo,
            Source::Cgroup,
            Source::CpuQuota,
            Source::LoadAverage,
            Source::Uptime,
            Source::PressureCpu,
            Source::PressureIo,
            Source::PressureMemory,
            Source::NetDev,
            Source::DiskStats,
        ]);
        let request = Request { wanted, ..Request::default() };
        let sampler = MachineSampler::open(roots, request, Formula::IfNeeded)?;
        Ok(Self { sampler, network: NetworkTotal::open(roots)?, own: OwnCost::default(), is_first: true })
    }

    /// Shows a machine as it was.
    pub(crate) fn show_past(&mut self, machine: MachineSampler) {
        self.sampler = machine;
        self.network.follow(self.sampler.now());
    }

    /// Reads anew.
    pub(crate) fn tick(&mut self) {
        // The sample that `open` took is older than the first reading of tasks. Rates start with that reading.
        if std::mem::take(&mut self.is_first) {
            self.sampler.replace();
        } else {
            self.sampler.sample();
        }
        self.network.follow(self.sampler.now());
    }

    /// Reads whit's own CPU time. After everything else has been read, so that it contains what this tick cost.
    pub(crate) fn count_own(&mut self) {
        self.own.read();
    }

    pub(crate) fn now(&self) -> &Sample {
        self.sampler.now()
    }

    /// Returns the rates of disks and interfaces.
    pub(crate) fn rates(&self) -> &Rates {
        self.sampler.rates()
    }

    /// Returns the shares of all CPUs together.
    pub(crate) fn cpu(&self) -> Option<CpuShares> {
        self.sampler.rates().cpu
    }

    /// How many CPUs' time the own cgroup may use, where that is limited.
    pub(crate) fn cpu_quota_cpus(&self) -> Option<f64> {
        Some(self.now().cpu_quota.get().ok()?.as_ref()?.cpus())
    }

    /// Returns the number and the shares of each CPU that is online.
    pub(crate) fn cpus(&self) -> impl ExactSizeIterator<Item = (u32, Option<CpuShares>)> {
        let numbers = self.now().stat.get().map_or(&[][..], |stat| &stat.cpus[..]);
        numbers.iter().map(|(number, _)| *number).zip(self.sampler.rates().cpus.iter().copied())
    }

    /// Memory as `whit free` counts it.
    pub(crate) fn memory(&self) -> Option<MemoryReport> {
        self.sampler.memory().ok()
    }

    /// CPU time that whit used since the last tick.
    pub(crate) fn own_cpu(&self) -> Nanos {
        self.own.cpu()
    }

    /// whit's share of a CPU.
    pub(crate) fn own_share(&self) -> Option<f64> {
        Some(self.own.cpu().0 as f64 / self.sampler.rates().interval?.elapsed().0 as f64)
    }

    /// All interfaces, as [`facts::rate::totals`] says.
    pub(crate) fn network(&self) -> Traffic {
        self.network.of(self.sampler.rates())
    }

    /// All disks, likewise.
    pub(crate) fn disks(&self) -> Traffic {
        self.sampler.rates().all_disks()
    }

    /// Stalls in the last ten seconds, per cent: CPU, I/O, memory; `None` if the kernel does not say.
    pub(crate) fn pressure(&self) -> [Option<f64>; 3] {
        let pressure = &self.now().pressure;
        [&pressure.cpu, &pressure.io, &pressure.memory]
            .map(|reading| Some(reading.get().ok()?.some?.averages_percent()[0]))
    }
}
