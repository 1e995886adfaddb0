//! Deltas and rates of the machine's counters. The test `counters_are_subtracted_in_one_place` lists the few other files that may
//! subtract readings.
//!
//! The delta of a counter that decreased is `None`, never a huge number. A counter decreases if it was reset, if its device was removed
//! and added again, or if the kernel's count is inexact. Intervals are measured with CLOCK_MONOTONIC, which cannot be set. An interval
//! in which the machine was suspended has no rates.

mod cgroups;
pub mod totals;

use crate::linux::diskstats::{Disk, DiskStats, SECTOR_BYTES};
use crate::linux::net_dev::{Interface, NetDev};
use crate::linux::stat::{CpuTicks, Stat};
use crate::name::Name;
use crate::sample::{Clock, Sample};
use crate::unit::{Nanos, Ratio, Ticks};

/// How wide the kernel keeps a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Wraps at 2^32: `unsigned long` on a 32-bit kernel.
    Bits32,
    /// Does not wrap in a machine's life.
    Bits64,
}

/// The increase of a counter; `None` if it decreased. A 32-bit counter that decreased by more than half of its range is assumed to
/// have wrapped once.
pub fn counter_delta(before: u64, now: u64, width: Width) -> Option<u64> {
    const RANGE: u64 = 1 << 32;
    match now.checked_sub(before) {
        Some(delta) => Some(delta),
        None if width == Width::Bits32 && before < RANGE && before - now > RANGE / 2 => {
            Some(now + RANGE - before)
        }
        None => None,
    }
}

/// The time between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(Nanos);

impl Interval {
    /// The most time that may pass between the reading of one clock and of the other.
    const SUSPEND_TOLERANCE: Nanos = Nanos(500_000_000);

    /// Returns `None` if no time passed, or if the machine was suspended: CLOCK_BOOTTIME then advances more than CLOCK_MONOTONIC. Rates
    /// over the time of a suspend would be misleading.
    pub fn between(before: &Clock, now: &Clock) -> Option<Self> {
        let elapsed =
            counter_delta(before.monotonic.0, now.monotonic.0, Width::Bits64).filter(|ns| *ns > 0)?;
        let since_boot = counter_delta(before.boottime.0, now.boottime.0, Width::Bits64)?;
        let suspended = since_boot.saturating_sub(elapsed) > Self::SUSPEND_TOLERANCE.0;
        (!suspended).then_some(Self(Nanos(elapsed)))
    }

    /// How long.
    pub fn elapsed(self) -> Nanos {
        self.0
    }

    /// How far a counter went in a second.
    pub fn per_second(self, before: u64, now: u64, width: Width) -> Option<f64> {
        counter_delta(before, now, width).map(|delta| delta as f64 / self.0.as_secs_f64())
    }
}

/// The traffic of a network interface per second. A rate is `None` if its counter decreased.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InterfaceRates {
    /// `eth0`.
    pub name: Name,
    /// Bytes received.
    pub received_bytes_per_second: Option<f64>,
    /// Bytes sent.
    pub sent_bytes_per_second: Option<f64>,
}

/// One disk's traffic in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskRates {
    /// `sda`.
    pub name: Name,
    /// Bytes read.
    pub read_bytes_per_second: Option<f64>,
    /// Bytes written.
    pub written_bytes_per_second: Option<f64>,
    /// Share of the time during which a request was under way.
    pub busy: Option<Ratio>,
    /// Totals include it: it is neither a partition nor a device that passes its requests on (dm, md, loop).
    pub is_whole: bool,
}

/// The rates between two samples. Reuse it for the next samples: filling it again allocates nothing unless there are more entries.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// The time between the samples. `None` for the first sample, after a suspend, and if no time passed (a captured machine).
    pub interval: Option<Interval>,
    /// The shares of all CPUs together.
    pub cpu: Option<CpuShares>,
    /// The shares of each CPU, in the order of the newer sample.
    pub cpus: Vec<Option<CpuShares>>,
    /// Interfaces that both samples have.
    pub interfaces: Vec<InterfaceRates>,
    /// Disks that both samples have.
    pub disks: Vec<DiskRates>,
}

