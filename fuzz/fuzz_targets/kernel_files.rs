//! Any bytes as any of the kernel's files; the first byte chooses which.

#![no_main]

use facts::linux::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((which, bytes)) = data.split_first() else { return };
    let _ = match which % 22 {
        0 => stat::Stat::default().parse(bytes),
        1 => meminfo::MemInfo::default().parse(bytes),
        2 => zoneinfo::ZoneInfo::default().parse(bytes),
        3 => vmstat::VmStat::default().parse(bytes),
        4 => loadavg::LoadAverage::default().parse(bytes),
        5 => uptime::Uptime::default().parse(bytes),
        6 => net_dev::NetDev::default().parse(bytes),
        7 => diskstats::DiskStats::default().parse(bytes),
        8 => pressure::Pressure::default().parse(bytes),
        9 => cgroup::CgroupMembership::default().parse(bytes),
        10 => version::KernelVersion::default().parse(bytes),
        11 => pid_stat::PidStat::default().parse(bytes),
        12 => pid_status::PidStatus::default().parse(bytes),
        13 => pid_schedstat::PidSchedstat::default().parse(bytes),
        14 => pid_io::PidIo::default().parse(bytes),
        15 => power_supply::PowerSupply::default().parse(bytes),
        16 => cgroup_memory::CgroupMemoryStat::default().parse(bytes),
        17 => cgroup_cpu::CgroupCpuStat::default().parse(bytes),
        18 => cgroup_io::CgroupIo::default().parse_v2(bytes),
        19 => mounts::parse(bytes, &mut Vec::new()),
        20 => arcstats::ArcStats::default().parse(bytes),
        _ => zram::Zram::default().add(bytes),
    };
});
