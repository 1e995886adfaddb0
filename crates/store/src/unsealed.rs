//! Blocks whose ticks are in the journal alone, as a reader follows them.

use rusqlite::{CachedStatement, Connection, Params, params};

use crate::StoreError;
use crate::block::Block;
use crate::checksum;

/// Those blocks, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct Unsealed {
    pub(crate) blocks: Vec<Block>,
    /// Entries that are damaged or missing. Such an entry ends its block, since those after it are differences.
    pub(crate) damaged: u64,
}

impl Unsealed {
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let mut unsealed = Self::default();
        unsealed.go_on(connection)?;
        Ok(unsealed)
    }

    /// Reads what was written since, and drops the blocks that were sealed.
    pub(crate) fn go_on(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let mut has_journal = connection.prepare_cached("SELECT 1 FROM journal WHERE block = ?1")?;
        let mut there = Vec::with_capacity(self.blocks.len() + 1);
        for block in self.blocks.drain(..) {
            if has_journal.exists([block.key.id])? {
                there.push(block);
            }
        }
        self.blocks = there;
        // Entries behind a damaged one are read and counted again.
        self.damaged = 0;
        let mut of_block = connection.prepare_cached(
            "SELECT block, place, boot, entry FROM journal WHERE block = ?1 AND place >= ?2 ORDER BY place",
        )?;
        for at in 0..self.blocks.len() {
            let Block { key, entries, .. } = &self.blocks[at];
            let (id, next) = (key.id, i64::try_from(entries.len()).unwrap_or(i64::MAX));
            self.take(&mut of_block, params![id, next], at)?;
        }
        let last = self.blocks.last().map_or(i64::MIN, |block| block.key.id);
        let mut behind = connection.prepare_cached(
            "SELECT block, place, boot, entry FROM journal WHERE block > ?1 ORDER BY block, place",
        )?;
        self.take(&mut behind, [last], self.blocks.len())
    }

    /// Reads entries of the block at a place, and of those behind it.
    fn take(
        &mut self,
        statement: &mut CachedStatement<'_>,
        of: impl Params,
        mut at: usize,
    ) -> Result<(), StoreError> {
        let mut rows = statement.query(of)?;
        while let Some(row) = rows.next()? {
            let (id, place, boot): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if self.blocks.get(at).is_some_and(|block| block.key.id != id) {
                at += 1;
            }
            if at == self.blocks.len() {
                let mut block = Block::new(id, 0);
                block.boot = boot;
                self.blocks.push(block);
            }
            let block = &mut self.blocks[at];
            let entry =
                row.get_ref(3)?.as_blob().ok().and_then(|bytes| checksum::open(&[id, place, boot], bytes));
            let is_next = i64::try_from(block.entries.len()) == Ok(place);
            if !(is_next && entry.is_some_and(|entry| block.restore(entry))) {
                self.damaged += 1;
            }
        }
        Ok(())
    }
}
