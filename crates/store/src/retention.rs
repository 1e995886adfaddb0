//! The retention of a history: older ticks become windows, and the oldest are deleted.

use std::collections::VecDeque;

use rusqlite::Connection;

use crate::StoreError;
use crate::block::{self, BlockKey};
use crate::database;
use crate::reading::{read_block_before, read_head};
use crate::series::SeriesNames;
use crate::task_names;
use crate::tasks::{ChunkKey, read_chunk, write_chunk};
use crate::thinning::Thinning;
use crate::window::Windows;

/// How long ticks are kept at one resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Seconds of a window; 0: every tick, as it was recorded.
    pub step_s: i64,
    /// Seconds for which they are kept so.
    pub keep_s: i64,
}

/// The limits of age and size of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// From the finest to the coarsest; what is older than the last one is deleted.
    pub tiers: Vec<Tier>,
    /// The size of the file beyond which the oldest is deleted.
    pub most_bytes: u64,
}

impl Default for Retention {
    /// Every tick for a day, ten seconds for a week, a minute for a quarter, in at most 2 GB.
    fn default() -> Self {
        const DAY_S: i64 = 86_400;
        let tier = |step_s, days: i64| Tier { step_s, keep_s: days * DAY_S };
        Self { tiers: vec![tier(0, 1), tier(10, 7), tier(60, 92)], most_bytes: 2_000_000_000 }
    }
}

impl Retention {
    /// The step that something of this age should have; `None` if it should be deleted.
    fn step_s(&self, age_s: i64) -> Option<i64> {
        self.tiers.iter().find(|tier| age_s <= tier.keep_s).map(|tier| tier.step_s)
    }
}

/// The most windows of a block, and the most blocks that are merged into one.
const MAX_WINDOWS: i64 = block::BLOCK_TICKS as i64;
const MAX_SOURCES: usize = 64;
/// Series that are thinned in one tick.
const SERIES_A_TICK: usize = 16;
/// Free pages that are given back to the filesystem in one tick.
const PAGES_A_TICK: u32 = 256;

/// The maintenance work that is left, done a little in each tick.
#[derive(Debug, Default)]
pub(crate) struct Maintenance {
    jobs: VecDeque<Job>,
    thinning: Option<Thinning>,
    is_planned: bool,
    /// Nothing waits for more of its kind.
    includes_unfull_groups: bool,
}

#[derive(Debug)]
enum Job {
    Thin {
        sources: Vec<BlockKey>,
        step_s: i64,
    },
    ThinTasks {
        id: i64,
        step_s: i64,
    },
    DeleteBlock {
        id: i64,
    },
    /// All chunks before this one.
    DeleteTasks {
        before: i64,
    },
}

impl Maintenance {
    /// Lets it look again for what is to be done, when it has done what it found before.
    pub(crate) fn plan_again(&mut self) {
        self.is_planned = false;
    }

    /// Lets it look again for what is to be done, at once.
    pub(crate) fn start_over(&mut self) {
        *self = Self::default();
    }

    /// Lets it look again at once, also for what would otherwise wait until a block of windows is full.
    pub(crate) fn start_over_thoroughly(&mut self) {
        *self = Self { includes_unfull_groups: true, ..Self::default() };
    }

    /// Does a part of what is to be done. `now_ns` is the time since 1970, `next_id` gives a new block its number. Returns what is
    /// damaged.
    ///
    /// # Errors
    /// If it cannot be written. It is planned again with the next block.
    pub(crate) fn advance(
        &mut self,
        connection: &Connection,
        names: &SeriesNames,
        retention: &Retention,
        now_ns: i64,
        next_id: impl FnOnce() -> i64,
    ) -> Result<Vec<String>, StoreError> {
        if !self.is_planned && self.jobs.is_empty() && self.thinning.is_none() {
            self.is_planned = true;
            self.jobs = plan(connection, retention, now_ns, self.includes_unfull_groups)?;
            return Ok(Vec::new());
        }
        if let Some(thinning) = &mut self.thinning {
            match thinning.advance(connection, names, SERIES_A_TICK) {
                Ok(true) => {}
                Ok(false) => return Ok(Vec::new()),
                Err(error) => {
                    self.thinning = None;
                    return Err(error);
                }
            }
            let findings = self.thinning.take().map(|thinning| thinning.finish(connection)).transpose()?;
            return Ok(findings.into_iter().flatten().collect());
        }
        match self.jobs.pop_front() {
            Some(Job::Thin { sources, step_s }) => {
                self.thinning = Some(Thinning::begin(connection, sources, step_s, next_id())?);
            }
            Some(Job::ThinTasks { id, step_s }) => return thin_tasks(connection, id, step_s),
            Some(Job::DeleteBlock { id }) => delete_blocks(connection, &[id])?,
            Some(Job::DeleteTasks { before }) => {
                delete_chunks(connection, before)?;
            }
            None => {
                if database::free_bytes(connection)? > 0 {
                    // It returns a row for each page, and goes on with the next.
                    let mut vacuum =
                        connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_A_TICK})"))?;
                    let mut rows = vacuum.query([])?;
                    while rows.next()?.is_some() {}
                }
            }
        }
        Ok(Vec::new())
    }

    /// Returns whether nothing is left to be done.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_planned && self.jobs.is_empty() && self.thinning.is_none()
    }
}

