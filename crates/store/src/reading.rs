//! Blocks and columns as they are in a file, each checked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::StoreError;
use crate::block::{BlockHead, BlockKey};
use crate::checksum;
use crate::column;
use crate::error::or_damaged;
use crate::series::SeriesId;
use crate::window::Points;

/// A block without its columns; `None` if it is damaged.
pub(crate) fn read_head(
    connection: &Connection,
    id: i64,
) -> Result<Option<(BlockKey, BlockHead)>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT position, span, step_s, first_ns, last_ns, lasts_s, head FROM blocks WHERE id = ?1",
    )?;
    let decode = |row: &rusqlite::Row<'_>| {
        let (position, span): (i64, i64) = (row.get(0)?, row.get(1)?);
        let columns = [id, position, span, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
        let bytes = row.get_ref(6)?.as_blob().unwrap_or_default();
        let head = checksum::open(&columns, bytes).and_then(BlockHead::decode);
        Ok(head.map(|head| (BlockKey { id, position, span }, head)))
    };
    or_damaged(statement.query_row([id], decode).optional().map(Option::flatten).map_err(StoreError::from))
}

/// Heads of blocks that were read before: to decode them took half the time of a question about one series, and each such question needs them.
#[derive(Debug, Default)]
pub(crate) struct Heads(RefCell<HashMap<i64, Arc<(BlockKey, BlockHead)>>>);

impl Heads {
    /// As many as are kept, of some 16 kB each: those of a day, and some.
    const MAX: usize = 160;

    /// A block without its columns; `None` if it is damaged.
    pub(crate) fn get(
        &self,
        connection: &Connection,
        block: i64,
    ) -> Result<Option<Arc<(BlockKey, BlockHead)>>, StoreError> {
        if let Some(head) = self.0.borrow().get(&block) {
            return Ok(Some(head.clone()));
        }
        let Some(head) = read_head(connection, block)?.map(Arc::new) else { return Ok(None) };
        let mut kept = self.0.borrow_mut();
        if kept.len() < Self::MAX {
            kept.insert(block, head.clone());
        }
        Ok(Some(head))
    }
}

/// The block before a position; `None` if there is none, or it is damaged.
pub(crate) fn read_block_before(
    connection: &Connection,
    position: i64,
) -> Result<Option<(BlockKey, BlockHead)>, StoreError> {
    let id: Option<i64> = connection
        .prepare_cached("SELECT id FROM blocks WHERE position < ?1 ORDER BY position DESC LIMIT 1")?
        .query_row([position], |row| row.get(0))
        .optional()?;
    id.map_or(Ok(None), |id| read_head(connection, id))
}

/// Returns whether there is a block at a position.
pub(crate) fn has_block_at(connection: &Connection, position: i64) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM blocks WHERE position = ?1")?;
    Ok(statement.exists([position])?)
}

/// A column that a block's head says is there; `None` if it is damaged.
pub(crate) fn read_column(
    connection: &Connection,
    block: i64,
    head: &BlockHead,
    id: SeriesId,
) -> Result<Option<Points>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT data FROM columns WHERE block = ?1 AND series = ?2")?;
    let ticks = head.clocks.len();
    let decode = |row: &rusqlite::Row<'_>| {
        let bytes = row.get_ref(0)?.as_blob().unwrap_or_default();
        Ok(checksum::open(&[block, id.0.into()], bytes).and_then(|body| match head.step_s {
            0 => column::decode(body, ticks).map(Points::of_ticks),
            _ => Points::decode(body, ticks),
        }))
    };
    or_damaged(
        statement
            .query_row(params![block, id.0], decode)
            .optional()
            .map(Option::flatten)
            .map_err(StoreError::from),
    )
}

/// The blocks with ticks between two times, in the order of their positions, and whether their index is damaged. If it is, the table is
/// read without it, as far as it can be.
pub(crate) fn read_block_ids(
    connection: &Connection,
    wanted_ns: &std::ops::RangeInclusive<i64>,
) -> Result<(Vec<i64>, bool), StoreError> {
    let read = |index: &str, ids: &mut Vec<i64>| -> Result<(), StoreError> {
        let sql =
            format!("SELECT id FROM blocks {index} WHERE last_ns >= ?1 AND first_ns <= ?2 ORDER BY position");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![wanted_ns.start(), wanted_ns.end()])?;
        while let Some(row) = rows.next()? {
            ids.push(row.get(0)?);
        }
        Ok(())
    };
    with_or_without_index(read)
}

/// Reads rows by an index or, if that is damaged, without it: then as far as the table can be read. `read` is given what stands behind the
/// table's name. Returns whether something is damaged, too.
pub(crate) fn with_or_without_index<T>(
    read: impl Fn(&str, &mut Vec<T>) -> Result<(), StoreError>,
) -> Result<(Vec<T>, bool), StoreError> {
    let mut rows = Vec::new();
    match read("", &mut rows) {
        Ok(()) => return Ok((rows, false)),
        Err(error) if !error.is_damage() => return Err(error),
        Err(_) => rows.clear(),
    }
    match read("NOT INDEXED", &mut rows) {
        Err(error) if !error.is_damage() => Err(error),
        _ => Ok((rows, true)),
    }
}
