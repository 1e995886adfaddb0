//! Names of what tasks have as a number, or not at all: paths of cgroups, command lines.

use std::collections::{HashMap, HashSet};

use facts::task::TaskKey;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use rusqlite::{Connection, params};

use crate::StoreError;
use crate::checksum;

/// Names that are kept in memory; beyond this they are written again.
const MAX_KEPT: usize = 65_536;

/// A thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Named {
    /// The path of a cgroup, by the id that its tasks have.
    Cgroup(u64),
    /// The command line of a process.
    Command(TaskKey),
}

impl Named {
    /// As the numbers of a row: what it is, its id, when it started.
    fn numbers(self) -> [i64; 3] {
        match self {
            Self::Cgroup(id) => [0, id.cast_signed(), 0],
            Self::Command(key) => [1, key.pid.into(), key.start.0.cast_signed()],
        }
    }
}

#[derive(Debug)]
struct Entry {
    boot: i64,
    name: String,
    is_written: bool,
}

/// The names of living tasks, and of those that lived a short while ago.
#[derive(Debug, Default)]
pub(crate) struct TaskNames {
    names: HashMap<Named, Entry>,
    has_new: bool,
}

impl TaskNames {
    pub(crate) fn contains(&self, named: Named) -> bool {
        self.names.contains_key(&named)
    }

    pub(crate) fn add(&mut self, boot: i64, named: Named, name: &str) {
        if self.names.len() >= MAX_KEPT {
            self.names.clear();
        }
        self.names.insert(named, Entry { boot, name: name.to_owned(), is_written: false });
        self.has_new = true;
    }

    /// A base begins: the names of all living tasks are written again, so that older rows can be deleted with older chunks, and those
    /// of the others are forgotten.
    pub(crate) fn begin_base(&mut self, tasks: &TaskStore) {
        let living: HashSet<Named> = tasks
            .rows()
            .flat_map(|row| [row.cgroup.map(Named::Cgroup), Some(Named::Command(row.key))])
            .flatten()
            .collect();
        self.names.retain(|named, _| living.contains(named));
        self.forget_written();
    }

    /// Writes those that are new, with the time.
    pub(crate) fn write(&self, connection: &Connection, now_ns: i64) -> Result<(), StoreError> {
        if !self.has_new {
            return Ok(());
        }
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO task_names (boot, kind, id, start_ns, seen_ns, name) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for (named, Entry { boot, name, .. }) in self.names.iter().filter(|(_, entry)| !entry.is_written) {
            let [kind, id, start_ns] = named.numbers();
            let key = [*boot, kind, id, start_ns, now_ns];
            statement.execute(params![
                boot,
                kind,
                id,
                start_ns,
                now_ns,
                checksum::seal(&key, name.as_bytes())
            ])?;
        }
        Ok(())
    }

    /// The transaction was committed.
    pub(crate) fn commit(&mut self) {
        if std::mem::take(&mut self.has_new) {
            self.names.values_mut().for_each(|entry| entry.is_written = true);
        }
    }

    /// Lets all be written again.
    pub(crate) fn forget_written(&mut self) {
        self.names.values_mut().for_each(|entry| entry.is_written = false);
        self.has_new = true;
    }
}

/// The names of a boot by their numbers, and how many rows are damaged.
pub(crate) fn read(connection: &Connection, boot: i64) -> Result<(HashMap<Named, String>, u64), StoreError> {
    let (mut names, mut damaged) = (HashMap::new(), 0);
    // Of all boots: the number of one may be what is damaged.
    let mut statement =
        connection.prepare_cached("SELECT boot, kind, id, start_ns, seen_ns, name FROM task_names")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: [i64; 5] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
        let [its_boot, kind, id, start_ns, _] = key;
        let body = checksum::open(&key, row.get_ref(5)?.as_blob().unwrap_or_default());
        if its_boot != boot && body.is_some() {
            continue;
        }
        let start = Nanos(start_ns.cast_unsigned());
        match (kind, u32::try_from(id), body.and_then(|body| std::str::from_utf8(body).ok())) {
            (0, _, Some(name)) => drop(names.insert(Named::Cgroup(id.cast_unsigned()), name.to_owned())),
            (1, Ok(pid), Some(name)) => {
                names.insert(Named::Command(TaskKey { pid, start }), name.to_owned());
            }
            // A later version's.
            (2.., _, Some(_)) => {}
            _ => damaged += 1,
        }
    }
    Ok((names, damaged))
}

/// Deletes names that were last seen before the first chunk.
pub(crate) fn delete_old(connection: &Connection) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM task_names WHERE seen_ns < (SELECT min(first_ns) FROM task_chunks)", [])?;
    Ok(())
}
