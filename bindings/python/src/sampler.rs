//! Rates: what happened between two instants.

use std::time::{Duration, Instant};

use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustix::thread::nanosleep;
use sampling::machine::MachineSampler;

use crate::machine::{memory_of, read};

/// Yields the rates of the machine at each interval, for ever: CPU, interfaces, disks, and the memory at its end.
///
/// It opens the files once and reads them again in place.
#[pyclass(module = "whit", unsendable)]
pub(crate) struct Sampler {
    machine: MachineSampler,
    interval: Duration,
}

#[pymethods]
impl Sampler {
    #[new]
    #[pyo3(signature = (interval_seconds=1.0))]
    fn new(interval_seconds: f64) -> PyResult<Self> {
        let interval =
            Duration::try_from_secs_f64(interval_seconds).ok().filter(|interval| !interval.is_zero());
        let interval = interval.ok_or_else(|| {
            PyValueError::new_err(format!("an interval is above 0, not {interval_seconds}"))
        })?;
        let wanted = [Source::CpuTotal, Source::MemInfo, Source::Cgroup, Source::NetDev, Source::DiskStats];
        Ok(Self { machine: read(Wanted::from(wanted), None)?, interval })
    }

    /// Reads now, and returns the rates since the last reading. They are None if the machine was suspended in between.
    fn sample<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.machine.sample();
        let rates = self.machine.rates();
        let Some(interval) = rates.interval else { return Ok(None) };
        let all = PyDict::new(py);
        all.set_item("interval_seconds", interval.elapsed().as_secs_f64())?;
        let cpu = rates.cpu.map(|cpu| {
            let shares = PyDict::new(py);
            shares.set_item("busy_ratio", cpu.busy.0)?;
            shares.set_item("user_ratio", cpu.user.0)?;
            shares.set_item("system_ratio", cpu.system.0)?;
            shares.set_item("iowait_ratio", cpu.iowait.0)?;
            shares.set_item("steal_ratio", cpu.steal.0)?;
            PyResult::Ok(shares)
        });
        all.set_item("cpu", cpu.transpose()?)?;
        all.set_item("memory", memory_of(py, &self.machine)?)?;
        let interfaces = PyDict::new(py);
        for interface in &rates.interfaces {
            let traffic = PyDict::new(py);
            traffic.set_item("received_bytes_per_second", interface.received_bytes_per_second)?;
            traffic.set_item("sent_bytes_per_second", interface.sent_bytes_per_second)?;
            interfaces.set_item(interface.name.to_string(), traffic)?;
        }
        all.set_item("network", interfaces)?;
        let disks = PyDict::new(py);
        for disk in rates.disks.iter().filter(|disk| disk.is_whole) {
            let traffic = PyDict::new(py);
            traffic.set_item("read_bytes_per_second", disk.read_bytes_per_second)?;
            traffic.set_item("written_bytes_per_second", disk.written_bytes_per_second)?;
            traffic.set_item("busy_ratio", disk.busy.map(|busy| busy.0))?;
            disks.set_item(disk.name.to_string(), traffic)?;
        }
        all.set_item("disks", disks)?;
        Ok(Some(all))
    }

    fn __iter__(sampler: PyRef<'_, Self>) -> PyRef<'_, Self> {
        sampler
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        loop {
            sleep(py, self.interval)?;
            if let Some(rates) = self.sample(py)? {
                return Ok(rates);
            }
        }
    }
}

/// The longest sleep at a time. A signal that comes after the last look for one and before the sleep does not interrupt it.
pub(crate) const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Sleeps without the interpreter's lock; a signal handler that raises, as that of Ctrl-C, ends it.
fn sleep(py: Python<'_>, duration: Duration) -> PyResult<()> {
    let begun = Instant::now();
    loop {
        py.check_signals()?;
        let left = duration.saturating_sub(begun.elapsed()).min(MAX_SLEEP);
        if left.is_zero() {
            return Ok(());
        }
        // What may have interrupted it is looked for next.
        let _ = py.detach(|| nanosleep(&probe::timespec(Nanos::from(left))));
    }
}
