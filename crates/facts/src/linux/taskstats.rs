//! `struct taskstats` of linux/taskstats.h, as netlink carries it: versions 7 (Linux 2.6.25) to 17.
//!
//! A field is believed where the version has it *and* the bytes reach it. The offsets are our own: a compiled struct
//! knows only the header it was built with. Version 15 (6.14.0 alone) put the maxima in the middle; 16 moved them to
//! the end.

use std::fmt;

use crate::task::comm::Comm;
use crate::task::figure::{Figure, Figures};
use crate::task::row::TaskRow;
use crate::task::{Accounting, Cause, TaskKey};
use crate::unit::{Bytes, Nanos};

/// The oldest version that is decoded; 2.6.32 speaks it.
pub const OLDEST_VERSION: u16 = 7;
/// The newest version whose every field is known; of a newer one the known part is read.
pub const NEWEST_VERSION: u16 = 17;

/// Attribute: one task's aggregate, nesting a pid and a struct.
pub const TYPE_AGGR_PID: u16 = 4;
/// Attribute: a thread group's aggregate.
pub const TYPE_AGGR_TGID: u16 = 5;
/// Attribute: the struct.
pub const TYPE_STATS: u16 = 3;
/// Command: get.
pub const CMD_GET: u8 = 1;
/// Attribute of a request: a task.
pub const CMD_ATTR_PID: u16 = 1;
/// Attribute of a request: a thread group.
pub const CMD_ATTR_TGID: u16 = 2;
/// Attribute of a request: send this socket the exit records of these CPUs.
pub const CMD_ATTR_REGISTER_CPUMASK: u16 = 3;
/// Command of cgroup v1: the states of a cgroup's tasks, by a descriptor of its directory.
pub const CGROUPSTATS_CMD_GET: u8 = 4;
/// Attribute of that request: the descriptor.
pub const CGROUPSTATS_CMD_ATTR_FD: u16 = 1;
/// Attribute of its answer: five 64-bit counts.
pub const CGROUPSTATS_TYPE_STATS: u16 = 1;

/// Flag in [`ExitInfo::flags`]: the task forked and never executed a program.
pub const FLAG_FORK: u8 = 0x01;
/// Flag: the last of its thread group. Since version 12.
pub const FLAG_GROUP: u8 = 0x20;

/// Why a struct was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Not even a version.
    Empty,
    /// Older than [`OLDEST_VERSION`].
    TooOld(u16),
    /// Shorter than its version promises.
    Truncated {
        /// The version it carries.
        version: u16,
        /// Its bytes.
        length: usize,
        /// The bytes that version has.
        expected: usize,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "an empty taskstats reply"),
            Self::TooOld(version) => {
                write!(f, "taskstats version {version}; whit reads {OLDEST_VERSION} and later")
            }
            Self::Truncated { version, length, expected } => {
                write!(f, "taskstats version {version} in {length} bytes, {expected} are its size")
            }
        }
    }
}

impl std::error::Error for Refused {}

/// Bytes that `struct taskstats` has in a version; for one newer than known, the known part.
pub fn expected_length(version: u16) -> usize {
    match version {
        ..=8 => 328,
        9 => 344,
        10 => 352,
        11 => 368,
        12 => 400,
        13 => 416,
        14 => 432,
        15 | 16 => 560,
        _ => 688,
    }
}

/// The fields that an exit record adds to the account of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitInfo {
    /// As wait(2) gives it: the status in bits 8 to 15, else the signal.
    pub code: u32,
    /// [`FLAG_FORK`], [`FLAG_GROUP`] and the others of linux/acct.h.
    pub flags: u8,
}

impl ExitInfo {
    /// The exit status; `None` if a signal ended the task.
    pub fn status(&self) -> Option<u32> {
        (self.code & 0x7f == 0).then_some(self.code >> 8 & 0xff)
    }

    /// The signal that ended the task.
    pub fn signal(&self) -> Option<u32> {
        Some(self.code & 0x7f).filter(|signal| *signal > 0)
    }
}

/// One decoded struct.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskStats {
    /// The struct's version.
    pub version: u16,
    /// Bytes that came.
    pub length: usize,
    /// The task's account. Its start is 0: the struct contains the age, not the start.
    pub row: TaskRow,
    /// Only valid in an exit record.
    pub exit: ExitInfo,
}

/// Where a cause's figures stand: count, total, and maximum with the version that brought it.
struct CauseOffsets {
    cause: Cause,
    since: u16,
    count: usize,
    max: usize,
}

const fn cause(cause: Cause, since: u16, count: usize, max: usize) -> CauseOffsets {
    CauseOffsets { cause, since, count, max }
}

/// Versions 7 to 14 and 16 onwards.
const CAUSES: [CauseOffsets; 8] = [
    cause(Cause::RunQueue, 1, 16, 432),
    cause(Cause::BlockIo, 1, 32, 448),
    cause(Cause::SwapIn, 1, 48, 464),
    cause(Cause::Reclaim, 7, 312, 480),
    cause(Cause::Thrashing, 9, 328, 496),
    cause(Cause::Compaction, 11, 352, 512),
    cause(Cause::Copy, 13, 400, 528),
    cause(Cause::Irq, 14, 416, 544),
];

