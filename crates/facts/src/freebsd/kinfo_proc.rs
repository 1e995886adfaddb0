//! `struct kinfo_proc` of sys/user.h: a process or thread, from `kern.proc.*`.
//!
//! FreeBSD counts no delays and no time in the run queue: those columns are absent.

use super::{at, c_string, u32_at, u64_at};
use crate::cursor::Malformed;
use crate::task::comm::Comm;
use crate::task::figure::{Figure, Figures};
use crate::task::row::TaskRow;
use crate::task::{Accounting, TaskKey};
use crate::unit::{Bytes, Nanos};

/// Bytes of the struct, which are its first member, too.
pub const BYTES: usize = 1088;
/// `ki_pid`.
pub const PID: usize = 72;
/// `ki_ppid`.
pub const PPID: usize = 76;
/// `ki_ruid`.
pub const RUID: usize = 172;
/// `ki_size`: bytes of address space.
pub const SIZE: usize = 256;
/// `ki_rssize`: pages in memory.
pub const RSSIZE: usize = 264;
/// Bytes in a page of amd64.
const PAGE_BYTES: u64 = 4096;
/// `ki_runtime`: time on a CPU, microseconds.
pub const RUNTIME: usize = 328;
/// `ki_start`: a `struct timeval`, since 1970.
pub const START: usize = 336;
/// `ki_stat`.
pub const STAT: usize = 388;
/// `ki_nice`.
pub const NICE: usize = 389;
/// `ki_comm`, 20 bytes.
pub const COMM: usize = 447;
/// `ki_numthreads`.
pub const NUMTHREADS: usize = 596;
/// `ki_tid`.
pub const TID: usize = 600;
/// `ki_rusage`: a `struct rusage`, whose first members are the times in user mode and in the kernel.
pub const RUSAGE: usize = 608;
/// `ki_rusage.ru_maxrss`: kibibytes.
pub const MAXRSS: usize = RUSAGE + 32;
/// `ki_rusage.ru_minflt`.
pub const MINFLT: usize = RUSAGE + 64;
/// `ki_rusage.ru_majflt`.
pub const MAJFLT: usize = RUSAGE + 72;
/// `ki_rusage.ru_nvcsw`.
pub const NVCSW: usize = RUSAGE + 128;
/// `ki_rusage.ru_nivcsw`.
pub const NIVCSW: usize = RUSAGE + 136;

/// The state of a process by Linux' letters, from `SIDL` to `SLOCK` of sys/proc.h.
fn state_letter(state: u8) -> u8 {
    match state {
        2 => b'R',
        4 => b'T',
        5 => b'Z',
        _ => b'S',
    }
}

/// `ki_tdflags`.
pub const TDFLAGS: usize = 1080;
/// `TDF_IDLETD`: a CPU's idle thread.
const IDLE_THREAD: u64 = 0x20;

/// The parts of a struct that are read, by offsets and lengths. A capture contains nothing else: there are kernel addresses, login names
/// and groups beside it.
pub const READ: [(usize, usize); 13] = [
    (0, 4),
    (PID, 8),
    (RUID, 4),
    (SIZE, 16),
    (RUNTIME, 8),
    (START, 16),
    (STAT, 2),
    (COMM, COMM_BYTES),
    (NUMTHREADS, 8),
    (RUSAGE, 40),
    (MINFLT, 16),
    (NVCSW, 16),
    (TDFLAGS, 8),
];
/// `COMMLEN` and a zero.
const COMM_BYTES: usize = 20;

/// One process or thread.
#[derive(Clone, Copy, Debug)]
pub struct KinfoProc {
    /// Its account, with the process's id. FreeBSD keeps the present size of the address space, not the peak.
    pub row: TaskRow,
    /// Its process.
    pub pid: u32,
    /// Its thread.
    pub tid: u32,
    /// Threads of the process.
    pub threads: u32,
    /// The idle thread of a CPU, which is not busy with anything.
    pub is_idle: bool,
}

