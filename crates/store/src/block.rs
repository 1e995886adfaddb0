//! A block of ticks: as it grows, and as columns.

use std::collections::BTreeMap;

use facts::sample::Clock;
use facts::unit::Nanos;
use facts::varint;
use rusqlite::{Connection, params};

use crate::StoreError;
use crate::checksum;
use crate::column;
use crate::journal::{self, Values};
use crate::numbers;
use crate::series::SeriesId;
use crate::time_range::TimeRange;
use crate::unsealed::Growing;

/// The most ticks and series of a block; more can only be damage.
const MOST: u64 = 1 << 20;

/// The ticks of a block: ten minutes at one a second; so many windows.
pub(crate) const BLOCK_TICKS: usize = 600;

/// The block that grows, as entries of the journal.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) key: BlockKey,
    pub(crate) boot: i64,
    pub(crate) entries: Vec<Vec<u8>>,
    /// The values of the last tick.
    last: Values,
    /// The values before each tick that is a multiple of [`RESUME_TICKS`], of a block that was read: what is wanted of it is mostly its end.
    resume_values: Vec<Values>,
}

const RESUME_TICKS: usize = 64;

impl Block {
    pub(crate) fn new(id: i64, position: i64) -> Self {
        Self { key: BlockKey { id, position, span: 1 }, ..Self::default() }
    }

    /// Adds a tick. `values` are in the order of their series.
    pub(crate) fn push(&mut self, clock: Clock, values: Values) {
        self.entries.push(journal::encode(clock, &self.last, &values));
        self.last = values;
    }

    /// The value of a series in the last tick.
    pub(crate) fn last_value(&self, id: SeriesId) -> Option<f64> {
        value_in(&self.last, id)
    }

    /// The time of the last tick; `None` if there is none.
    pub(crate) fn last_clock(&self) -> Option<Clock> {
        self.entries.last().and_then(|entry| journal::decode_clock(entry))
    }

    /// The times of its ticks.
    pub(crate) fn clocks(&self) -> impl Iterator<Item = Clock> {
        // They were encoded here, or decoded before.
        self.entries.iter().map_while(|entry| journal::decode_clock(entry))
    }

    /// Returns the last tick from which on entries can be decoded and that is not behind this one, and the values before it.
    fn resume_before(&self, tick: usize) -> (usize, &[(SeriesId, f64)]) {
        match (tick / RESUME_TICKS).min(self.resume_values.len()) {
            0 => (0, &[]),
            count => (count * RESUME_TICKS, &self.resume_values[count - 1]),
        }
    }

    /// The values of one series, with the times of ticks: all of them, or those before `first` are left out as far as they need not be decoded.
    pub(crate) fn column(&self, id: SeriesId, first: usize) -> (Vec<Clock>, Vec<Option<f64>>) {
        let (first, before) = self.resume_before(first);
        let mut value = value_in(before, id);
        let tick = |entry: &Vec<u8>| Some((journal::decode_one(entry, id, &mut value)?, value));
        self.entries[first..].iter().map_while(tick).unzip()
    }

    /// All as columns.
    pub(crate) fn columns(&self) -> BlockColumns {
        self.columns_among(None, 0)
    }

    /// Returns the columns of some series, those that have a value here. Ticks before `first` are left out as far as they need not be decoded.
    pub(crate) fn columns_of(&self, mut ids: Vec<SeriesId>, first: usize) -> BlockColumns {
        ids.sort_unstable();
        self.columns_among(Some(&ids), first)
    }

