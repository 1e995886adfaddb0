//! `kern.cp_time` and `kern.cp_times`: CPU time by state, of all CPUs and of each. sys/resource.h.

use super::{u32_at, u64_at};
use crate::cursor::Malformed;
use crate::linux::stat::{CpuTicks, Stat};
use crate::unit::Ticks;

/// User, nice, system, interrupts, idle: `CPUSTATES` longs.
const STATES: usize = 5;
/// Bytes of one CPU's.
pub const CPU_BYTES: usize = STATES * 8;

/// Fills a [`Stat`] from both; an empty `each` leaves out the single CPUs. FreeBSD knows no I/O wait, which is idle time.
///
/// # Errors
/// If either is short of a state.
pub fn parse(stat: &mut Stat, all: &[u8], each: &[u8]) -> Result<(), Malformed> {
    stat.has_five_states = true;
    stat.ticks_per_second = None;
    stat.total = ticks(all)?;
    stat.cpus.clear();
    for (number, cpu) in each.chunks(CPU_BYTES).enumerate() {
        let ticks = ticks(cpu)?;
        // There is room for as many CPUs as the kernel was built for; those that are not there have never run.
        if ticks != CpuTicks::default() {
            stat.cpus.push((number as u32, ticks));
        }
    }
    Ok(())
}

/// How often a second the states are counted: `stathz` of `kern.clockrate`, a `struct clockinfo` of sys/time.h.
///
/// # Errors
/// If the bytes are too few, or the frequency is 0.
pub fn ticks_per_second(clockrate: &[u8]) -> Result<u32, Malformed> {
    match u32_at(clockrate, 12, "stathz")? {
        0 => Err(Malformed { offset: 12, expected: "a frequency above 0" }),
        stathz => Ok(stathz),
    }
}

fn ticks(bytes: &[u8]) -> Result<CpuTicks, Malformed> {
    let state = |index: usize| u64_at(bytes, index * 8, "a CPU state's ticks").map(Ticks);
    Ok(CpuTicks {
        user: state(0)?,
        nice: state(1)?,
        system: state(2)?,
        irq: state(3)?,
        idle: state(4)?,
        ..CpuTicks::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longs(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn five_longs_a_cpu_and_absent_cpus_are_left_out() {
        let mut stat = Stat::default();
        let all = longs(&[1, 2, 3, 4, u64::MAX]);
        let each = longs(&[1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 9, 8, 7, 6, 5]);
        parse(&mut stat, &all, &each).unwrap();
        assert_eq!((stat.total.irq, stat.total.idle), (Ticks(4), Ticks(u64::MAX)));
        assert_eq!(stat.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(), [0, 2]);
        assert!(parse(&mut stat, &all[..39], &[]).is_err());
        assert!(parse(&mut stat, &all, &each[..100]).is_err());
        assert!(parse(&mut stat, &all, &[]).is_ok());
    }
}
