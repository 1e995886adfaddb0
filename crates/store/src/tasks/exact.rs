//! Which rounds of tasks are as they were recorded.

use facts::task::rounds::RoundTables;
use rusqlite::Connection;

use super::chunk::ChunkKey;
use crate::StoreError;
use crate::time_range::TimeRange;

/// The first and the last of the newest rounds that were not merged and whose times rise, in nanoseconds since 1970; `None` if there are none.
pub(crate) fn exact_rounds_ns(
    connection: &Connection,
    unsealed: &[(ChunkKey, RoundTables)],
) -> Result<Option<(i64, i64)>, StoreError> {
    // Each from an index alone: rows are large.
    let merged: i64 = connection.query_row(
        "SELECT coalesce(max(id), 0) FROM task_chunks INDEXED BY task_chunks_by_id WHERE step_s > 0",
        [],
        |row| row.get(0),
    )?;
    let mut statement = connection.prepare_cached(
        "SELECT id, first_ns, last_ns FROM task_chunks INDEXED BY task_chunks_by_time WHERE id > ?1",
    )?;
    let sealed = statement.query_map([merged], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut chunks: Vec<(i64, i64, i64)> = sealed.collect::<Result<_, _>>()?;
    chunks.extend(unsealed.iter().map(|(key, chunk)| {
        let time = TimeRange::of(&chunk.clocks());
        (key.id, time.first_ns, time.last_ns)
    }));
    chunks.sort_unstable();
    let Some((_, mut first_ns, last_ns)) = chunks.pop() else { return Ok(None) };
    while let Some((_, before_ns, _)) = chunks.pop_if(|(_, _, before_last_ns)| *before_last_ns <= first_ns) {
        first_ns = before_ns;
    }
    Ok(Some((first_ns, last_ns)))
}
