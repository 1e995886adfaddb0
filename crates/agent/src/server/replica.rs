//! The server's copy of the recorder's last tick.

use facts::task::rounds::{RoundDecoder, RoundTables};
use facts::task::store::TaskStore;

use recorder::messages::values;

/// The series and tasks of the last tick.
#[derive(Debug, Default)]
pub(super) struct Replica {
    /// By the number of the series.
    names: Vec<String>,
    values: Vec<(usize, f64)>,
    decoder: RoundDecoder,
    tasks: TaskStore,
    /// All tasks were received, and every round since.
    has_tasks: bool,
}

impl Replica {
    /// Returns the tasks, or `None` if rounds are not subscribed to.
    pub(super) fn tasks(&self) -> Option<&TaskStore> {
        self.has_tasks.then_some(&self.tasks)
    }

    /// Applies a round. Returns its tables, or `None` if they are malformed or do not continue the last round.
    pub(super) fn apply_round(&mut self, is_whole: bool, body: &[u8]) -> Option<RoundTables> {
        let tables = RoundTables::decode(body).filter(|tables| tables.rounds.rows() == 1)?;
        if !is_whole && !self.has_tasks {
            return None;
        }
        self.decoder.fill(&tables, 0, is_whole, &mut self.tasks);
        self.has_tasks = true;
        Some(tables)
    }

    /// Drops the tasks when rounds are not subscribed to any more.
    pub(super) fn drop_tasks(&mut self) {
        if self.has_tasks {
            (self.decoder, self.tasks, self.has_tasks) =
                (RoundDecoder::default(), TaskStore::default(), false);
        }
    }

    /// Adds names of series.
    pub(super) fn add_names(&mut self, names: Vec<String>) {
        self.names.extend(names);
    }

    /// Applies the values of a tick.
    pub(super) fn apply_tick(&mut self, body: &[u8]) {
        self.values.clear();
        self.values.extend(values(body));
    }

    /// Returns the names and values of the last tick; none if series are not subscribed to.
    pub(super) fn series(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().filter_map(|(number, value)| Some((self.names.get(*number)?.as_str(), *value)))
    }
}
