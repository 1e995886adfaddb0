//! Sums over all tasks, recorded as series: the sum over the tasks of a long time would take long.

use facts::task::Cause;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use formats::series_name::SeriesName;
use store::SeriesKind::{Counter, Gauge};
use store::{SeriesId, Store};

use crate::registry::Registry;
use history::metrics::{LOW_PRIORITY_TOTALS, TASK_TOTALS, UNINTERRUPTIBLE};

/// CPU time of tasks that ended which no record of them contains: what on_cpu lacks of the time of all CPUs.
const UNRECORDED: &str = "unrecorded";
const FIGURES: usize = 1 + Cause::ALL.len();
const STATES: usize = FIGURES + 1;
/// Times of states, and the wait of low priority.
const TIMES_COUNT: usize = STATES + 1;

/// The sums since the agent started; what is not known of any task is `None`.
#[derive(Debug, Default)]
pub(crate) struct TaskSeries {
    /// `None` if it is not recorded.
    ids: Vec<Option<(String, SeriesId)>>,
    sums: [Option<Nanos>; TIMES_COUNT],
    uninterruptible: Option<usize>,
}

impl TaskSeries {
    /// Adds what tasks did in the last interval, and the CPU time in it that no record contains.
    pub(crate) fn add(&mut self, tasks: &TaskStore, unrecorded: Option<Nanos>) {
        let total = tasks.total();
        let growths = figures().map(|(_, figure)| total.get(figure).map(Nanos));
        let growths = growths.chain([unrecorded, tasks.low_priority_run_queue()]);
        for (growth, sum) in growths.zip(&mut self.sums) {
            if let Some(growth) = growth {
                *sum.get_or_insert_default() += growth;
            }
        }
        self.uninterruptible = tasks.uninterruptible();
    }

    /// Gives them names, if they have none.
    pub(crate) fn register(&mut self, registry: &mut Registry, store: &mut Store) {
        if self.ids.is_empty() {
            let of_state = |state| {
                let mut name = SeriesName::new(TASK_TOTALS);
                name.set("state", state);
                (name.to_string(), Counter)
            };
            let others = [(LOW_PRIORITY_TOTALS, Counter), (UNINTERRUPTIBLE, Gauge)];
            let others = others.map(|(metric, kind)| (metric.to_owned(), kind));
            let names = figures().map(|(state, _)| state).chain([UNRECORDED]).map(of_state).chain(others);
            self.ids = names.map(|(name, kind)| registry.register(&name, kind, store)).collect();
        }
    }

    /// The values of all series, with the names under which they are recorded.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        let seconds = self.sums.into_iter().map(|sum| sum.map(Nanos::as_secs_f64));
        let values = seconds.chain([self.uninterruptible.map(|count| count as f64)]);
        self.ids.iter().zip(values).filter_map(|(name, value)| {
            let (name, id) = name.as_ref()?;
            Some((name.as_str(), *id, value?))
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
