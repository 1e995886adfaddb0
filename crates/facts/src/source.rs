//! Sources of a machine's figures: the unit by which a view asks and the probe opens. A view asks for sources and not for metrics, because
//! the cost is that of a file. The catalogue names the source of each metric.

/// A kernel file, or a group of like files, that fills one part of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// CPU time, switches, forks.
    Stat,
    /// The CPU time of all CPUs together, and nothing else of `Stat`: the first line.
    CpuTotal,
    /// Memory.
    MemInfo,
    /// Total, free and available memory, and nothing else of `MemInfo`: the first lines.
    AvailableMemory,
    /// Watermarks; for kernels without MemAvailable.
    ZoneInfo,
    /// Memory management's counters.
    VmStat,
    /// Run queue averages.
    LoadAverage,
    /// Time since boot.
    Uptime,
    /// Traffic of interfaces.
    NetDev,
    /// Counters of TCP and UDP.
    NetProtocols,
    /// The state of the interfaces' links, up or down.
    LinkState,
    /// Carrier and speed of the links.
    LinkSpeed,
    /// Requests of block devices.
    DiskStats,
    /// Stalls for want of a CPU.
    PressureCpu,
    /// Stalls on I/O.
    PressureIo,
    /// Stalls for want of memory.
    PressureMemory,
    /// Stalls by interrupts.
    PressureIrq,
    /// Space of filesystems.
    Filesystems,
    /// Temperatures.
    Sensors,
    /// Temperatures of the CPUs only; if there are sensors of packages, only these.
    CpuTemperatures,
    /// Batteries and mains.
    PowerSupply,
    /// The limits of the cgroup that whit runs in.
    Cgroup,
    /// The quota of CPU time of the cgroup that whit runs in.
    CpuQuota,
    /// All cgroups with a limit of their own, and how often it was reached.
    LimitedCgroups,
    /// Compressed swap.
    Zram,
    /// ZFS's own cache.
    ArcStats,
    /// Addresses of interfaces.
    Addresses,
    /// Wireless networks and their signal.
    Wireless,
    /// How fast the CPUs run.
    Frequency,
    /// Brightness of screens.
    Backlight,
}

impl Source {
    /// All.
    pub const ALL: [Self; 30] = [
        Self::Stat,
        Self::CpuTotal,
        Self::MemInfo,
        Self::AvailableMemory,
        Self::ZoneInfo,
        Self::VmStat,
        Self::LoadAverage,
        Self::Uptime,
        Self::NetDev,
        Self::NetProtocols,
        Self::LinkState,
        Self::LinkSpeed,
        Self::DiskStats,
        Self::PressureCpu,
        Self::PressureIo,
        Self::PressureMemory,
        Self::PressureIrq,
        Self::Filesystems,
        Self::Sensors,
        Self::CpuTemperatures,
        Self::PowerSupply,
        Self::Cgroup,
        Self::CpuQuota,
        Self::LimitedCgroups,
        Self::Zram,
        Self::ArcStats,
        Self::Addresses,
        Self::Wireless,
        Self::Frequency,
        Self::Backlight,
    ];

    /// Where it is read on Linux.
    pub fn path(self) -> &'static str {
        match self {
            Self::Stat | Self::CpuTotal => "/proc/stat",
            Self::MemInfo | Self::AvailableMemory => "/proc/meminfo",
            Self::ZoneInfo => "/proc/zoneinfo",
            Self::VmStat => "/proc/vmstat",
            Self::LoadAverage => "/proc/loadavg",
            Self::Uptime => "/proc/uptime",
            Self::NetDev => "/proc/net/dev",
            Self::NetProtocols => "/proc/net/{snmp,snmp6,netstat}",
            Self::LinkState => "/sys/class/net/*/operstate",
            Self::LinkSpeed => "/sys/class/net/*/{carrier,speed}",
            Self::DiskStats => "/proc/diskstats",
            Self::PressureCpu => "/proc/pressure/cpu",
            Self::PressureIo => "/proc/pressure/io",
            Self::PressureMemory => "/proc/pressure/memory",
            Self::PressureIrq => "/proc/pressure/irq",
            Self::Filesystems => "statfs(2)",
            Self::Sensors | Self::CpuTemperatures => "/sys/class/hwmon, /sys/class/thermal",
            Self::PowerSupply => "/sys/class/power_supply",
            Self::Cgroup | Self::CpuQuota | Self::LimitedCgroups => "/sys/fs/cgroup",
            Self::Zram => "/sys/block/zram*/mm_stat",
            Self::ArcStats => "/proc/spl/kstat/zfs/arcstats",
            Self::Addresses => "rtnetlink(7)",
            Self::Wireless => "nl80211",
            Self::Frequency => "cpufreq, /proc/cpuinfo",
            Self::Backlight => "/sys/class/backlight",
        }
    }
}

/// A set of sources: what the views of one run want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted(u32);

impl Wanted {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// Everything.
    pub fn all() -> Self {
        Source::ALL.into_iter().collect()
    }

    /// Returns true if `source` is in it.
    pub fn has(self, source: Source) -> bool {
        self.0 >> source as u32 & 1 == 1
    }

    /// Returns true if one of these is in it.
    pub fn has_any<const N: usize>(self, sources: [Source; N]) -> bool {
        sources.into_iter().any(|source| self.has(source))
    }

    /// This and `source`.
    #[must_use]
    pub fn with(self, source: Source) -> Self {
        Self(self.0 | 1 << source as u32)
    }

    /// Returns the sources that are in either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Source> for Wanted {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        sources.into_iter().fold(Self::NONE, Self::with)
    }
}

impl<const N: usize> From<[Source; N]> for Wanted {
    fn from(sources: [Source; N]) -> Self {
        sources.into_iter().collect()
    }
}
