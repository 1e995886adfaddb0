//! /proc/stat: CPU time by state, context switches, forks. proc_stat(5).

use crate::cursor::{Cursor, Malformed, lines};
use crate::unit::Ticks;

/// Where a CPU's time went since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// In user mode; guests' time is in it.
    pub user: Ticks,
    /// In user mode at a positive nice value; niced guests' time is in it.
    pub nice: Ticks,
    /// In the kernel.
    pub system: Ticks,
    /// Doing nothing. May decrease, as iowait does (proc_stat(5)), from which it is calculated.
    pub idle: Ticks,
    /// Doing nothing while a task of this CPU waited for block I/O. May step back.
    pub iowait: Ticks,
    /// Serving interrupts.
    pub irq: Ticks,
    /// Serving soft interrupts.
    pub softirq: Ticks,
    /// Taken by the hypervisor for others. Since 2.6.11.
    pub steal: Ticks,
}

/// /proc/stat.
#[derive(Clone, Debug, Default)]
pub struct Stat {
    /// All CPUs together.
    pub total: CpuTicks,
    /// Each CPU that is online, by its number.
    pub cpus: Vec<(u32, CpuTicks)>,
    /// Ticks of a second: 100 on Linux (USER_HZ), `stathz` on FreeBSD; `None` if it is not known.
    pub ticks_per_second: Option<u32>,
    /// Only five states are counted, as FreeBSD does: no I/O wait, no soft interrupts, no steal.
    pub has_five_states: bool,
    /// Context switches since boot.
    pub context_switches: Option<u64>,
    /// When the machine started, seconds since 1970.
    pub boot_time_s: Option<u64>,
    /// Tasks made since boot (forks and threads).
    pub forks: Option<u64>,
    /// Tasks running or runnable.
    pub running_tasks: Option<u64>,
    /// Tasks that wait for block I/O.
    pub blocked_tasks: Option<u64>,
}

/// The ticks per second in which the kernel counts for programs, on every port in use.
const USER_HZ: u32 = 100;

impl Stat {
    /// Fills the CPU time of all CPUs together from the bytes of /proc/stat: its first line. Leaves the rest as it is.
    ///
    /// # Errors
    /// If the first line is not the CPUs' sum, or is short of four figures.
    pub fn parse_total(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut line = Cursor::new(bytes);
        if !line.skip(b"cpu ") {
            return Err(line.expected("the line \"cpu\""));
        }
        self.total = CpuTicks::parse(&mut line)?;
        self.ticks_per_second = Some(USER_HZ);
        Ok(())
    }

    /// Fills from the bytes of /proc/stat.
    ///
    /// # Errors
    /// If the first line is not the CPUs' sum, or a CPU's line is short of four figures.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cpus = std::mem::take(&mut self.cpus);
        cpus.clear();
        *self = Self { cpus, ..Self::default() };
        self.parse_total(bytes)?;
        for mut line in lines(bytes).skip(1) {
            match line.word() {
                Some([b'c', b'p', b'u', number @ ..]) => {
                    let number = Cursor::new(number).number().and_then(|number| u32::try_from(number).ok());
                    let number = number.ok_or_else(|| line.expected("a CPU's number"))?;
                    self.cpus.push((number, CpuTicks::parse(&mut line)?));
                }
                Some(b"ctxt") => self.context_switches = line.number(),
                Some(b"btime") => self.boot_time_s = line.number(),
                Some(b"processes") => self.forks = line.number(),
                Some(b"procs_running") => self.running_tasks = line.number(),
                Some(b"procs_blocked") => self.blocked_tasks = line.number(),
                _ => {}
            }
        }
        Ok(())
    }
}

impl CpuTicks {
    fn parse(line: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let mut required = || line.number().map(Ticks).ok_or_else(|| line.expected("clock ticks"));
        let (user, nice, system, idle) = (required()?, required()?, required()?, required()?);
        let mut later = || Ticks(line.number().unwrap_or(0));
        let (iowait, irq, softirq, steal) = (later(), later(), later(), later());
        Ok(Self { user, nice, system, idle, iowait, irq, softirq, steal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offline_cpus_leave_holes_and_old_kernels_print_fewer_figures() {
        let mut stat = Stat::default();
        stat.parse(b"cpu  4 3 2 1\ncpu0 1 1 1 1\ncpu3 3 2 1 0 7\nintr 9 9\nctxt 5\nbtime 6\n").unwrap();
        assert_eq!(stat.total.idle, Ticks(1));
        assert_eq!(stat.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(stat.cpus[1].1.iowait, Ticks(7));
        assert_eq!((stat.context_switches, stat.boot_time_s), (Some(5), Some(6)));
    }

    #[test]
    fn a_short_line_is_refused() {
        assert!(Stat::default().parse(b"cpu  4 3 2\n").is_err());
        assert!(Stat::default().parse(b"").is_err());
    }
}
