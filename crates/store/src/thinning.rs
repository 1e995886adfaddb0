//! Several blocks that become one of a longer step, a few series at a time.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::StoreError;
use crate::block::{self, BlockHead, BlockKey, write_column, write_head};
use crate::reading::{read_block_before, read_column, read_head};
use crate::series::{SeriesId, SeriesKind, SeriesNames};
use crate::window::{Points, Windows};

/// Blocks that are being thinned.
#[derive(Debug)]
pub(crate) struct Thinning {
    sources: Vec<(BlockKey, BlockHead)>,
    /// The block before them, which says what counters had reached.
    before: Option<(i64, BlockHead)>,
    windows: Windows,
    key: BlockKey,
    step_s: i64,
    left: Vec<SeriesId>,
    /// The columns of the new block.
    columns: BTreeMap<SeriesId, Vec<u8>>,
    findings: Vec<String>,
}

impl Thinning {
    /// Reads what there is. A damaged block is left out, and stays.
    pub(crate) fn begin(
        connection: &Connection,
        sources: Vec<BlockKey>,
        step_s: i64,
        id: i64,
    ) -> Result<Self, StoreError> {
        let mut findings = Vec::new();
        let mut heads: Vec<(BlockKey, BlockHead)> = Vec::new();
        for source in sources {
            match read_head(connection, source.id)? {
                // Of one boot, since windows are those of the boot clock.
                Some((source, head)) if heads.first().is_none_or(|(_, first)| first.boot == head.boot) => {
                    heads.push((source, head));
                }
                Some(_) => break,
                None => findings.push(format!("block {} is damaged", source.id)),
            }
        }
        let first = heads.first().map_or(0, |(source, _)| source.position);
        let last = heads.last().map_or(0, |(source, _)| source.position + source.span);
        let before = read_block_before(connection, first)?.map(|(key, head)| (key.id, head));
        let clocks: Vec<_> = heads.iter().flat_map(|(_, head)| &head.clocks).copied().collect();
        let mut left: Vec<SeriesId> = heads.iter().flat_map(|(_, head)| &head.series).copied().collect();
        left.sort_unstable();
        left.dedup();
        Ok(Self {
            windows: Windows::of(&clocks, step_s),
            sources: heads,
            before,
            key: BlockKey { id, position: first, span: last - first },
            step_s,
            left,
            columns: BTreeMap::new(),
            findings,
        })
    }

    /// Thins so many series. Returns whether all are.
    pub(crate) fn advance(
        &mut self,
        connection: &Connection,
        names: &SeriesNames,
        most: usize,
    ) -> Result<bool, StoreError> {
        for _ in 0..most {
            let Some(id) = self.left.last().copied() else { break };
            // The kind of a series with a damaged name is unknown; a gauge loses nothing.
            let kind = names.kind(id).unwrap_or(SeriesKind::Gauge);
            let (mut points, mut ticks) = (Points::default(), 0);
            for (source, head) in &self.sources {
                let count = head.clocks.len();
                if head.series.binary_search(&id).is_ok() {
                    match read_column(connection, source.id, head, id)? {
                        Some(more) => points.append(ticks, more, count),
                        None => {
                            self.findings.push(format!("series {} in block {} is damaged", id.0, source.id))
                        }
                    }
                }
                ticks += count;
            }
            points.append(ticks, Points::default(), 0);
            let before = match &self.before {
                Some((block, head))
                    if head.series.binary_search(&id).is_ok() && kind == SeriesKind::Counter =>
                {
                    let points = read_column(connection, *block, head, id)?;
                    points.and_then(|points| points.last.iter().rev().find_map(|value| *value))
                }
                _ => None,
            };
            if let Some(data) = points.thin(&self.windows, kind, before).encode() {
                self.columns.insert(id, data);
            }
            // Only now: an error lets it be read again.
            self.left.pop();
        }
        Ok(self.left.is_empty())
    }

    /// Replaces the blocks by the new one. Returns what is damaged.
    pub(crate) fn finish(self, connection: &Connection) -> Result<Vec<String>, StoreError> {
        let Some((_, first)) = self.sources.first() else { return Ok(self.findings) };
        let head = BlockHead {
            boot: first.boot,
            step_s: self.step_s,
            clocks: self.windows.clocks,
            series: self.columns.keys().copied().collect(),
        };
        let transaction = connection.unchecked_transaction()?;
        for (source, _) in &self.sources {
            block::delete(&transaction, source.id)?;
        }
        for (id, data) in &self.columns {
            write_column(&transaction, self.key.id, *id, data)?;
        }
        write_head(&transaction, self.key, &head)?;
        transaction.commit()?;
        Ok(self.findings)
    }
}
