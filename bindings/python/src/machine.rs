//! The machine: what its files say now.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use facts::linux::diskstats::SECTOR_BYTES;
use facts::sample::{Absence, Sample};
use facts::source::{Source, Wanted};
use facts::unit::Ticks;
use probe::{Request, Roots};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sampling::Formula;
use sampling::machine::MachineSampler;

use crate::error::{failed, of_system, unreadable};

/// Opens the files of some sources and reads them once. `root` is a captured machine.
pub(crate) fn read(wanted: Wanted, root: Option<PathBuf>) -> PyResult<MachineSampler> {
    let roots = root.map_or_else(Roots::live, Roots::captured);
    let request = Request { wanted, ..Request::default() };
    MachineSampler::open(&roots, request, Formula::IfNeeded).map_err(failed)
}

/// Reads a parameter of the kernel. `root` is a captured machine.
#[pyfunction]
#[pyo3(signature = (name, *, root=None))]
pub(crate) fn sysctl<'py>(
    py: Python<'py>,
    name: &str,
    root: Option<PathBuf>,
) -> PyResult<Bound<'py, PyBytes>> {
    let roots = root.map_or_else(Roots::live, Roots::captured);
    let value = probe::parameter(&roots, name).map_err(|error| of_system(name, &error))?;
    Ok(PyBytes::new(py, &value))
}

/// The files of the machine. Each is opened when it is needed for the first time, and read again in place after that. Only the thread that
/// made it may use it.
#[pyclass(module = "whit", unsendable)]
pub(crate) struct Machine {
    root: Option<PathBuf>,
    opened: HashMap<&'static str, MachineSampler>,
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (root=None))]
    fn new(root: Option<PathBuf>) -> Self {
        Self { root, opened: HashMap::new() }
    }

    fn memory<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.ask("memory", &[Source::MemInfo, Source::Cgroup], |sampler| memory_of(py, sampler))
    }

    fn cpu<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.ask("cpu", &[Source::CpuTotal], |sampler| cpu_of(py, sampler.now()))
    }

    fn load(&mut self) -> PyResult<(f64, f64, f64)> {
        self.ask("load", &[Source::LoadAverage], |sampler| load_of(sampler.now()))
    }

    fn network<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.ask("network", &[Source::NetDev], |sampler| network_of(py, sampler.now()))
    }

    fn disks<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.ask("disks", &[Source::DiskStats], |sampler| disks_of(py, sampler.now()))
    }
}

impl Machine {
    /// Reads some sources, and makes an answer of them.
    fn ask<T>(
        &mut self,
        name: &'static str,
        sources: &[Source],
        answer: impl FnOnce(&MachineSampler) -> PyResult<T>,
    ) -> PyResult<T> {
        let sampler = match self.opened.entry(name) {
            Entry::Occupied(entry) => {
                let sampler = entry.into_mut();
                sampler.replace();
                sampler
            }
            Entry::Vacant(entry) => entry.insert(read(sources.iter().copied().collect(), self.root.clone())?),
        };
        answer(sampler)
    }
}

pub(crate) fn memory_of<'py>(py: Python<'py>, sampler: &MachineSampler) -> PyResult<Bound<'py, PyDict>> {
    let report = sampler.memory().map_err(|absence| unreadable("/proc/meminfo", absence))?;
    let (parts, memory) = (&report.breakdown, PyDict::new(py));
    memory.set_item("total_bytes", parts.total.0)?;
    memory.set_item("used_bytes", report.used().map(|used| used.0))?;
    memory.set_item("free_bytes", parts.free.0)?;
    memory.set_item("anonymous_bytes", parts.anonymous.0)?;
    memory.set_item("kernel_bytes", parts.kernel.0)?;
    memory.set_item("caches_bytes", parts.caches.total().0)?;
    memory.set_item("others_bytes", parts.others_bytes)?;
    memory.set_item("available_bytes", report.available.map(|available| available.bytes.0))?;
    let swap = report.swap.map(|swap| {
        let three = PyDict::new(py);
        three.set_item("total_bytes", swap.total.0)?;
        three.set_item("used_bytes", swap.used.0)?;
        three.set_item("free_bytes", swap.free.0)?;
        PyResult::Ok(three)
    });
    memory.set_item("swap", swap.transpose()?)?;
    let limit = report.limit.map(|limit| {
        let of_cgroup = PyDict::new(py);
        of_cgroup.set_item("cgroup_version", limit.cgroup_version)?;
        of_cgroup.set_item("total_bytes", limit.limit.0)?;
        of_cgroup.set_item("used_bytes", limit.used.0)?;
        of_cgroup.set_item("free_bytes", limit.free.0)?;
        of_cgroup.set_item("caches_bytes", limit.caches.0)?;
        of_cgroup.set_item("available_bytes", limit.available.0)?;
        PyResult::Ok(of_cgroup)
    });
    memory.set_item("limit", limit.transpose()?)?;
    Ok(memory)
}