/// Deletes blocks with their columns. The block before takes their positions, so that only what is missing leaves a gap.
pub(crate) fn delete_blocks(connection: &Connection, ids: &[i64]) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction()?;
    for id in ids {
        let deleted = read_head(&transaction, *id)?;
        block::delete(&transaction, *id)?;
        let Some((deleted, _)) = deleted else { continue };
        let Some((before, head)) = read_block_before(&transaction, deleted.position)? else { continue };
        if before.position + before.span == deleted.position {
            let span = before.span + deleted.span;
            block::write_head(&transaction, BlockKey { span, ..before }, &head)?;
        }
    }
    Ok(transaction.commit()?)
}

/// Deletes what ends before a time in nanoseconds since 1970.
pub(crate) fn drop_before(connection: &Connection, before_ns: i64) -> Result<(), StoreError> {
    let mut statement = connection.prepare("SELECT id FROM blocks WHERE last_ns < ?1")?;
    let ids: Vec<i64> = statement.query_map([before_ns], |row| row.get(0))?.collect::<Result<_, _>>()?;
    delete_blocks(connection, &ids)?;
    // A chunk cannot be read without those before it, up to its base.
    let first_kept: Option<i64> = connection.query_row(
        "SELECT min(base) FROM task_chunks WHERE last_ns >= ?1",
        [before_ns],
        |row| row.get(0),
    )?;
    delete_chunks(connection, first_kept.unwrap_or(i64::MAX))
}

/// Deletes chunks before one, with the names that no other chunk needs.
fn delete_chunks(connection: &Connection, before: i64) -> Result<(), StoreError> {
    connection.execute("DELETE FROM task_chunks WHERE id < ?1", [before])?;
    task_names::delete_old(connection)
}

fn plan(
    connection: &Connection,
    retention: &Retention,
    now_ns: i64,
    includes_unfull_groups: bool,
) -> Result<VecDeque<Job>, StoreError> {
    let mut jobs = VecDeque::new();
    plan_blocks(connection, retention, now_ns, includes_unfull_groups, &mut jobs)?;
    plan_tasks(connection, retention, now_ns, &mut jobs)?;
    let used_bytes = database::file_bytes(connection)?.saturating_sub(database::free_bytes(connection)?);
    if used_bytes > retention.most_bytes {
        plan_for_room(connection, &mut jobs)?;
    }
    Ok(jobs)
}

/// Returns the age of a block or chunk, at most the time that was recorded after it: a clock that is set forward makes nothing old. Of one that
/// is of the future, since the clock was ahead, it is that time: it keeps nothing from being deleted.
fn age_s(now_ns: i64, last_ns: i64, recorded_after_s: i64) -> i64 {
    if last_ns > now_ns {
        return recorded_after_s;
    }
    (now_ns.saturating_sub(last_ns) / 1_000_000_000).min(recorded_after_s)
}

fn plan_blocks(
    connection: &Connection,
    retention: &Retention,
    now_ns: i64,
    includes_unfull_groups: bool,
    jobs: &mut VecDeque<Job>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, position, span, step_s, last_ns, lasts_s FROM blocks INDEXED BY blocks_by_position ORDER BY position DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut recorded_after_s = 0;
    let mut thin = Vec::new();
    while let Some(row) = rows.next()? {
        let source = BlockKey { id: row.get(0)?, position: row.get(1)?, span: row.get(2)? };
        let (step_s, last_ns, lasts_s): (i64, i64, i64) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let age_s = age_s(now_ns, last_ns, recorded_after_s);
        recorded_after_s += lasts_s;
        match retention.step_s(age_s) {
            None => jobs.push_front(Job::DeleteBlock { id: source.id }),
            Some(wanted) if wanted > step_s => thin.push((source, wanted, lasts_s)),
            Some(_) => {}
        }
    }
    // From the oldest on.
    let mut groups: Vec<Group> = Vec::new();
    for (source, step_s, lasts_s) in thin.into_iter().rev() {
        let windows = lasts_s / step_s + 1;
        match groups.last_mut() {
            Some(group) if group.step_s == step_s && group.has_room(source, windows) => {
                group.sources.push(source);
                group.windows += windows;
            }
            _ => groups.push(Group { sources: vec![source], step_s, windows }),
        }
    }
    // The last group may grow: it waits until it is full, for which the blocks that follow are not old enough yet.
    let _ = groups.pop_if(|last| !includes_unfull_groups && !last.is_full());
    jobs.extend(groups.into_iter().map(|Group { sources, step_s, .. }| Job::Thin { sources, step_s }));
    Ok(())
}

