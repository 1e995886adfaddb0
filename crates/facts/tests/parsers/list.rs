//! Every parser of what Linux says, for the tests here and for the fuzzer.

use facts::cursor::Malformed;
use facts::linux;

pub(crate) type Parse = fn(&[u8]) -> Result<(), Malformed>;

macro_rules! parsers {
    ($($path:literal => $kind:ty,)*) => {
        /// The file below a captured machine's root, and its parser.
        pub(crate) const PARSERS: &[(&str, Parse)] = &[$(($path, |bytes| <$kind>::default().parse(bytes)),)*];
    };
}

parsers! {
    "proc/stat" => linux::stat::Stat,
    "proc/meminfo" => linux::meminfo::MemInfo,
    "proc/zoneinfo" => linux::zoneinfo::ZoneInfo,
    "proc/vmstat" => linux::vmstat::VmStat,
    "proc/loadavg" => linux::loadavg::LoadAverage,
    "proc/uptime" => linux::uptime::Uptime,
    "proc/net/dev" => linux::net_dev::NetDev,
    "proc/net/snmp" => linux::net_protocols::NetProtocols,
    "proc/net/netstat" => linux::net_protocols::NetProtocols,
    "proc/diskstats" => linux::diskstats::DiskStats,
    "proc/pressure/cpu" => linux::pressure::Pressure,
    "proc/pressure/irq" => linux::pressure::Pressure,
    "proc/self/cgroup" => linux::cgroup::CgroupMembership,
    "proc/sys/kernel/osrelease" => linux::version::KernelVersion,
    "proc/1/stat" => linux::pid_stat::PidStat,
    "proc/1/status" => linux::pid_status::PidStatus,
    "proc/1/task/1/schedstat" => linux::pid_schedstat::PidSchedstat,
    "proc/spl/kstat/zfs/arcstats" => linux::arcstats::ArcStats,
    "sys/class/power_supply/BAT0/uevent" => linux::power_supply::PowerSupply,
    "sys/fs/cgroup/memory/batch/memory.stat" => linux::cgroup_memory::CgroupMemoryStat,
}

/// Those that are functions: the first two of a file of a fixed name.
pub(crate) const OTHERS: &[(&str, Parse)] = &[
    ("proc/self/mounts", |bytes| linux::mounts::parse(bytes, &mut Vec::new())),
    ("proc/net/snmp6", |bytes| linux::net_protocols::NetProtocols::default().parse_ipv6(bytes)),
    ("statm", |bytes| linux::pid_statm::PidStatm::default().parse(bytes)),
    ("io", |bytes| linux::pid_io::PidIo::default().parse(bytes)),
    ("cpu.stat", |bytes| linux::cgroup_cpu::CgroupCpuStat::default().parse(bytes)),
    ("cpu.max", |bytes| linux::cgroup_cpu::CpuQuota::parse_v2(bytes).map(drop)),
    ("cpu.cfs_quota_us", |bytes| linux::cgroup_cpu::CpuQuota::parse_v1(bytes).map(drop)),
    ("cpu.cfs_period_us", |bytes| linux::cgroup_cpu::CpuQuota::parse_v1_period(bytes).map(drop)),
    ("cpuacct.usage", |bytes| linux::cgroup_cpu::usage(bytes).map(drop)),
    ("memory.max", |bytes| linux::cgroup_memory::limit(bytes).map(drop)),
    ("memory.current", |bytes| linux::cgroup_memory::usage(bytes).map(drop)),
    ("io.stat", |bytes| linux::cgroup_io::CgroupIo::default().parse_v2(bytes)),
    ("blkio", |bytes| linux::cgroup_io::CgroupIo::default().parse_v1(bytes)),
    ("temp1_input", |bytes| linux::sensors::millidegrees(bytes).map(drop)),
    ("operstate", |bytes| {
        linux::net_attributes::operational_state(bytes);
        Ok(())
    }),
    ("carrier", |bytes| linux::net_attributes::carrier(bytes).map(drop)),
    ("speed", |bytes| linux::net_attributes::speed_mbit(bytes).map(drop)),
    ("scaling_cur_freq", |bytes| linux::cpufreq::scaling_kilohertz(bytes).map(drop)),
    ("cpuinfo", |bytes| {
        linux::cpufreq::cpuinfo_kilohertz(bytes, &mut Vec::new());
        Ok(())
    }),
    ("brightness", |bytes| linux::backlight::steps(bytes).map(drop)),
    ("type", |bytes| {
        linux::net_attributes::LinkKind::new(bytes, bytes, false);
        Ok(())
    }),
    ("btf", |bytes| linux::btf::Types::parse(bytes).map(|types| drop(types.part(types.layouts())))),
    ("object", |bytes| {
        linux::btf::of_object(bytes);
        Ok(())
    }),
    ("nl80211", |bytes| {
        let mut station = linux::nl80211::Station::default();
        station.take_interface(linux::genetlink::Attributes(bytes));
        station.take_station(linux::genetlink::Attributes(bytes));
        Ok(())
    }),
    ("rtnetlink", |bytes| {
        for message in linux::genetlink::Messages::new(bytes).map_while(Result::ok) {
            linux::rtnetlink::Address::new(&message);
            linux::socket_tables::inet_socket(&message);
            linux::socket_tables::unix_socket(&message);
        }
        Ok(())
    }),
    ("locks", |bytes| {
        linux::locks::flocks(bytes).for_each(drop);
        linux::locks::file_locks(bytes).for_each(drop);
        Ok(())
    }),
    ("mm_stat", |bytes| linux::zram::Zram::default().add(bytes)),
    ("cmdline", |bytes| {
        linux::pid_cmdline::words(bytes).for_each(drop);
        Ok(())
    }),
    ("netlink", |bytes| {
        for message in linux::genetlink::Messages::new(bytes) {
            message?.attributes().for_each(drop);
        }
        Ok(())
    }),
];
