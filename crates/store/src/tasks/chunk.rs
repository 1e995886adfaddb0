//! Rounds of tasks, as they are written.

use facts::task::Cause;
use facts::task::figure::Figure;
use facts::task::rounds::fields::{ENDED, LIVING, NAME, of_figure};
use facts::task::rounds::{ROUND, Round, RoundTables, Table};
use facts::varint;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::StoreError;
use crate::time_range::TimeRange;
use crate::unsealed::Growing;
use crate::{checksum, column, numbers};

/// Writes a chunk, and removes its journal.
pub(crate) fn write(chunk: &RoundTables, connection: &Connection, key: ChunkKey) -> Result<(), StoreError> {
    let (mut living, mut ended) = (Vec::new(), Vec::new());
    push_columns(&subtracted(chunk.rounds.clone(), &CLOSE_IN_ROUNDS), &mut living)
        .and_then(|()| push_columns(&subtracted(chunk.living.clone(), &CLOSE_IN_LIVING), &mut living))
        .and_then(|()| push_columns(&chunk.gone, &mut living))
        .and_then(|()| push_ended(&chunk.ended, &mut ended))
        .ok_or(StoreError::Damaged("a chunk in memory"))?;
    let time = TimeRange::of(&chunk.clocks());
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO task_chunks (id, base, boot, step_s, first_ns, last_ns, lasts_s, living, ended) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            key.id,
            key.base,
            key.boot,
            key.step_s,
            time.first_ns,
            time.last_ns,
            time.lasts_s,
            checksum::seal(&key.of_living(time), &living),
            checksum::seal(&key.of_ended(), &ended)
        ])?;
    connection.prepare_cached("DELETE FROM task_journal WHERE chunk = ?1")?.execute([key.id])?;
    Ok(())
}

/// A chunk, if there is one; its tables are `None` if they are damaged.
pub(crate) fn read(
    connection: &Connection,
    id: i64,
) -> Result<Option<(ChunkKey, Option<RoundTables>)>, StoreError> {
    read_parts(connection, id, true)
}

/// Reads a chunk without exit records, which a reader does not need of rounds that it skips.
pub(crate) fn read_living(
    connection: &Connection,
    id: i64,
) -> Result<Option<(ChunkKey, Option<RoundTables>)>, StoreError> {
    read_parts(connection, id, false)
}

fn read_parts(
    connection: &Connection,
    id: i64,
    has_ended: bool,
) -> Result<Option<(ChunkKey, Option<RoundTables>)>, StoreError> {
    // SQLite copies what is selected, also if nobody looks at it.
    let mut statement = connection.prepare_cached(match has_ended {
        true => "SELECT base, boot, step_s, first_ns, last_ns, lasts_s, living, ended FROM task_chunks WHERE id = ?1",
        false => "SELECT base, boot, step_s, first_ns, last_ns, lasts_s, living FROM task_chunks WHERE id = ?1",
    })?;
    let decode = |row: &rusqlite::Row<'_>| {
        let key = ChunkKey { id, base: row.get(0)?, boot: row.get(1)?, step_s: row.get(2)? };
        let time = TimeRange { first_ns: row.get(3)?, last_ns: row.get(4)?, lasts_s: row.get(5)? };
        let blob = |place| row.get_ref(place).map(|value| value.as_blob().unwrap_or_default());
        let ended = if has_ended { Some(blob(7)?) } else { None };
        Ok((key, decode(key, time, blob(6)?, ended)))
    };
    match statement.query_row([id], decode).optional().map_err(StoreError::from) {
        // A page of it is damaged: its row is there.
        Err(error) if error.is_damage() => Ok(Some((ChunkKey { id, ..ChunkKey::default() }, None))),
        read => read,
    }
}

