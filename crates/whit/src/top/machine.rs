//! The head: what the machine as a whole does, and what whit itself costs.

use facts::memory::MemoryReport;
use facts::rate::{CpuShares, Rates, Width};
use facts::sample::Sample;
use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use probe::{Probe, Request, Roots};

use crate::failure::Failure;

/// Reads the machine's own figures from tick to tick.
pub(crate) struct Machine {
    probe: Probe,
    before: Sample,
    pub(crate) now: Sample,
    pub(crate) rates: Rates,
    own_cpu: Nanos,
    /// CPU time that whit used since the last tick.
    pub(crate) own_cpu_delta: Nanos,
}

/// What all of a kind do in a second; none where there is none or no rate yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) inwards: Option<f64>,
    pub(crate) outwards: Option<f64>,
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
        let probe = Probe::open(roots, &Request { wanted, ..Request::default() })?;
        Ok(Self {
            probe,
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
        self.rates.fill(&self.before, &self.now, Width::Bits64);
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
        MemoryReport::new(&self.now, None, false).ok()
    }

    /// whit's share of a CPU.
    pub(crate) fn own_share(&self) -> Option<f64> {
        Some(self.own_cpu_delta.0 as f64 / self.rates.interval?.elapsed().0 as f64)
    }

    /// All interfaces but the loopback.
    pub(crate) fn network(&self) -> Traffic {
        let rates = self.rates.interfaces.iter().filter(|rates| rates.name.as_str() != "lo");
        sum(rates.map(|rates| (rates.received_bytes_per_second, rates.sent_bytes_per_second)))
    }

    /// All disks: partitions, and what lies on others (mapped and composed ones, loops), left out.
    pub(crate) fn disks(&self) -> Traffic {
        let is_whole = |name: &str| {
            let others = ["loop", "ram", "dm-", "md", "zram", "sr"];
            let is_partition = self.rates.disks.iter().any(|other| {
                let other = other.name.as_str();
                let rest = name.strip_prefix(other).filter(|rest| !rest.is_empty());
                rest.is_some_and(|rest| {
                    rest.trim_start_matches('p').bytes().all(|byte| byte.is_ascii_digit())
                })
            });
            !is_partition && !others.iter().any(|prefix| name.starts_with(prefix))
        };
        let rates = self.rates.disks.iter().filter(|rates| is_whole(rates.name.as_str()));
        sum(rates.map(|rates| (rates.read_bytes_per_second, rates.written_bytes_per_second)))
    }

    /// Stalls in the last ten seconds, per cent: CPU, I/O, memory; none where the kernel does not say.
    pub(crate) fn pressure(&self) -> [Option<f64>; 3] {
        let pressure = &self.now.pressure;
        [&pressure.cpu, &pressure.io, &pressure.memory]
            .map(|reading| Some(reading.get().ok()?.some?.averages_percent()[0]))
    }
}

fn sum(rates: impl Iterator<Item = (Option<f64>, Option<f64>)>) -> Traffic {
    let mut traffic = Traffic::default();
    for (inwards, outwards) in rates {
        let add = |sum: &mut Option<f64>, value: Option<f64>| {
            if let Some(value) = value {
                *sum = Some(sum.unwrap_or(0.0) + value);
            }
        };
        add(&mut traffic.inwards, inwards);
        add(&mut traffic.outwards, outwards);
    }
    traffic
}
