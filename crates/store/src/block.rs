//! A block of ticks: in memory as it grows, and its columns as they are written.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::StoreError;
use crate::column;
use crate::journal::{self, TickTime, Values};
use crate::series::SeriesId;

/// The ticks of a block, series by series.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) id: i64,
    pub(crate) boot: i64,
    pub(crate) times: Vec<TickTime>,
    columns: BTreeMap<SeriesId, Vec<Option<f64>>>,
    /// As the last tick left them.
    pub(crate) last: Values,
}

impl Block {
    pub(crate) fn new(id: i64, boot: i64) -> Self {
        Self { id, boot, ..Self::default() }
    }

    /// Adds a tick.
    pub(crate) fn push(&mut self, time: TickTime, values: Values) {
        let place = self.times.len();
        self.times.push(time);
        for (id, value) in &values {
            let column = self.columns.entry(*id).or_default();
            column.resize(place, None);
            column.push(Some(*value));
        }
        self.last = values;
    }

    /// A series' values, one for each tick of the block as far as it goes.
    pub(crate) fn column(&self, id: SeriesId) -> Option<&[Option<f64>]> {
        self.columns.get(&id).map(Vec::as_slice)
    }
}

/// A full block that is being written, a few columns at a time.
#[derive(Debug)]
pub(crate) struct Sealing {
    pub(crate) block: Block,
    /// Series whose columns are still to be written.
    left: Vec<SeriesId>,
}

impl Sealing {
    pub(crate) fn new(block: Block) -> Self {
        let left = block.columns.keys().rev().copied().collect();
        Self { block, left }
    }

    /// Writes at most so many columns; behind the last one the block itself, whose journal goes. Whether that is done.
    pub(crate) fn write(&mut self, connection: &Connection, most: usize) -> Result<bool, StoreError> {
        let ticks = self.block.times.len();
        for _ in 0..most {
            let Some(id) = self.left.last().copied() else { break };
            let mut values = self.block.columns.get(&id).cloned().unwrap_or_default();
            values.resize(ticks, None);
            if let Some(data) = column::encode(&values) {
                let mut insert = connection.prepare_cached(
                    "INSERT OR REPLACE INTO columns (series, block, data) VALUES (?1, ?2, ?3)",
                )?;
                insert.execute(params![id.0, self.block.id, data])?;
            }
            self.left.pop();
        }
        if !self.left.is_empty() {
            return Ok(false);
        }
        let realtimes: Vec<i64> = self.block.times.iter().map(|time| time.realtime_ns).collect();
        let boottimes: Vec<i64> = self.block.times.iter().map(|time| time.boottime_ns).collect();
        let damaged = || StoreError::Damaged("a block in memory");
        let times = column::encode_times(&realtimes).ok_or_else(damaged)?;
        let boot_times = column::encode_times(&boottimes).ok_or_else(damaged)?;
        let first = realtimes.iter().min().copied().unwrap_or_default();
        let last = realtimes.iter().max().copied().unwrap_or_default();
        let mut insert = connection.prepare_cached(
            "INSERT OR REPLACE INTO blocks (id, boot, first_ns, last_ns, ticks, times, boot_times) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let count = i64::try_from(ticks).unwrap_or(i64::MAX);
        insert.execute(params![self.block.id, self.block.boot, first, last, count, times, boot_times])?;
        connection.prepare_cached("DELETE FROM journal WHERE block = ?1")?.execute([self.block.id])?;
        Ok(true)
    }
}

/// The blocks whose ticks are in the journal alone. A damaged tick ends its block: those behind it are changes of it.
pub(crate) fn unsealed(connection: &Connection) -> Result<Vec<Block>, StoreError> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut statement = connection.prepare("SELECT block, boot, entry FROM journal ORDER BY tick")?;
    let mut rows = statement.query([])?;
    let mut damaged = None;
    while let Some(row) = rows.next()? {
        let (id, boot): (i64, i64) = (row.get(0)?, row.get(1)?);
        if damaged == Some(id) {
            continue;
        }
        if blocks.last().is_none_or(|block| block.id != id) {
            blocks.push(Block::new(id, boot));
        }
        let Some(block) = blocks.last_mut() else { continue };
        let mut values = block.last.clone();
        match journal::apply(row.get_ref(2)?.as_blob().unwrap_or_default(), &mut values) {
            Ok(time) => block.push(time, values),
            Err(_) => damaged = Some(id),
        }
    }
    Ok(blocks)
}
