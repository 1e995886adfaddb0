//! Samples from elsewhere: they become blocks as if they had been recorded.

use std::collections::BTreeMap;

use facts::sample::Clock;
use facts::unit::Nanos;

use rusqlite::OptionalExtension as _;

use super::Store;
use crate::StoreError;
use crate::block::{BLOCK_TICKS, BlockColumns, BlockKey, Sealing};
use crate::boots;
use crate::series::{SeriesId, SeriesKind};

/// A series from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct ImportedSeries<'s> {
    /// Its name.
    pub name: &'s str,
    /// How it behaves, unless it is in the history already.
    pub kind: SeriesKind,
    /// Nanoseconds since 1970, and the value. Of several values at one time the last is kept.
    pub samples: &'s [(i64, f64)],
}

/// The samples of a series in order, and how many of them are taken.
struct Column {
    id: SeriesId,
    samples: Vec<(i64, f64)>,
    taken: usize,
}

impl Store {
    /// Adds samples. They stand before what was recorded, if they are older than that, otherwise behind it. Returns the number of ticks.
    ///
    /// # Errors
    /// If they cannot be written. What is complete of it stays.
    pub fn import(&mut self, series: &[ImportedSeries<'_>]) -> Result<u64, StoreError> {
        let mut columns: Vec<Column> = Vec::new();
        for imported in series {
            let mut samples = imported.samples.to_vec();
            // Stable: of one time the last stays the last.
            samples.sort_by_key(|(realtime_ns, _)| *realtime_ns);
            columns.push(Column { id: self.series(imported.name, imported.kind), samples, taken: 0 });
        }
        let mut times: Vec<i64> =
            columns.iter().flat_map(|column| column.samples.iter().map(|(at, _)| *at)).collect();
        times.sort_unstable();
        times.dedup();
        let Some(last) = times.last() else { return Ok(0) };
        let first = self.make_room(*last, times.len().div_ceil(BLOCK_TICKS))?;
        let boot = self.boots.number(boots::IMPORTED);
        for (position, ticks) in (first..).zip(times.chunks(BLOCK_TICKS)) {
            let clocks = ticks.iter().map(|at| {
                let at = Nanos(at.cast_unsigned());
                Clock { realtime: at, boottime: at, monotonic: at }
            });
            let mut block = BlockColumns { boot, clocks: clocks.collect(), values: BTreeMap::new() };
            for column in &mut columns {
                let values = take(column, ticks);
                if values.iter().any(Option::is_some) {
                    block.values.insert(column.id, values);
                }
            }
            self.last_id += 1;
            let key = BlockKey { id: self.last_id, position, span: 1 };
            self.sealing.push(Sealing::new(key, block));
            self.write(usize::MAX)?;
        }
        Ok(times.len() as u64)
    }

    /// The position of the first of so many blocks whose last tick is at this time.
    fn make_room(&mut self, last_ns: i64, blocks: usize) -> Result<i64, StoreError> {
        let blocks = i64::try_from(blocks).unwrap_or(i64::MAX);
        let oldest: Option<(i64, i64)> = self
            .connection
            .query_row("SELECT position, first_ns FROM blocks ORDER BY position LIMIT 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        Ok(match oldest {
            Some((position, first_ns)) if last_ns < first_ns => position - blocks,
            _ => {
                let position = self.open.key.position;
                self.open.key.position += blocks;
                position
            }
        })
    }
}

/// The values of a series at some times; `None` where it has none.
fn take(column: &mut Column, ticks: &[i64]) -> Vec<Option<f64>> {
    let mut values = vec![None; ticks.len()];
    for (value, at) in values.iter_mut().zip(ticks) {
        while let Some((_, found)) = column.samples.get(column.taken).filter(|(time, _)| time == at) {
            *value = Some(*found);
            column.taken += 1;
        }
    }
    values
}