fn decode(key: ChunkKey, time: TimeRange, living: &[u8], ended: Option<&[u8]>) -> Option<RoundTables> {
    let mut living = checksum::open(&key.of_living(time), living)?;
    let mut chunk = RoundTables {
        rounds: added(take_columns(&mut living, ROUND)?, &CLOSE_IN_ROUNDS),
        living: added(take_columns(&mut living, LIVING)?, &CLOSE_IN_LIVING),
        gone: take_columns(&mut living, 1)?,
        ..RoundTables::default()
    };
    match ended {
        Some(ended) => chunk.ended = take_ended(&mut checksum::open(&key.of_ended(), ended)?)?,
        None => chunk.leave_out_ended(),
    }
    chunk.is_consistent().then_some(chunk)
}

/// Columns, and others from which they hardly differ: of the first only the difference is kept. The clocks run alike.
const CLOSE_IN_ROUNDS: [(usize, usize); 2] = [
    (Round::Realtime as usize, Round::Boottime as usize),
    (Round::Monotonic as usize, Round::Boottime as usize),
];
/// A task waits for the CPU once after each time it gave it up.
const CLOSE_IN_LIVING: [(usize, usize); 1] =
    [(of_figure(Figure::VOLUNTARY_SWITCHES), of_figure(Figure::count(Cause::RunQueue)))];

fn subtracted(table: Table, close: &[(usize, usize)]) -> Table {
    combined(table, close, u64::wrapping_sub)
}

fn added(table: Table, close: &[(usize, usize)]) -> Table {
    combined(table, close, u64::wrapping_add)
}

fn combined(table: Table, close: &[(usize, usize)], combine: fn(u64, u64) -> u64) -> Table {
    let (mut columns, rows) = table.into_columns();
    for (column, other) in close {
        let mut numbers = std::mem::take(&mut columns[*column]);
        numbers
            .iter_mut()
            .zip(&columns[*other])
            .for_each(|(number, other)| *number = combine(*number, *other));
        columns[*column] = numbers;
    }
    Table::from_columns(columns, rows)
}

/// Appends the columns, compressed. A column of zeros takes a byte.
fn push_columns(table: &Table, out: &mut Vec<u8>) -> Option<()> {
    varint::push(out, table.rows() as u64);
    varint::push(out, table.columns().len() as u64);
    for column in table.columns() {
        // Signed: differences are small numbers of either sign.
        let signed: Vec<i64> = column.iter().map(|number| number.cast_signed()).collect();
        let is_zero = signed.iter().all(|number| *number == 0);
        let data = if is_zero { Vec::new() } else { numbers::encode(&signed)? };
        column::push(out, &data);
    }
    Some(())
}

/// Takes what [`push_columns`] wrote. Columns that this version does not know are left out; those that an older one did not know are 0.
fn take_columns(bytes: &mut &[u8], columns: usize) -> Option<Table> {
    let rows = varint::take(bytes).filter(|rows| *rows <= Table::MAX_ROWS)? as usize;
    let written = varint::take(bytes).filter(|written| *written <= Table::MAX_COLUMNS)? as usize;
    let mut taken: Vec<Vec<u64>> = vec![Vec::new(); columns];
    for place in 0..written {
        let data = column::split(bytes)?;
        let Some(column) = taken.get_mut(place).filter(|_| !data.is_empty()) else { continue };
        *column = numbers::decode::<i64>(data, rows)?.into_iter().map(i64::cast_unsigned).collect();
    }
    taken.iter_mut().filter(|column| column.is_empty()).for_each(|column| *column = vec![0; rows]);
    Some(Table::from_columns(taken, rows))
}

/// Appends exit records: each name once, in order, and in place of a record's name its place among these.
fn push_ended(ended: &Table, out: &mut Vec<u8>) -> Option<()> {
    let mut columns = ended.columns().to_vec();
    // Letters in the order of their bytes, so that names that begin alike are numbers near one another.
    let name = |row: usize| NAME.map(|column| ended.get(row, column).swap_bytes());
    let mut names: Vec<[u64; 2]> = (0..ended.rows()).map(name).collect();
    names.sort_unstable();
    names.dedup();
    for (row, number) in columns[NAME[0]].iter_mut().enumerate() {
        *number = names.binary_search(&name(row)).ok()? as u64;
    }
    columns[NAME[1]].fill(0);
    push_columns(&Table::from_columns(columns, ended.rows()), out)?;
    let mut table = Table::new(NAME.len());
    names.iter().for_each(|name| table.push(name));
    push_columns(&table, out)
}

