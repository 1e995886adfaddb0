//! A cgroup's block I/O: v2 `io.stat`, v1 `blkio.throttle.io_service_bytes`.

use crate::cursor::{Malformed, lines};
use crate::unit::Bytes;

/// Bytes read and written on all devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupIo {
    /// Read.
    pub read: Bytes,
    /// Written.
    pub written: Bytes,
}

impl CgroupIo {
    /// Fills from v2's "8:0 rbytes=1 wbytes=2 …".
    ///
    /// # Errors
    /// If a known key holds no number.
    pub fn parse_v2(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        for mut line in lines(bytes) {
            line.word();
            loop {
                line.skip_blanks();
                let target = if line.skip(b"rbytes=") {
                    &mut self.read
                } else if line.skip(b"wbytes=") {
                    &mut self.written
                } else if line.word().is_some() {
                    continue;
                } else {
                    break;
                };
                *target += Bytes(line.number().ok_or_else(|| line.expected("bytes"))?);
            }
        }
        Ok(())
    }

    /// Fills from v1's "8:0 Read 1", "8:0 Write 2" ….
    ///
    /// # Errors
    /// If a known key holds no number.
    pub fn parse_v1(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        for mut line in lines(bytes) {
            line.word();
            let target = match line.word() {
                Some(b"Read") => &mut self.read,
                Some(b"Write") => &mut self.written,
                _ => continue,
            };
            *target += Bytes(line.number().ok_or_else(|| line.expected("bytes"))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_add_up_in_both_versions() {
        let mut io = CgroupIo::default();
        io.parse_v2(b"8:0 rbytes=1 wbytes=2 rios=9\n8:16 rbytes=10 wbytes=20\n").unwrap();
        assert_eq!(io, CgroupIo { read: Bytes(11), written: Bytes(22) });
        io.parse_v1(b"8:0 Read 5\n8:0 Write 6\n8:0 Total 11\nTotal 11\n").unwrap();
        assert_eq!(io, CgroupIo { read: Bytes(5), written: Bytes(6) });
    }
}
