//! Usage and limits of a cgroup: CPU, memory and block I/O, as far as its hierarchy counts them.

use facts::linux::cgroup_cpu::{self, CgroupCpuField, CgroupCpuStat};
use facts::linux::cgroup_io::CgroupIo;
use facts::linux::cgroup_memory;
use rustix::fs::{Mode, OFlags, open};

use super::cgroup_tasks::Cgroup;
use super::files::Buffer;
use crate::roots::MachineDirectory;

pub use facts::cgroup::CgroupUsage;

impl Cgroup {
    /// Reads what there is.
    pub fn usage(&self) -> CgroupUsage {
        let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(directory) = open(&self.directory, directory, Mode::empty()) else {
            return CgroupUsage::default();
        };
        let directory = MachineDirectory::live(directory);
        let mut buffer = Buffer::new();
        let mut read = |name: &str| buffer.read_once(&directory, name).ok().map(<[u8]>::to_vec);
        let cpu_stat = read("cpu.stat").and_then(|bytes| {
            let mut stat = CgroupCpuStat::default();
            stat.parse(&bytes).ok().map(|()| stat)
        });
        let v1_cpu = read("cpuacct.usage").and_then(|bytes| cgroup_cpu::usage(&bytes).ok());
        let memory = read("memory.current").or_else(|| read("memory.usage_in_bytes"));
        let mut io = CgroupIo::default();
        let parsed_io = match (read("io.stat"), read("blkio.throttle.io_service_bytes")) {
            (Some(bytes), _) => io.parse_v2(&bytes).ok(),
            (None, Some(bytes)) => io.parse_v1(&bytes).ok(),
            (None, None) => None,
        };
        CgroupUsage {
            cpu: cpu_stat.as_ref().and_then(CgroupCpuStat::usage).or(v1_cpu),
            throttled: cpu_stat.as_ref().and_then(CgroupCpuStat::throttled),
            throttled_periods: cpu_stat.as_ref().and_then(|stat| stat.get(CgroupCpuField::Throttled)),
            memory: memory.and_then(|bytes| cgroup_memory::usage(&bytes).ok()),
            io: parsed_io.map(|()| io),
        }
    }
}