/// Blocks that become one.
struct Group {
    sources: Vec<BlockKey>,
    step_s: i64,
    windows: i64,
}

impl Group {
    fn has_room(&self, next: BlockKey, windows: i64) -> bool {
        let is_next = self.sources.last().is_some_and(|last| last.position + last.span == next.position);
        is_next && self.sources.len() < MAX_SOURCES && self.windows + windows <= MAX_WINDOWS
    }

    fn is_full(&self) -> bool {
        self.windows + MAX_WINDOWS / 10 > MAX_WINDOWS || self.sources.len() == MAX_SOURCES
    }
}

fn plan_tasks(
    connection: &Connection,
    retention: &Retention,
    now_ns: i64,
    jobs: &mut VecDeque<Job>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, base, step_s, last_ns, lasts_s FROM task_chunks INDEXED BY task_chunks_by_id ORDER BY id DESC",
    )?;
    let mut rows = statement.query([])?;
    let (mut recorded_after_s, mut first_kept) = (0, i64::MAX);
    let mut has_old = false;
    let mut thin = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, base, step_s, last_ns): (i64, i64, i64, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let age_s = age_s(now_ns, last_ns, recorded_after_s);
        recorded_after_s += row.get::<_, i64>(4)?;
        match retention.step_s(age_s) {
            // A chunk cannot be read without those before it, up to its base.
            None if id < first_kept => has_old = true,
            None => {}
            Some(wanted) => {
                first_kept = first_kept.min(base);
                if wanted > step_s {
                    thin.push(Job::ThinTasks { id, step_s: wanted });
                }
            }
        }
    }
    // The oldest first.
    jobs.extend(thin.into_iter().rev());
    if has_old && first_kept < i64::MAX {
        jobs.push_front(Job::DeleteTasks { before: first_kept });
    }
    Ok(())
}

/// The file is too large: the oldest goes, a tenth of it.
fn plan_for_room(connection: &Connection, jobs: &mut VecDeque<Job>) -> Result<(), StoreError> {
    let (first, last, count): (Option<i64>, Option<i64>, i64) =
        connection.query_row("SELECT min(position), max(position), count(*) FROM blocks", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    if let (Some(first), Some(last)) = (first, last) {
        // The newest stays, whatever the limit is.
        let until = first + ((last - first) / 10).max(i64::from(count > 2));
        let mut statement =
            connection.prepare_cached("SELECT id FROM blocks WHERE position < ?1 ORDER BY position")?;
        let mut rows = statement.query([until])?;
        while let Some(row) = rows.next()? {
            jobs.push_front(Job::DeleteBlock { id: row.get(0)? });
        }
    }
    let bases = "SELECT base FROM task_chunks GROUP BY base ORDER BY base";
    let count: i64 =
        connection.query_row(&format!("SELECT count(*) FROM ({bases})"), [], |row| row.get(0))?;
    if count > 2 {
        let before =
            connection
                .query_row(&format!("{bases} LIMIT 1 OFFSET ?1"), [(count / 10).max(1)], |row| row.get(0))?;
        jobs.push_front(Job::DeleteTasks { before });
    }
    Ok(())
}

fn thin_tasks(connection: &Connection, id: i64, step_s: i64) -> Result<Vec<String>, StoreError> {
    let Some((key, chunk)) = read_chunk(connection, id)? else { return Ok(Vec::new()) };
    let Some(chunk) = chunk else {
        // It stays as it is: another program may be able to read it.
        return Ok(vec![format!("chunk {id} of the tasks is damaged")]);
    };
    let transaction = connection.unchecked_transaction()?;
    let merged = chunk.merge(Windows::of(&chunk.clocks(), step_s).ticks);
    write_chunk(&merged, &transaction, ChunkKey { step_s, ..key })?;
    transaction.commit()?;
    Ok(Vec::new())
}