/// Version 15: each maximum and minimum behind its total.
const CAUSES_V15: [CauseOffsets; 8] = [
    cause(Cause::RunQueue, 1, 16, 32),
    cause(Cause::BlockIo, 1, 48, 64),
    cause(Cause::SwapIn, 1, 80, 96),
    cause(Cause::Reclaim, 7, 360, 376),
    cause(Cause::Thrashing, 9, 392, 408),
    cause(Cause::Compaction, 11, 432, 448),
    cause(Cause::Copy, 13, 496, 512),
    cause(Cause::Irq, 14, 528, 544),
];

/// Decodes one struct. `accounting_on` is what `kernel.task_delayacct` says now, `None` if it cannot be read.
///
/// # Errors
/// An unknown past version, or fewer bytes than the version promises. More bytes than known are passed over.
pub fn decode(bytes: &[u8], accounting_on: Option<bool>) -> Result<TaskStats, Refused> {
    let version = u16::from_ne_bytes(*bytes.first_chunk().ok_or(Refused::Empty)?);
    if version < OLDEST_VERSION {
        return Err(Refused::TooOld(version));
    }
    let (length, expected) = (bytes.len(), expected_length(version));
    if length < expected {
        return Err(Refused::Truncated { version, length, expected });
    }
    let u64_at = |offset: usize| u64::from_ne_bytes(array_at(bytes, offset));
    let u32_at = |offset: usize| u32::from_ne_bytes(array_at(bytes, offset));

    // In version 15 the three first causes carry 16 bytes more each, which moves the plain fields behind them.
    let moved = if version == 15 { 48 } else { 0 };
    let tgid_at = if version == 15 { 464 } else { 368 };
    let causes = if version == 15 { &CAUSES_V15 } else { &CAUSES };

    let micros_at = |offset: usize| Nanos::from_micros(u64_at(offset + moved));
    let comm: [u8; 32] = array_at(bytes, 80 + moved);
    let comm = comm.split(|byte| *byte == 0).next().unwrap_or_default();
    let pid = u32_at(128 + moved);
    let mut figures = Figures::NONE;
    let kib_at = |offset: usize| Bytes::from_kib(u64_at(offset)).0;
    for (figure, value) in [
        (Figure::ON_CPU, u64_at(72 + moved)),
        (Figure::CPU_TICKS, u64_at(64 + moved)),
        (Figure::USER, micros_at(152).0),
        (Figure::SYSTEM, micros_at(160).0),
        (Figure::MINOR_FAULTS, u64_at(168 + moved)),
        (Figure::MAJOR_FAULTS, u64_at(176 + moved)),
        (Figure::PEAK_RESIDENT_BYTES, kib_at(200 + moved)),
        (Figure::PEAK_VIRTUAL_BYTES, kib_at(208 + moved)),
        (Figure::READ_BYTES, u64_at(248 + moved)),
        (Figure::WRITTEN_BYTES, u64_at(256 + moved)),
        (Figure::VOLUNTARY_SWITCHES, u64_at(272 + moved)),
        (Figure::INVOLUNTARY_SWITCHES, u64_at(280 + moved)),
    ] {
        figures.set(figure, Some(value));
    }
    for place in causes.iter().filter(|place| version >= place.since) {
        figures.set(Figure::count(place.cause), Some(u64_at(place.count)));
        figures.set(Figure::delay(place.cause), Some(u64_at(place.count + 8)));
        figures.set(Figure::maximum(place.cause), (version >= 15).then(|| u64_at(place.max)));
    }
    let row = TaskRow {
        key: TaskKey { pid, start: Nanos(0) },
        tgid: (version >= 12).then(|| u32_at(tgid_at)),
        ppid: Some(u32_at(132 + moved)),
        uid: Some(u32_at(120 + moved)),
        comm: Comm::new(comm),
        state: None,
        nice: bytes[9].cast_signed(),
        policy: Some(bytes[112 + moved]),
        cgroup: None,
        accounting: accounting(&figures, accounting_on),
        wall: micros_at(144),
        wait: None,
        figures,
    };
    let exit = ExitInfo { code: u32_at(4), flags: bytes[8] };
    Ok(TaskStats { version, length, row, exit })
}

/// A task that is older than the switch has no delays, which the struct shows as zeros. A task that has waited once has them.
fn accounting(figures: &Figures, accounting_on: Option<bool>) -> Accounting {
    let counts_any = Cause::ALL
        .into_iter()
        .filter(|cause| *cause != Cause::RunQueue)
        .any(|cause| figures.get(Figure::count(cause)).is_some_and(|count| count > 0));
    match (counts_any, accounting_on) {
        // What it counted before the switch was turned off is no more than a lower bound.
        (_, Some(false)) => Accounting::Off,
        (true, _) => Accounting::On,
        (false, _) => Accounting::Unsure,
    }
}

/// The bytes at a place below [`expected_length`], which was checked.
fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests;
