//! Which series are recorded, and under which names.

use std::collections::HashMap;

use formats::relabel::Relabelling;
use formats::series_name::metric_of;
use store::{SeriesId, SeriesKind, Store};

use history::metrics;

/// Gives series their names and numbers.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    relabelling: Relabelling,
    /// The series that are taken, each with its name before it was relabelled.
    taken: HashMap<SeriesId, String>,
    faults: Vec<String>,
    is_full: bool,
}

impl Registry {
    /// Applies these rules.
    pub(crate) fn new(relabelling: Relabelling) -> Self {
        Self { relabelling, ..Self::default() }
    }

    /// A series by its own name. `None`: it is not recorded, since a rule drops it, or another one has its new name.
    pub(crate) fn register(
        &mut self,
        name: &str,
        kind: SeriesKind,
        store: &mut Store,
    ) -> Option<(String, SeriesId)> {
        let mut renamed = self.relabelling.rename(name)?;
        if metrics::RESTRICTED.contains(&metric_of(name)) && metric_of(&renamed) != metric_of(name) {
            self.faults
                .push(format!("{name} is not relabelled: by its metric it is hidden from other users"));
            name.clone_into(&mut renamed);
        }
        let id = store.series(&renamed, kind);
        if let Some(other) = self.taken.get(&id) {
            self.faults.push(format!("{name} is not recorded: relabelling gives it the name of {other}"));
            return None;
        }
        self.taken.insert(id, name.to_owned());
        Some((renamed, id))
    }

    /// A series is new, and there are so many already.
    pub(crate) fn refuse(&mut self, most: usize) {
        if !std::mem::replace(&mut self.is_full, true) {
            self.faults.push(format!("there are {most} series: new ones are not recorded until a restart"));
        }
    }

    /// The series that are not recorded although no rule drops them, as one message.
    pub(crate) fn take_fault(&mut self) -> Option<String> {
        let mut faults = std::mem::take(&mut self.faults).into_iter();
        let first = faults.next()?;
        Some(match faults.len() {
            0 => first,
            more => format!("{first}, and so for {more} more"),
        })
    }
}
