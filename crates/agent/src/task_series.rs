//! What all tasks did together, recorded as series: the sum over the tasks of a long time would take long.

use facts::task::Cause;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use formats::series_name::SeriesName;
use store::{SeriesId, SeriesKind, Store};

use crate::registry::Registry;
use crate::restricted::TASK_TOTALS;

/// Their metric.
pub(crate) const METRIC: &str = TASK_TOTALS;
/// What it is.
pub(crate) const HELP: &str = "Time of all tasks on a CPU, or waiting for a cause.";

const FIGURES: usize = 1 + Cause::ALL.len();

/// The sums since the agent started; what is not known of any task is `None`.
#[derive(Debug, Default)]
pub(crate) struct TaskSeries {
    /// `None` if it is not recorded.
    ids: Vec<Option<(String, SeriesId)>>,
    sums: [Option<Nanos>; FIGURES],
}

impl TaskSeries {
    /// Adds what tasks did in the last interval.
    pub(crate) fn add(&mut self, tasks: &TaskStore) {
        let total = tasks.total();
        for ((_, figure), sum) in figures().zip(&mut self.sums) {
            if let Some(growth) = total.get(figure) {
                *sum.get_or_insert_default() += Nanos(growth);
            }
        }
    }

    /// Gives them names, if they have none.
    pub(crate) fn register(&mut self, registry: &mut Registry, store: &mut Store) {
        if self.ids.is_empty() {
            let name = |(state, _)| {
                let mut name = SeriesName::new(METRIC);
                name.set("state", state);
                name.to_string()
            };
            let ids = figures().map(name);
            self.ids = ids.map(|name| registry.register(&name, SeriesKind::Counter, store)).collect();
        }
    }

    /// The sums in seconds, with the names under which they are recorded.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        self.ids.iter().zip(self.sums).filter_map(|(name, sum)| {
            let (name, id) = name.as_ref()?;
            Some((name.as_str(), *id, sum?.as_secs_f64()))
        })
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        self.ids.clear();
    }
}

fn figures() -> impl Iterator<Item = (&'static str, Figure)> {
    let causes = Cause::ALL.into_iter().map(|cause| (cause.name(), Figure::delay(cause)));
    std::iter::once(("on_cpu", Figure::ON_CPU)).chain(causes)
}