/// Returns the time of all CPUs together since the machine started, in seconds (proc_stat(5)).
fn cpu_of<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let stat = sample.stat.get().map_err(|absence| unreadable("/proc/stat", absence))?;
    let per_second = stat.ticks_per_second.ok_or_else(|| unreadable("/proc/stat", Absence::Unsupported))?;
    let seconds = |ticks: Ticks| ticks.0 as f64 / f64::from(per_second);
    let (total, times) = (&stat.total, PyDict::new(py));
    times.set_item("user_seconds", seconds(total.user))?;
    times.set_item("nice_seconds", seconds(total.nice))?;
    times.set_item("system_seconds", seconds(total.system))?;
    times.set_item("idle_seconds", seconds(total.idle))?;
    times.set_item("iowait_seconds", seconds(total.iowait))?;
    times.set_item("irq_seconds", seconds(total.irq))?;
    times.set_item("softirq_seconds", seconds(total.softirq))?;
    times.set_item("steal_seconds", seconds(total.steal))?;
    Ok(times)
}

/// Returns the means of the run queue over one, five and fifteen minutes (proc_loadavg(5)).
fn load_of(sample: &Sample) -> PyResult<(f64, f64, f64)> {
    let load = sample.load.get().map_err(|absence| unreadable("/proc/loadavg", absence))?;
    let [one, five, fifteen] = load.thousandths.map(|thousandths| thousandths as f64 / 1000.0);
    Ok((one, five, fifteen))
}

/// Returns the counters of each network interface since it was made, by its name (proc_pid_net(5)).
fn network_of<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let devices = sample.net_dev.get().map_err(|absence| unreadable("/proc/net/dev", absence))?;
    let interfaces = PyDict::new(py);
    for device in &devices.interfaces {
        let counters = PyDict::new(py);
        counters.set_item("received_bytes", device.received_bytes)?;
        counters.set_item("received_packets", device.received_packets)?;
        counters.set_item("receive_errors", device.receive_errors)?;
        counters.set_item("receive_drops", device.receive_drops)?;
        counters.set_item("sent_bytes", device.sent_bytes)?;
        counters.set_item("sent_packets", device.sent_packets)?;
        counters.set_item("send_errors", device.send_errors)?;
        counters.set_item("send_drops", device.send_drops)?;
        interfaces.set_item(device.name.to_string(), counters)?;
    }
    Ok(interfaces)
}

/// Returns the counters of each block device since it was made, by its name; partitions have `is_whole` False (the kernel's
/// Documentation/admin-guide/iostats.rst).
fn disks_of<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let stats = sample.diskstats.get().map_err(|absence| unreadable("/proc/diskstats", absence))?;
    let disks = PyDict::new(py);
    for disk in &stats.disks {
        let counters = PyDict::new(py);
        counters.set_item("reads", disk.reads)?;
        counters.set_item("read_bytes", disk.read_sectors.saturating_mul(SECTOR_BYTES))?;
        counters.set_item("read_ms", disk.read_ms)?;
        counters.set_item("writes", disk.writes)?;
        counters.set_item("written_bytes", disk.written_sectors.saturating_mul(SECTOR_BYTES))?;
        counters.set_item("write_ms", disk.write_ms)?;
        counters.set_item("busy_ms", disk.busy_ms)?;
        counters.set_item("is_whole", disk.is_whole)?;
        disks.set_item(disk.name.to_string(), counters)?;
    }
    Ok(disks)
}