    /// Returns the columns of the series with these numbers, which are in order; `None`: of all.
    fn columns_among(&self, ids: Option<&[SeriesId]>, first: usize) -> BlockColumns {
        let (first, before) = self.resume_before(first);
        let entries = &self.entries[first..];
        let mut clocks = Vec::with_capacity(entries.len());
        let mut values = before.to_vec();
        // In the order of the series, as the values of each tick are: a search for each of them would take most of the time.
        let mut columns: Vec<(SeriesId, Vec<Option<f64>>)> = Vec::new();
        for (tick, entry) in entries.iter().enumerate() {
            // They were encoded here, or decoded before.
            let Some(clock) = journal::apply(entry, &mut values) else { break };
            clocks.push(clock);
            let mut place = 0;
            let mut wanted = ids.map(|ids| ids.iter().peekable());
            for (id, value) in &values {
                if let Some(wanted) = &mut wanted {
                    while wanted.next_if(|wanted| *wanted < id).is_some() {}
                    if wanted.peek() != Some(&id) {
                        continue;
                    }
                }
                while columns.get(place).is_some_and(|(known, _)| known < id) {
                    place += 1;
                }
                if columns.get(place).is_none_or(|(known, _)| known != id) {
                    // No larger than needed: there are hundreds of them until the block is sealed.
                    columns.insert(place, (*id, Vec::with_capacity(entries.len())));
                }
                let column = &mut columns[place].1;
                column.resize(tick, None);
                column.push(Some(*value));
            }
        }
        columns.iter_mut().for_each(|(_, column)| column.resize(clocks.len(), None));
        BlockColumns { boot: self.boot, clocks, values: columns.into_iter().collect() }
    }
}

impl Growing for Block {
    const JOURNAL: &'static str = "journal";
    const ID: &'static str = "block";
    const COLUMNS: &'static [&'static str] = &["block", "place", "boot"];

    fn begin(columns: &[i64]) -> Self {
        Self { boot: columns[2], ..Self::new(columns[0], 0) }
    }

    fn id(&self) -> i64 {
        self.key.id
    }

    fn entries(&self) -> usize {
        self.entries.len()
    }

    fn restore(&mut self, entry: &[u8]) -> bool {
        let is_whole = journal::apply(entry, &mut self.last).is_some();
        if is_whole {
            self.entries.push(entry.to_vec());
            if self.entries.len().is_multiple_of(RESUME_TICKS) {
                self.resume_values.push(self.last.clone());
            }
        } else {
            self.last.clear();
            // They were decoded before.
            for entry in &self.entries {
                let _ = journal::apply(entry, &mut self.last);
            }
        }
        is_whole
    }
}

fn value_in(values: &[(SeriesId, f64)], id: SeriesId) -> Option<f64> {
    values.binary_search_by_key(&id, |(id, _)| *id).ok().map(|place| values[place].1)
}

/// A block by series: one value, or none, for each of its ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockColumns {
    pub(crate) boot: i64,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) values: BTreeMap<SeriesId, Vec<Option<f64>>>,
}

/// A block without its columns: a row of `blocks`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockHead {
    pub(crate) boot: i64,
    /// Seconds of a window; 0: ticks as they were recorded.
    pub(crate) step_s: i64,
    pub(crate) clocks: Vec<Clock>,
    /// The series that have a column, in order.
    pub(crate) series: Vec<SeriesId>,
}

impl BlockHead {
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for number in [self.boot.cast_unsigned(), self.step_s.cast_unsigned()] {
            varint::push(&mut bytes, number);
        }
        varint::push(&mut bytes, self.clocks.len() as u64);
        varint::push(&mut bytes, self.series.len() as u64);
        let ids: Vec<u32> = self.series.iter().map(|id| id.0).collect();
        let times = |of: fn(&Clock) -> Nanos| {
            numbers::encode::<u64>(&self.clocks.iter().map(|clock| of(clock).0).collect::<Vec<_>>())
        };
        let columns = [
            times(|clock| clock.realtime)?,
            times(|clock| clock.boottime)?,
            times(|clock| clock.monotonic)?,
            numbers::encode(&ids)?,
        ];
        bytes.extend(column::join(&columns));
        Some(bytes)
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let boot = varint::take(bytes)?.cast_signed();
        let step_s = varint::take(bytes)?.cast_signed();
        let count = |bytes: &mut &[u8]| {
            varint::take(bytes).filter(|count| *count <= MOST).map(|count| count as usize)
        };
        let (ticks, series) = (count(bytes)?, count(bytes)?);
        let mut times = || numbers::decode::<u64>(column::split(bytes)?, ticks);
        let clocks = times()?.into_iter().zip(times()?).zip(times()?);
        let clocks = clocks.map(|((realtime, boottime), monotonic)| Clock {
            realtime: Nanos(realtime),
            boottime: Nanos(boottime),
            monotonic: Nanos(monotonic),
        });
        let clocks = clocks.collect();
        let ids = numbers::decode::<u32>(column::split(bytes)?, series)?;
        Some(Self { boot, step_s, clocks, series: ids.into_iter().map(SeriesId).collect() })
    }
}

