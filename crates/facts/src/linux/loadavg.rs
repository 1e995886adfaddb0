//! /proc/loadavg: run queue averages. proc_loadavg(5).

use crate::cursor::{Cursor, Malformed};

/// /proc/loadavg.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadAverage {
    /// Tasks running, runnable or in uninterruptible sleep, in thousandths, averaged over 1, 5 and 15 minutes.
    pub thousandths: [u64; 3],
    /// Tasks running or runnable now.
    pub runnable_tasks: u64,
    /// Tasks (threads) there are.
    pub tasks: u64,
}

impl LoadAverage {
    /// Fills from the bytes of /proc/loadavg.
    ///
    /// # Errors
    /// If one of the five figures is missing.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(bytes);
        for average in &mut self.thousandths {
            *average = cursor.thousandths().ok_or_else(|| cursor.expected("a load average"))?;
        }
        self.runnable_tasks = cursor.number().ok_or_else(|| cursor.expected("runnable tasks"))?;
        cursor.skip(b"/");
        self.tasks = cursor.number().ok_or_else(|| cursor.expected("all tasks"))?;
        Ok(())
    }

    /// The averages over 1, 5 and 15 minutes.
    pub fn averages(&self) -> [f64; 3] {
        self.thousandths.map(|value| value as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_figures() {
        let mut load = LoadAverage::default();
        load.parse(b"0.53 12.04 1.00 3/128 4711\n").unwrap();
        assert_eq!(load, LoadAverage { thousandths: [530, 12_040, 1000], runnable_tasks: 3, tasks: 128 });
        assert!(load.parse(b"0.53 12.04").is_err());
    }
}
