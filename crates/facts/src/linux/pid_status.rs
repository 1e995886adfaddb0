//! /proc/PID/status: what stat lacks, by name. proc_pid_status(5).

use crate::cursor::{Malformed, lines};
use crate::unit::Bytes;

/// /proc/PID/status, the lines that the views need; `None` if the kernel does not print one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PidStatus {
    /// Process id, also in a thread's file.
    pub tgid: Option<u32>,
    /// Real user id.
    pub uid: Option<u32>,
    /// Effective capabilities, a bit each by linux/capability.h.
    pub effective_capabilities: Option<u64>,
    /// Resident memory; a kernel thread has none.
    pub resident: Option<Bytes>,
    /// Swapped out. Since 2.6.34.
    pub swapped: Option<Bytes>,
    /// Threads of the process.
    pub threads: Option<u64>,
    /// Times the task gave up the CPU.
    pub voluntary_switches: Option<u64>,
    /// Times it was made to.
    pub involuntary_switches: Option<u64>,
}

impl PidStatus {
    /// Fills from the bytes of a status file.
    ///
    /// # Errors
    /// If a line that whit knows holds no number.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        for mut line in lines(bytes) {
            let Some(key) = line.until(b':') else { continue };
            let hexadecimal = key == b"CapEff";
            if !hexadecimal && !KEYS.contains(&key) {
                continue;
            }
            let number = if hexadecimal { line.hexadecimal() } else { line.number() };
            let number = number.ok_or_else(|| line.expected("a number"))?;
            let id = u32::try_from(number).ok();
            match key {
                b"Tgid" => self.tgid = id,
                b"Uid" => self.uid = id,
                b"CapEff" => self.effective_capabilities = Some(number),
                b"VmRSS" => self.resident = Some(Bytes::from_kib(number)),
                b"VmSwap" => self.swapped = Some(Bytes::from_kib(number)),
                b"Threads" => self.threads = Some(number),
                b"voluntary_ctxt_switches" => self.voluntary_switches = Some(number),
                _ => self.involuntary_switches = Some(number),
            }
        }
        Ok(())
    }
}

const KEYS: [&[u8]; 7] = [
    b"Tgid",
    b"Uid",
    b"VmRSS",
    b"VmSwap",
    b"Threads",
    b"voluntary_ctxt_switches",
    b"nonvoluntary_ctxt_switches",
];

impl crate::cursor::Cursor<'_> {
    /// A mask in hexadecimal without prefix, after blanks.
    fn hexadecimal(&mut self) -> Option<u64> {
        let word = self.word()?;
        u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_lines_are_read_and_the_rest_passed_over() {
        let mut status = PidStatus::default();
        status
            .parse(b"Name:\tx: y\nUid:\t5\t6\t7\t8\nVmRSS:\t  4 kB\nCapEff:\t000001fffeffffff\nnonvoluntary_ctxt_switches:\t9\n")
            .unwrap();
        assert_eq!((status.uid, status.resident), (Some(5), Some(Bytes(4096))));
        assert_eq!(status.effective_capabilities, Some(0x1ff_feff_ffff));
        assert_eq!((status.voluntary_switches, status.involuntary_switches), (None, Some(9)));
        assert!(status.parse(b"Uid:\tx\n").is_err());
    }
}
