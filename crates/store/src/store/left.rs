//! What a writer that ended left in the journals.

use facts::task::rounds::RoundTables;
use rusqlite::Connection;

use crate::block::{Block, BlockKey, Sealing};
use crate::database;
use crate::error::StoreError;
use crate::tasks::{ChunkKey, write_chunk};
use crate::unsealed::Unsealed;

/// The last numbers of a history whose journals are empty, and what was damaged in them.
pub(super) struct Left {
    pub(super) block: i64,
    pub(super) position: i64,
    pub(super) chunk: i64,
    pub(super) findings: Vec<String>,
}

/// Seals the blocks and chunks that are in the journals.
pub(super) fn seal(connection: &Connection) -> Result<Left, StoreError> {
    let blocks: Unsealed<Block> = Unsealed::read(connection)?;
    let chunks: Unsealed<(ChunkKey, RoundTables)> = Unsealed::read(connection)?;
    database::delete_orphans(connection)?;
    // Blocks and chunks that cannot be read have numbers, too, and no number is given twice.
    let last = |column: &str, table: &str| -> Result<i64, StoreError> {
        let sql = format!("SELECT coalesce(max({column}), 0) FROM {table}");
        Ok(connection.query_row(&sql, [], |row| row.get(0))?)
    };
    let mut left = Left {
        block: last("id", "blocks")?.max(last("block", "journal")?),
        position: last("position + span - 1", "blocks")?,
        chunk: last("id", "task_chunks")?.max(last("chunk", "task_journal")?),
        findings: Vec::new(),
    };
    for (damaged, what) in
        [(blocks.damaged, "ticks of the journal"), (chunks.damaged, "rounds of tasks in the journal")]
    {
        if damaged > 0 {
            left.findings.push(format!("{damaged} {what} are damaged"));
        }
    }
    let transaction = connection.unchecked_transaction()?;
    for block in blocks.parts {
        left.position += 1;
        let key = BlockKey { position: left.position, ..block.key };
        // Columns that it has already are written again.
        Sealing::new(key, block.columns()).write(&transaction, usize::MAX)?;
    }
    for (key, chunk) in chunks.parts {
        write_chunk(&chunk, &transaction, key)?;
    }
    // What is left of them is damaged.
    transaction.execute_batch("DELETE FROM journal; DELETE FROM task_journal")?;
    transaction.commit()?;
    Ok(left)
}