impl Rates {
    /// Fills from two samples of one machine.
    pub fn fill(&mut self, before: &Sample, now: &Sample, width: Width) {
        self.interval = Interval::between(&before.clock, &now.clock);
        self.cpu = None;
        self.cpus.clear();
        self.interfaces.clear();
        self.disks.clear();
        let Some(interval) = self.interval else { return };
        if let (Ok(before), Ok(now)) = (before.stat.get(), now.stat.get()) {
            self.cpu = CpuShares::between(&before.total, &now.total);
            if !now.cpus.is_empty() {
                self.fill_cpus(before, now);
            }
        }
        if let (Ok(before), Ok(now)) = (before.net_dev.get(), now.net_dev.get()) {
            self.fill_interfaces(interval, before, now, width);
        }
        if let (Ok(before), Ok(now)) = (before.diskstats.get(), now.diskstats.get()) {
            self.fill_disks(interval, before, now);
        }
    }

    // Not within `fill`, where a tick that needs them not would load them.
    #[inline(never)]
    fn fill_cpus(&mut self, before: &Stat, now: &Stat) {
        self.cpus.extend(now.cpus.iter().enumerate().map(|(index, (number, now))| {
            let (_, before) = at_or_find(&before.cpus, index, |(other, _)| other == number)?;
            CpuShares::between(before, now)
        }));
    }

    #[inline(never)]
    fn fill_interfaces(&mut self, interval: Interval, before: &NetDev, now: &NetDev, width: Width) {
        for (index, now) in now.interfaces.iter().enumerate() {
            let is_same = |other: &Interface| other.name == now.name;
            let Some(before) = at_or_find(&before.interfaces, index, is_same) else { continue };
            self.interfaces.push(InterfaceRates {
                name: now.name,
                received_bytes_per_second: interval.per_second(
                    before.received_bytes,
                    now.received_bytes,
                    width,
                ),
                sent_bytes_per_second: interval.per_second(before.sent_bytes, now.sent_bytes, width),
            });
        }
    }

    #[inline(never)]
    fn fill_disks(&mut self, interval: Interval, before: &DiskStats, now: &DiskStats) {
        for (index, now) in now.disks.iter().enumerate() {
            let is_same = |other: &Disk| other.name == now.name && other.device == now.device;
            let Some(before) = at_or_find(&before.disks, index, is_same) else { continue };
            let bytes_per_second = |before, now| {
                interval.per_second(before, now, Width::Bits64).map(|sectors| sectors * SECTOR_BYTES as f64)
            };
            // The kernel prints milliseconds as a 32-bit number (jiffies_to_msecs): it wraps after 49 days of busy time.
            let busy_ms = counter_delta(before.busy_ms, now.busy_ms, Width::Bits32);
            self.disks.push(DiskRates {
                name: now.name,
                is_whole: now.is_whole,
                read_bytes_per_second: bytes_per_second(before.read_sectors, now.read_sectors),
                written_bytes_per_second: bytes_per_second(before.written_sectors, now.written_sectors),
                busy: busy_ms.map(|ms| Ratio((ms as f64 / (interval.0.0 as f64 / 1e6)).min(1.0))),
            });
        }
    }
}

/// Finds an entry. Looks at `index` first, because entries rarely move between two samples.
fn at_or_find<T>(entries: &[T], index: usize, is_same: impl Fn(&T) -> bool) -> Option<&T> {
    entries.get(index).filter(|entry| is_same(entry)).or_else(|| entries.iter().find(|entry| is_same(entry)))
}

/// Where CPU time went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuShares {
    /// Neither idle nor waiting for I/O.
    pub busy: Ratio,
    /// In user mode, niced or not, guests included.
    pub user: Ratio,
    /// In the kernel, interrupts included.
    pub system: Ratio,
    /// Idle while a task waited for block I/O.
    pub iowait: Ratio,
    /// Ready to run while the hypervisor ran something else.
    pub steal: Ratio,
}

