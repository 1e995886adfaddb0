//! A history beside its writer: one snapshot of it.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::block::{self, Block};
use crate::column;
use crate::database;
use crate::error::StoreError;
use crate::series::{SeriesId, SeriesKind, SeriesNames};

/// A value and when it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Nanoseconds since 1970.
    pub realtime_ns: i64,
    /// Raw: counters are not rates.
    pub value: f64,
}

/// What a history contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first and the last tick, in nanoseconds since 1970; `None` if there is none.
    pub realtime_ns: Option<(i64, i64)>,
    /// Ticks.
    pub ticks: u64,
    /// Series.
    pub series: u64,
    /// Starts of the machine.
    pub boots: u64,
    /// The file, without its log.
    pub file_bytes: u64,
}

/// A history as it was when it was opened. Its writer goes on meanwhile.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    names: SeriesNames,
    /// Blocks whose ticks are in the journal alone.
    unsealed: Vec<Block>,
}

impl History {
    /// Opens a history for reading.
    ///
    /// # Errors
    /// If there is none, or a newer version wrote it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = database::open_for_reading(path)?;
        // All that follows sees the same state: what the writer seals meanwhile is in the journal still.
        connection.execute_batch("BEGIN")?;
        let names = SeriesNames::read(&connection)?;
        let unsealed = block::unsealed(&connection)?;
        Ok(Self { connection, names, unsealed })
    }

    /// All series, in the order of their names.
    pub fn series(&self) -> Vec<(&str, SeriesId, SeriesKind)> {
        let mut all: Vec<_> = self.names.iter().collect();
        all.sort_unstable_by_key(|(name, ..)| *name);
        all
    }

    /// What there is.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn extent(&self) -> Result<Extent, StoreError> {
        let number = |sql: &str| -> Result<i64, StoreError> {
            Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
        };
        let sealed: (Option<i64>, Option<i64>, i64) = self.connection.query_row(
            "SELECT min(first_ns), max(last_ns), coalesce(sum(ticks), 0) FROM blocks",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let unsealed =
            || self.unsealed.iter().flat_map(|block| block.times.iter().map(|time| time.realtime_ns));
        let first = sealed.0.into_iter().chain(unsealed()).min();
        let last = sealed.1.into_iter().chain(unsealed()).max();
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let bytes = number("PRAGMA page_count")?.saturating_mul(number("PRAGMA page_size")?);
        Ok(Extent {
            realtime_ns: first.zip(last),
            ticks: count(sealed.2) + unsealed().count() as u64,
            series: count(number("SELECT count(*) FROM series")?),
            boots: count(number("SELECT count(*) FROM boots")?),
            file_bytes: count(bytes),
        })
    }

    /// The samples of a series between two times, the last of them included, in the order in which they were recorded. Damaged blocks
    /// are left out; their number comes back.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(
        &self,
        id: SeriesId,
        from_ns: i64,
        to_ns: i64,
        each: impl FnMut(Sample),
    ) -> Result<usize, StoreError> {
        read(&self.connection, self.unsealed.iter(), id, from_ns..=to_ns, each)
    }
}

/// The samples of a series in sealed blocks, and in those that are in memory.
pub(crate) fn read<'a>(
    connection: &Connection,
    in_memory: impl Iterator<Item = &'a Block>,
    id: SeriesId,
    wanted_ns: std::ops::RangeInclusive<i64>,
    mut each: impl FnMut(Sample),
) -> Result<usize, StoreError> {
    let mut damaged = 0;
    let mut statement = connection.prepare_cached(
        // The few blocks of the time first: CROSS is SQLite's word for this order.
        "SELECT blocks.times, columns.data FROM blocks CROSS JOIN columns \
         ON columns.series = ?1 AND columns.block = blocks.id \
         WHERE blocks.last_ns >= ?2 AND blocks.first_ns <= ?3 ORDER BY blocks.id",
    )?;
    let mut rows = statement.query(params![id.0, wanted_ns.start(), wanted_ns.end()])?;
    let mut take = |realtime_ns: i64, value: Option<f64>| {
        if let Some(value) = value.filter(|_| wanted_ns.contains(&realtime_ns)) {
            each(Sample { realtime_ns, value });
        }
    };
    while let Some(row) = rows.next()? {
        let times = column::decode_times(row.get_ref(0)?.as_blob().unwrap_or_default());
        let values = times.and_then(|times| {
            let data = row.get_ref(1)?.as_blob().unwrap_or_default();
            Ok((column::decode(data, times.len())?, times))
        });
        match values {
            Ok((values, times)) => {
                times.into_iter().zip(values).for_each(|(time, value)| take(time, value));
            }
            Err(StoreError::Damaged(_)) => damaged += 1,
            Err(error) => return Err(error),
        }
    }
    for block in in_memory {
        let values = block.column(id).unwrap_or_default();
        block.times.iter().zip(values).for_each(|(time, value)| take(time.realtime_ns, *value));
    }
    Ok(damaged)
}
