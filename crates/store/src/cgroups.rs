//! Paths of cgroups: tasks have ids alone.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::StoreError;
use crate::checksum;

/// Names that are kept in memory; beyond this they are written again.
const MOST_KEPT: usize = 16_384;

/// The cgroups that were named since the writer was opened.
#[derive(Debug, Default)]
pub(crate) struct CgroupNames {
    /// The boot and the path, and whether that is written.
    by_id: HashMap<u64, (i64, String, bool)>,
    has_new: bool,
}

impl CgroupNames {
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.by_id.contains_key(&id)
    }

    pub(crate) fn add(&mut self, boot: i64, id: u64, path: &str) {
        if self.by_id.len() >= MOST_KEPT {
            self.by_id.clear();
        }
        self.by_id.insert(id, (boot, path.to_owned(), false));
        self.has_new = true;
    }

    /// Writes those that are new.
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        if !self.has_new {
            return Ok(());
        }
        for (id, (boot, path, _)) in self.by_id.iter().filter(|(_, (.., is_written))| !is_written) {
            let id = id.cast_signed();
            connection
                .prepare_cached("INSERT OR REPLACE INTO cgroups (boot, id, path) VALUES (?1, ?2, ?3)")?
                .execute(params![boot, id, checksum::seal(&[*boot, id], path.as_bytes())])?;
        }
        Ok(())
    }

    /// The transaction was committed.
    pub(crate) fn commit(&mut self) {
        if std::mem::take(&mut self.has_new) {
            self.by_id.values_mut().for_each(|(.., is_written)| *is_written = true);
        }
    }

    /// Lets all be written again, into another file.
    pub(crate) fn forget_written(&mut self) {
        self.by_id.values_mut().for_each(|(.., is_written)| *is_written = false);
        self.has_new = true;
    }
}

/// The paths of the cgroups of a boot, and how many rows are damaged.
pub(crate) fn read(connection: &Connection, boot: i64) -> Result<(HashMap<u64, String>, u64), StoreError> {
    let (mut paths, mut damaged) = (HashMap::new(), 0);
    let mut statement = connection.prepare_cached("SELECT id, path FROM cgroups WHERE boot = ?1")?;
    let mut rows = statement.query([boot])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let body = checksum::open(&[boot, id], row.get_ref(1)?.as_blob().unwrap_or_default());
        match body.and_then(|body| std::str::from_utf8(body).ok()) {
            Some(path) => drop(paths.insert(id.cast_unsigned(), path.to_owned())),
            None => damaged += 1,
        }
    }
    Ok((paths, damaged))
}