/// Walks over what `kern.proc` returns: structs one after the other, of the length that each says itself. The last item is an error if
/// bytes are left that are not a struct.
pub fn each(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let offset = bytes.len() - rest.len();
        let length = u32_at(rest, 0, "ki_structsize").map_or(0, |length| length as usize);
        if length < BYTES || length > rest.len() {
            rest = &[];
            return Some(Err(Malformed { offset, expected: "a struct kinfo_proc and its length" }));
        }
        let (one, after) = rest.split_at(length);
        rest = after;
        Some(Ok(one))
    })
}

impl KinfoProc {
    /// From the bytes of one struct, `now` and the machine's start being since 1970.
    ///
    /// # Errors
    /// If the bytes are fewer than the struct's.
    pub fn parse(bytes: &[u8], booted: Nanos, now: Nanos) -> Result<Self, Malformed> {
        if bytes.len() < BYTES {
            return Err(Malformed { offset: bytes.len(), expected: "the 1088 bytes of struct kinfo_proc" });
        }
        let word = |offset| u32_at(bytes, offset, "a number");
        let time = |offset: usize| -> Result<Nanos, Malformed> {
            let seconds = u64_at(bytes, offset, "seconds")?.saturating_mul(Nanos::SECOND.0);
            Ok(Nanos(seconds) + Nanos::from_micros(u64_at(bytes, offset + 8, "microseconds")?))
        };
        let (pid, started) = (word(PID)?, time(START)?);
        let wall = now.saturating_sub(started);
        let (user, system) = (time(RUSAGE)?, time(RUSAGE + 16)?);
        let [state, nice] = at::<2>(bytes, STAT, "a state")?;
        let mut figures = Figures::NONE;
        for (figure, value) in [
            (Figure::ON_CPU, Nanos::from_micros(u64_at(bytes, RUNTIME, "a runtime")?).0),
            (Figure::CPU_TICKS, (user + system).0),
            (Figure::USER, user.0),
            (Figure::SYSTEM, system.0),
            (Figure::VOLUNTARY_SWITCHES, u64_at(bytes, NVCSW, "ru_nvcsw")?),
            (Figure::INVOLUNTARY_SWITCHES, u64_at(bytes, NIVCSW, "ru_nivcsw")?),
            (Figure::MINOR_FAULTS, u64_at(bytes, MINFLT, "ru_minflt")?),
            (Figure::MAJOR_FAULTS, u64_at(bytes, MAJFLT, "ru_majflt")?),
            (Figure::VIRTUAL_BYTES, u64_at(bytes, SIZE, "ki_size")?),
            (Figure::RESIDENT_BYTES, u64_at(bytes, RSSIZE, "ki_rssize")?.saturating_mul(PAGE_BYTES)),
            (Figure::PEAK_RESIDENT_BYTES, Bytes::from_kib(u64_at(bytes, MAXRSS, "ru_maxrss")?).0),
        ] {
            figures.set(figure, Some(value));
        }
        let row = TaskRow {
            key: TaskKey { pid, start: started.saturating_sub(booted) },
            tgid: Some(pid),
            ppid: Some(word(PPID)?),
            uid: Some(word(RUID)?),
            comm: Comm::new(c_string(&bytes[COMM..COMM + COMM_BYTES])),
            state: Some(state_letter(state)),
            nice: nice.cast_signed(),
            accounting: Accounting::Off,
            wall,
            figures,
            ..TaskRow::NONE
        };
        let threads = word(NUMTHREADS)?.max(1);
        let is_idle = u64_at(bytes, TDFLAGS, "ki_tdflags")? & IDLE_THREAD != 0;
        Ok(Self { row, pid, tid: word(TID)?, threads, is_idle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Cause;

    fn recorded(pid: u32) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        let mut put =
            |offset: usize, value: &[u8]| bytes[offset..offset + value.len()].copy_from_slice(value);
        put(0, &(BYTES as u32).to_le_bytes());
        put(PID, &pid.to_le_bytes());
        put(COMM, b"python3.6\0");
        put(START, &1010u64.to_le_bytes());
        put(RUNTIME, &2_500_000u64.to_le_bytes());
        put(RUSAGE, &2u64.to_le_bytes());
        put(RUSAGE + 24, &500_000u64.to_le_bytes());
        put(SIZE, &7_000_000u64.to_le_bytes());
        put(RSSIZE, &3u64.to_le_bytes());
        for (offset, value) in [(MINFLT, 11u64), (MAJFLT, 12), (NVCSW, 13), (NIVCSW, 14), (MAXRSS, 15)] {
            put(offset, &value.to_le_bytes());
        }
        put(STAT, &[2]);
        put(NICE, &[0xff]);
        put(NUMTHREADS, &3u32.to_le_bytes());
        put(TID, &100_077u32.to_le_bytes());
        bytes
    }

    #[test]
    fn what_is_there_is_read_and_delays_are_absent() {
        let second = Nanos::SECOND.0;
        let read = KinfoProc::parse(&recorded(42), Nanos(1000 * second), Nanos(1020 * second)).unwrap();
        assert_eq!((read.pid, read.tid, read.row.comm.as_str()), (42, 100_077, "python3.6"));
        assert_eq!((read.row.wall, read.row.key.start), (Nanos(10 * second), Nanos(10 * second)));
        let on_cpu = [Figure::ON_CPU, Figure::CPU_TICKS].map(|figure| read.row.figures.get(figure));
        assert_eq!(on_cpu, [Some(2_500_000_000); 2]);
        let expected = [
            (Figure::VIRTUAL_BYTES, 7_000_000),
            (Figure::RESIDENT_BYTES, 12_288),
            (Figure::MINOR_FAULTS, 11),
            (Figure::MAJOR_FAULTS, 12),
            (Figure::VOLUNTARY_SWITCHES, 13),
            (Figure::INVOLUNTARY_SWITCHES, 14),
            (Figure::PEAK_RESIDENT_BYTES, 15_360),
        ];
        for (figure, value) in expected {
            assert_eq!(read.row.figures.get(figure), Some(value), "{figure:?}");
        }
        assert_eq!((read.row.nice, read.row.state, read.threads), (-1, Some(b'R'), 3));
        for metric in &crate::catalog::TASK_METRICS {
            let is_told = metric.sources.contains(&crate::task::TaskSource::Sysctl);
            assert_eq!(read.row.figures.get(metric.figure).is_some(), is_told, "{}", metric.field);
        }
        assert!(Cause::ALL.iter().all(|cause| read.row.figures.get(Figure::delay(*cause)).is_none()));
    }

    #[test]
    fn structs_are_as_long_as_they_say() {
        let mut bytes = recorded(1);
        let mut longer = recorded(2);
        longer.resize(BYTES + 16, 0);
        longer[..4].copy_from_slice(&((BYTES + 16) as u32).to_le_bytes());
        bytes.extend(longer);
        bytes.extend(recorded(3));
        bytes.extend(&recorded(4)[..500]);
        let pid = |bytes: &[u8]| KinfoProc::parse(bytes, Nanos(0), Nanos(0)).unwrap().pid;
        let pids: Vec<u32> = each(&bytes).map_while(Result::ok).map(pid).collect();
        assert_eq!((pids, each(&bytes).filter(Result::is_err).count()), (vec![1, 2, 3], 1));
        for length in [0u32, 4, 1087, u32::MAX] {
            let bytes = [&length.to_le_bytes()[..], &[0; 2000]].concat();
            assert!(matches!(each(&bytes).collect::<Vec<_>>()[..], [Err(_)]), "{length}");
        }
        assert_eq!(each(&[]).count(), 0);
        assert!(KinfoProc::parse(&recorded(1)[..1087], Nanos(0), Nanos(0)).is_err());
    }
}
