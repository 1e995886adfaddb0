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
pub(crate) const HELP: &str =
    "Time of all tasks on a CPU, waiting for a cause, or on a CPU and in no record.";

/// CPU time of tasks that ended which no record of them contains: what on_cpu lacks of the time of all CPUs.
const UNRECORDED: &str = "unrecorded";
const FIGURES: usize = 1 + Cause::ALL.len();
const STATES: usize = FIGURES + 1;

/// The sums since the agent started; what is not known of any task is `None`.
#[derive(Debug, Default)]
pub(crate) struct TaskSeries {
    /// `None` if it is not recorded.
    ids: Vec<Option<(String, SeriesId)>>,
    sums: [Option<Nanos>; STATES],
}

impl TaskSeries {
    /// Adds what tasks did in the last interval, and the CPU time in it that no record contains.
    pub(crate) fn add(&mut self, tasks: &TaskStore, unrecorded: Option<Nanos>) {
        let total = tasks.total();
        let growths = figures().map(|(_, figure)| total.get(figure).map(Nanos)).chain([unrecorded]);
        for (growth, sum) in growths.zip(&mut self.sums) {
            if let Some(growth) = growth {
                *sum.get_or_insert_default() += growth;
            }
        }
    }

    /// Gives them names, if they have none.
    pub(crate) fn register(&mut self, registry: &mut Registry, store: &mut Store) {
        if self.ids.is_empty() {
            let name = |state| {
                let mut name = SeriesName::new(METRIC);
                name.set("state", state);
                name.to_string()
            };
            let ids = figures().map(|(state, _)| state).chain([UNRECORDED]).map(name);
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