impl CpuShares {
    /// `None` if no tick passed or a busy counter stepped back. `user` and `nice` have the guests' time in them.
    pub fn between(before: &CpuTicks, now: &CpuTicks) -> Option<Self> {
        let delta = |before: Ticks, now: Ticks| counter_delta(before.0, now.0, Width::Bits64);
        let sum = |parts: &[u64]| parts.iter().copied().fold(0, u64::saturating_add);
        let user = sum(&[delta(before.user, now.user)?, delta(before.nice, now.nice)?]);
        let irqs = [delta(before.irq, now.irq)?, delta(before.softirq, now.softirq)?];
        let system = sum(&[delta(before.system, now.system)?, irqs[0], irqs[1]]);
        let steal = delta(before.steal, now.steal)?;
        let busy = sum(&[user, system, steal]);
        // idle and iowait can decrease a little (proc_stat(5)). That is not a reset, and counts as zero.
        let iowait = delta(before.iowait, now.iowait).unwrap_or(0);
        let idle = delta(before.idle, now.idle).unwrap_or(0);
        let all = sum(&[busy, idle, iowait]);
        let share = |part| Ratio::of(part, all);
        Some(Self {
            busy: share(busy)?,
            user: share(user)?,
            system: share(system)?,
            iowait: share(iowait)?,
            steal: share(steal)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(monotonic_s: f64, boottime_s: f64) -> Clock {
        let nanos = |seconds: f64| Nanos((seconds * 1e9) as u64);
        Clock { monotonic: nanos(monotonic_s), boottime: nanos(boottime_s), realtime: Nanos(0) }
    }

    #[test]
    fn a_step_back_is_nothing_and_a_wrap_of_32_bits_is_one() {
        assert_eq!(counter_delta(5, 7, Width::Bits64), Some(2));
        assert_eq!(counter_delta(7, 5, Width::Bits64), None);
        assert_eq!(counter_delta(u64::from(u32::MAX) - 1, 3, Width::Bits32), Some(5));
        assert_eq!(counter_delta(7, 5, Width::Bits32), None);
        assert_eq!(counter_delta(1 << 40, 5, Width::Bits32), None);
    }

    #[test]
    fn a_suspend_is_a_gap_and_a_set_clock_is_not() {
        assert_eq!(Interval::between(&clock(10.0, 10.0), &clock(11.0, 11.0)), Some(Interval(Nanos::SECOND)));
        assert_eq!(Interval::between(&clock(10.0, 10.0), &clock(11.0, 3600.0)), None);
        assert_eq!(Interval::between(&clock(10.0, 10.0), &clock(10.0, 10.0)), None);
        assert_eq!(Interval::between(&clock(11.0, 11.0), &clock(10.0, 10.0)), None);
        let set_back = Clock { realtime: Nanos(5), ..clock(11.0, 11.0) };
        let before = Clock { realtime: Nanos(1_000_000_000_000), ..clock(10.0, 10.0) };
        assert!(Interval::between(&before, &set_back).is_some());
    }

    #[test]
    fn iowait_may_step_back_and_user_may_not() {
        let before = CpuTicks { user: Ticks(10), idle: Ticks(100), iowait: Ticks(5), ..CpuTicks::default() };
        let now = CpuTicks { user: Ticks(35), idle: Ticks(175), iowait: Ticks(4), ..CpuTicks::default() };
        let shares = CpuShares::between(&before, &now).unwrap();
        assert_eq!((shares.busy, shares.user, shares.iowait), (Ratio(0.25), Ratio(0.25), Ratio(0.0)));
        assert_eq!(CpuShares::between(&now, &before), None);
        assert_eq!(CpuShares::between(&now, &now), None);
    }

    #[test]
    fn an_interface_that_came_back_has_no_rate_and_a_new_one_none_yet() {
        let interface = |name: &str, bytes| Interface {
            name: Name::new(name.as_bytes()),
            received_bytes: bytes,
            ..Interface::default()
        };
        let (mut before, mut now) = (Sample::default(), Sample::default());
        before.clock = clock(1.0, 1.0);
        now.clock = clock(3.0, 3.0);
        before.net_dev.set(NetDev { interfaces: vec![interface("a", 1000), interface("b", 500)] });
        now.net_dev
            .set(NetDev { interfaces: vec![interface("b", 700), interface("a", 10), interface("c", 1)] });
        let mut rates = Rates::default();
        rates.fill(&before, &now, Width::Bits64);
        let received: Vec<_> = rates.interfaces.iter().map(|rate| rate.received_bytes_per_second).collect();
        assert_eq!(received, [Some(100.0), None]);
    }
}