/// Takes what [`push_ended`] wrote.
fn take_ended(bytes: &mut &[u8]) -> Option<Table> {
    let table = take_columns(bytes, ENDED)?;
    let names = take_columns(bytes, NAME.len())?;
    let mut columns = table.columns().to_vec();
    for (part, column) in NAME.into_iter().enumerate() {
        for (row, number) in columns[column].iter_mut().enumerate() {
            let place =
                usize::try_from(table.get(row, NAME[0])).ok().filter(|place| *place < names.rows())?;
            *number = names.get(place, part).swap_bytes();
        }
    }
    Some(Table::from_columns(columns, table.rows()))
}

/// The key by which a chunk is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkKey {
    pub(crate) id: i64,
    /// The chunk that begins with all tasks, on which this one is based; it may be this one.
    pub(crate) base: i64,
    pub(crate) boot: i64,
    /// Seconds between two rounds of a tier; 0: as they were recorded.
    pub(crate) step_s: i64,
}

impl ChunkKey {
    fn of_living(self, time: TimeRange) -> [i64; 8] {
        let TimeRange { first_ns, last_ns, lasts_s } = time;
        [self.id, self.base, self.boot, self.step_s, 0, first_ns, last_ns, lasts_s]
    }

    fn of_ended(self) -> [i64; 5] {
        [self.id, self.base, self.boot, self.step_s, 1]
    }
}

/// A chunk that is in the journal alone.
impl Growing for (ChunkKey, RoundTables) {
    const JOURNAL: &'static str = "task_journal";
    const ID: &'static str = "chunk";
    const COLUMNS: &'static [&'static str] = &["chunk", "place", "base", "boot"];

    fn begin(columns: &[i64]) -> Self {
        let key = ChunkKey { id: columns[0], base: columns[2], boot: columns[3], step_s: 0 };
        (key, RoundTables::default())
    }

    fn id(&self) -> i64 {
        self.0.id
    }

    fn entries(&self) -> usize {
        self.1.rounds.rows()
    }

    fn restore(&mut self, entry: &[u8]) -> bool {
        let round = RoundTables::decode(entry).filter(|round| round.rounds.rows() == 1);
        let is_whole = round.is_some();
        round.iter().for_each(|round| self.1.append(round));
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tables_are_decoded(rows: Vec<[u64; 5]>) {
            let mut table = Table::new(5);
            rows.iter().for_each(|row| table.push(row));
            let mut bytes = Vec::new();
            push_columns(&table, &mut bytes).unwrap();
            prop_assert_eq!(&take_columns(&mut bytes.as_slice(), 5).unwrap(), &table);
            // A version that knows fewer columns, and one that knows more.
            let fewer = take_columns(&mut bytes.as_slice(), 3).unwrap();
            prop_assert_eq!(fewer.columns(), &table.columns()[..3]);
            let more = take_columns(&mut bytes.as_slice(), 6).unwrap();
            prop_assert!((0..rows.len()).all(|row| more.get(row, 5) == 0));
        }

        #[test]
        fn exit_records_are_decoded(names in prop::collection::vec((0..4_u64, 0..3_u64, any::<u64>()), 0..50)) {
            let mut table = Table::new(ENDED);
            for (first, second, other) in names {
                let mut row = [other; ENDED];
                row[NAME[0]] = first << 40;
                row[NAME[1]] = second;
                table.push(&row);
            }
            let mut bytes = Vec::new();
            push_ended(&table, &mut bytes).unwrap();
            prop_assert_eq!(take_ended(&mut bytes.as_slice()).unwrap(), table);
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>) {
            let _ = take_ended(&mut bytes.as_slice());
            let _ = take_columns(&mut bytes.as_slice(), 50);
        }
    }
}
