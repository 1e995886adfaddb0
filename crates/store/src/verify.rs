//! Checks whether everything in a history is as it was written.

use std::path::Path;

use rusqlite::Connection;

use crate::StoreError;
use crate::reading::{read_column, read_head};
use crate::series::SeriesNames;
use crate::task_names;
use crate::tasks::read_chunk;

/// Findings of one kind after which no more are listed.
const MAX_FINDINGS: usize = 20;

/// Checks a file: SQLite's own structure, then every row that this crate wrote. Returns what is damaged.
pub(crate) fn verify(
    connection: &Connection,
    names: &SeriesNames,
    path: &Path,
) -> Result<Vec<String>, StoreError> {
    let mut findings = Findings { path, found: Vec::new() };
    // An error ends a part of the check, not the rest of it.
    let parts = [
        check_structure(connection, &mut findings),
        check_blocks(connection, names, &mut findings),
        check_chunks(connection, &mut findings),
        check_task_names(connection, &mut findings),
    ];
    for part in parts {
        match part {
            Err(error) if error.is_damage() => findings.add(&error.to_string()),
            part => part?,
        }
    }
    if names.damaged > 0 {
        findings.add(&format!("{} names of series are damaged", names.damaged));
    }
    Ok(findings.found)
}

struct Findings<'p> {
    path: &'p Path,
    found: Vec<String>,
}

impl Findings<'_> {
    fn add(&mut self, what: &str) {
        if self.found.len() < MAX_FINDINGS {
            self.found.push(format!("{}: {what}", self.path.display()));
        }
    }
}

fn check_structure(connection: &Connection, findings: &mut Findings<'_>) -> Result<(), StoreError> {
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            findings.add(&line);
        }
    }
    Ok(())
}

fn check_blocks(
    connection: &Connection,
    names: &SeriesNames,
    findings: &mut Findings<'_>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare("SELECT id FROM blocks ORDER BY position")?;
    let ids: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut next_position = None;
    for block in ids {
        let Some((key, head)) = read_head(connection, block)? else {
            findings.add(&format!("block {block} is damaged"));
            next_position = None;
            continue;
        };
        if next_position.is_some_and(|next| key.position > next) {
            findings.add(&format!("blocks before block {block} are missing"));
        }
        next_position = Some(key.position + key.span);
        for id in &head.series {
            if names.kind(*id).is_none() {
                findings.add(&format!("the name of series {} is missing", id.0));
            }
            if read_column(connection, block, &head, *id)?.is_none() {
                findings.add(&format!("series {} of block {block} is damaged", id.0));
            }
        }
    }
    Ok(())
}

fn check_task_names(connection: &Connection, findings: &mut Findings<'_>) -> Result<(), StoreError> {
    // Of no boot: all rows are checked.
    let (_, damaged) = task_names::read(connection, 0)?;
    if damaged > 0 {
        findings.add(&format!("{damaged} names of cgroups and commands are damaged"));
    }
    Ok(())
}

fn check_chunks(connection: &Connection, findings: &mut Findings<'_>) -> Result<(), StoreError> {
    let mut statement = connection.prepare("SELECT id FROM task_chunks ORDER BY id")?;
    let ids: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in &ids {
        if read_chunk(connection, *id)?.is_none_or(|(_, chunk)| chunk.is_none()) {
            findings.add(&format!("chunk {id} of the tasks is damaged"));
        }
    }
    for pair in ids.windows(2).filter(|pair| pair[1] != pair[0] + 1) {
        findings.add(&format!("chunks of tasks before chunk {} are missing", pair[1]));
    }
    Ok(())
}