/// Where a block stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockKey {
    pub(crate) id: i64,
    /// The place in the order of time of the first block, of those that were recorded, that it contains, and how many these are.
    pub(crate) position: i64,
    pub(crate) span: i64,
}

/// Writes a column.
pub(crate) fn write_column(
    connection: &Connection,
    block: i64,
    id: SeriesId,
    data: &[u8],
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO columns (block, series, data) VALUES (?1, ?2, ?3)")?
        .execute(params![block, id.0, checksum::seal(&[block, id.0.into()], data)])?;
    Ok(())
}

/// Writes the row of a block, which comes after its columns: without it these do not count.
pub(crate) fn write_head(connection: &Connection, key: BlockKey, head: &BlockHead) -> Result<(), StoreError> {
    let encoded = head.encode().ok_or(StoreError::Damaged("a block in memory"))?;
    let TimeRange { first_ns, last_ns, lasts_s } = TimeRange::of(&head.clocks);
    // The numbers by which it is found and deleted are those of its head, or damaged.
    let columns = [key.id, key.position, key.span, head.step_s, first_ns, last_ns, lasts_s];
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO blocks (id, position, span, step_s, first_ns, last_ns, lasts_s, head) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            columns[0],
            columns[1],
            columns[2],
            columns[3],
            columns[4],
            columns[5],
            columns[6],
            checksum::seal(&columns, &encoded)
        ])?;
    Ok(())
}

/// Deletes a block, its columns and its journal.
pub(crate) fn delete(connection: &Connection, id: i64) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM blocks WHERE id = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM columns WHERE block = ?1")?.execute([id])?;
    delete_journal(connection, id)
}

pub(crate) fn delete_journal(connection: &Connection, id: i64) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM journal WHERE block = ?1")?.execute([id])?;
    Ok(())
}

/// A block that is being written, a few columns at a time.
#[derive(Debug)]
pub(crate) struct Sealing {
    key: BlockKey,
    columns: BlockColumns,
    /// How many of the columns are written.
    written: usize,
}

impl Sealing {
    pub(crate) fn new(key: BlockKey, columns: BlockColumns) -> Self {
        Self { key, columns, written: 0 }
    }

    pub(crate) fn id(&self) -> i64 {
        self.key.id
    }

    pub(crate) fn ticks(&self) -> usize {
        self.columns.clocks.len()
    }

    /// Returns how many columns it has.
    pub(crate) fn column_count(&self) -> usize {
        self.columns.values.len()
    }

    /// Writes at most so many columns, and after the last one the block's row. Returns how many columns are written then, for
    /// [`Self::commit`], and whether everything is.
    pub(crate) fn write(&self, connection: &Connection, most: usize) -> Result<(usize, bool), StoreError> {
        let mut written = self.written;
        for (id, values) in self.columns.values.iter().skip(self.written).take(most) {
            write_column(connection, self.key.id, *id, &column::encode(values).unwrap_or_default())?;
            written += 1;
        }
        if written < self.columns.values.len() {
            return Ok((written, false));
        }
        let head = BlockHead {
            boot: self.columns.boot,
            step_s: 0,
            clocks: self.columns.clocks.clone(),
            series: self.columns.values.keys().copied().collect(),
        };
        write_head(connection, self.key, &head)?;
        delete_journal(connection, self.key.id)?;
        Ok((written, true))
    }

    /// The transaction was committed.
    pub(crate) fn commit(&mut self, written: usize) {
        self.written = written;
    }

    /// Lets all be written again, into another file.
    pub(crate) fn forget_written(&mut self) {
        self.written = 0;
    }
}
