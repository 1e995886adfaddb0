//! Any bytes as what FreeBSD's sysctl hands out.

use facts::freebsd::kinfo_proc::{self, KinfoProc};
use facts::freebsd::{acpi_battery, boottime, cp_time, ifmibdata, loadavg, swap, temperature, vmtotal};
use facts::linux::stat::Stat;
use facts::unit::Nanos;

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    let (first, second) = data.split_at(data.len() / 2);
    let _ = cp_time::parse(&mut Stat::default(), first, second);
    let _ = (ifmibdata::parse(data, 1), cp_time::ticks_per_second(data));
    let _ = (loadavg::thousandths(data), boottime::parse(data), swap::parse(data), vmtotal::threads(data));
    let _ = (temperature::millidegrees(data), facts::freebsd::number(data));
    acpi_battery::parse(first, second, data, data);
    for process in kinfo_proc::each(data).map_while(Result::ok) {
        let _ = KinfoProc::parse(process, Nanos(1), Nanos(2));
    }
}
