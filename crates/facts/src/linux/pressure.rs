//! /proc/pressure/{cpu,io,memory,irq}: how much of the time tasks were held up. Since 4.20;
//! Documentation/accounting/psi.rst.

use crate::cursor::{Malformed, lines};
use crate::unit::Nanos;

/// One line of a pressure file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// Share of the last 10, 60 and 300 s, in thousandths of a per cent.
    pub average_thousandths: [u64; 3],
    /// Time stalled since boot.
    pub total: Nanos,
}

impl Stall {
    /// Share of the last 10, 60 and 300 s, in per cent.
    pub fn averages_percent(&self) -> [f64; 3] {
        self.average_thousandths.map(|value| value as f64 / 1000.0)
    }
}

/// One of the pressure files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// At least one task was held up. Absent in `irq`.
    pub some: Option<Stall>,
    /// All tasks that were not idle were. For `cpu` since 5.13, and 0 there on the whole machine.
    pub full: Option<Stall>,
}

impl Pressure {
    /// Fills from the bytes of a pressure file.
    ///
    /// # Errors
    /// If a line's figures are missing, or no line is known.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        for mut line in lines(bytes) {
            let target = match line.word() {
                Some(b"some") => &mut self.some,
                Some(b"full") => &mut self.full,
                _ => continue,
            };
            let mut stall = Stall::default();
            let keys: [&[u8]; 3] = [b"avg10=", b"avg60=", b"avg300="];
            for (key, average) in keys.into_iter().zip(&mut stall.average_thousandths) {
                line.skip_blanks();
                line.skip(key);
                *average = line.thousandths().ok_or_else(|| line.expected("an average"))?;
            }
            line.skip_blanks();
            line.skip(b"total=");
            stall.total = Nanos::from_micros(line.number().ok_or_else(|| line.expected("a total"))?);
            *target = Some(stall);
        }
        if self.some.is_none() && self.full.is_none() {
            return Err(crate::cursor::Cursor::new(bytes).expected("\"some\" or \"full\""));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irq_has_no_some() {
        let mut pressure = Pressure::default();
        pressure.parse(b"full avg10=1.25 avg60=0.00 avg300=0.10 total=7\n").unwrap();
        assert_eq!(pressure.some, None);
        let full = pressure.full.unwrap();
        assert_eq!((full.average_thousandths, full.total), ([1250, 0, 100], Nanos(7000)));
        assert!(pressure.parse(b"").is_err());
    }
}
