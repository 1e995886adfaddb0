//! /proc/PID/stat and /proc/PID/task/TID/stat: a task's state and counters. proc_pid_stat(5).

use crate::cursor::{Cursor, Malformed};
use crate::name::Name;
use crate::unit::Ticks;

/// /proc/PID/stat, the fields that the views need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PidStat {
    /// Task id.
    pub pid: u32,
    /// The name the task gave itself, at most 15 bytes; for kernel workers up to 63, cut to a [`Name`].
    pub comm: Name,
    /// `R`, `S`, `D`, `Z` …
    pub state: u8,
    /// The parent's process id.
    pub ppid: u32,
    /// Minor faults.
    pub minor_faults: u64,
    /// Major faults.
    pub major_faults: u64,
    /// Time in user mode.
    pub user: Ticks,
    /// Time in the kernel.
    pub system: Ticks,
    /// -20 to 19.
    pub nice: i8,
    /// Threads of the process.
    pub threads: u64,
    /// Start, in ticks after boot.
    pub start: Ticks,
    /// Virtual memory.
    pub virtual_bytes: u64,
    /// Resident pages.
    pub resident_pages: u64,
    /// SCHED_OTHER 0, FIFO 1, RR 2, BATCH 3, IDLE 5, DEADLINE 6. Since 2.5.19.
    pub policy: Option<u8>,
    /// Time waited for block I/O; 0 too where delay accounting is off. Since 2.6.18.
    pub blkio_delay: Option<Ticks>,
}

impl PidStat {
    /// Fills from the bytes of a stat file.
    ///
    /// # Errors
    /// If the name has no end or one of the figures up to `rss` is missing.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        let pid = cursor.number().and_then(|pid| u32::try_from(pid).ok());
        let pid = pid.ok_or_else(|| cursor.expected("a pid"))?;
        cursor.skip(b" (");
        // A name may hold blanks and parentheses; the last one closes it.
        let end = memchr::memrchr(b')', cursor.rest()).ok_or_else(|| cursor.expected("the end of a name"))?;
        let comm = &cursor.rest()[..end];
        cursor.skip(&bytes[cursor.offset()..=cursor.offset() + end]);
        let state = cursor.word().and_then(|word| word.first().copied()).filter(u8::is_ascii_alphabetic);
        let state = state.ok_or_else(|| cursor.expected("a state's letter"))?;
        // Fields 4 to 42, by the numbers of the man page.
        let mut fields = [None; 43];
        for field in &mut fields[4..] {
            *field = cursor.signed_or_wide();
        }
        let field = |number: usize| fields[number].ok_or_else(|| cursor.expected("a figure"));
        *self = Self {
            pid,
            comm: Name::new(comm),
            state,
            ppid: field(4)? as u32,
            minor_faults: field(10)?,
            major_faults: field(12)?,
            user: Ticks(field(14)?),
            system: Ticks(field(15)?),
            nice: field(19)? as i8,
            threads: field(20)?,
            start: Ticks(field(22)?),
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
            policy: fields[41].and_then(|policy| u8::try_from(policy).ok()),
            blkio_delay: fields[42].map(Ticks),
        };
        Ok(())
    }
}

impl Cursor<'_> {
    /// A figure of either sign in 64 bits, two's complement: what stat prints with %d, %ld and %lu alike.
    fn signed_or_wide(&mut self) -> Option<u64> {
        self.number().or_else(|| self.signed().map(|value| value as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_the_end_of_itself() {
        let text = b"42 (a) R (b) S 1 42 42 0 -1 4194560 5 0 6 0 7 8 0 0 20 -5 3 0 99 4096 12 \
            18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 33 0 0\n";
        let mut stat = PidStat::default();
        stat.parse(text).unwrap();
        assert_eq!((stat.comm.as_str(), stat.state, stat.ppid), ("a) R (b", b'S', 1));
        assert_eq!((stat.nice, stat.threads, stat.start), (-5, 3, Ticks(99)));
        assert_eq!(stat.blkio_delay, Some(Ticks(33)));
    }

    #[test]
    fn cut_short_it_is_refused() {
        assert!(PidStat::default().parse(b"42 (a) S 1 42").is_err());
        assert!(PidStat::default().parse(b"42 (a").is_err());
    }
}
