//! What the programs and the units of a machine did, as far as its agent sends it: the largest twenty by each figure.

use std::collections::BTreeMap;
use std::time::Instant;

use formats::series_name::{METRIC, SeriesName};
use query::Answer;
use serde::Serialize;

use remote_store::Asked;

use crate::{Fleet, INSTANCE, TOO_SLOW};

/// A figure of a use.
type Figure = fn(&mut Use) -> &mut Option<f64>;

/// The recording rules that agents have by themselves, `level:metric:operation` without the level, and the figure that each is.
const RULES: [(&str, Figure); 5] = [
    ("whit_task_on_cpu_seconds:rate1m", |one| &mut one.on_cpu_ratio),
    ("whit_task_run_queue_seconds:rate1m", |one| &mut one.run_queue_ratio),
    ("whit_task_block_io_seconds:rate1m", |one| &mut one.block_io_ratio),
    ("whit_task_memory_seconds:rate1m", |one| &mut one.memory_ratio),
    ("whit_task_resident_bytes", |one| &mut one.resident_bytes),
];

/// What the tasks of a program or of a unit did, all together. A figure is `None` if the program is not among the largest twenty by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Use {
    /// The name of the program; of the systemd unit or the container; empty: tasks that are in none.
    pub name: String,
    /// Time on a CPU in each second, on average of a minute.
    pub on_cpu_ratio: Option<f64>,
    /// Time of waits for a CPU in each second.
    pub run_queue_ratio: Option<f64>,
    /// Time of waits for a disk in each second.
    pub block_io_ratio: Option<f64>,
    /// Time of waits for memory in each second.
    pub memory_ratio: Option<f64>,
    /// Resident memory.
    pub resident_bytes: Option<f64>,
}

impl Use {
    /// Returns the time that it used and waited in each second, as far as it is known.
    fn time_ratio(&self) -> f64 {
        [self.on_cpu_ratio, self.run_queue_ratio, self.block_io_ratio, self.memory_ratio]
            .into_iter()
            .flatten()
            .sum()
    }

    /// Returns the figure of a default recording rule, by its name without the level. `None`: it is not one of these.
    fn figure(&mut self, metric: &str) -> Option<&mut Option<f64>> {
        RULES.iter().find(|(rule, _)| *rule == metric).map(|(_, figure)| figure(self))
    }
}

/// What the tasks of a machine did, those that took most time first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MachineUses {
    /// By program.
    pub programs: Vec<Use>,
    /// By systemd unit or container.
    pub units: Vec<Use>,
}

impl Fleet {
    /// Asks what the programs and the units of a machine did in the minute before an instant in milliseconds since 1970: two questions. After
    /// the deadline nothing more is asked.
    ///
    /// # Errors
    /// If the store does not answer both.
    pub fn uses(&self, machine: &str, at_ms: i64, deadline: Instant) -> Result<MachineUses, String> {
        let ask = |level: &str| {
            if Instant::now() >= deadline {
                return Err(TOO_SLOW.to_owned());
            }
            let rules = RULES.map(|(rule, _)| rule).join("|");
            let selector = format!("{{__name__=~\"{level}:({rules})\"}}");
            let restricted = query::restricted(&selector, (INSTANCE, machine), &self.matchers);
            let expression = restricted.map_err(|error| error.to_string())?;
            self.store.ask(&expression, Asked::At { at_ms }).map(grouped)
        };
        Ok(MachineUses { programs: ask("comm")?, units: ask("unit")? })
    }
}

fn grouped(answer: Answer) -> Vec<Use> {
    let mut uses = BTreeMap::<String, Use>::new();
    if let Answer::Vector(series) = answer {
        for (series, point) in series {
            let name = name_of(&series);
            let metric = series.get(METRIC).split_once(':').map_or("", |(_, metric)| metric);
            let one = uses.entry(name.clone()).or_insert_with(|| Use { name, ..Use::default() });
            // Units of several users may have containers of one name.
            if let Some(figure) = one.figure(metric) {
                *figure.get_or_insert(0.0) += point.value;
            }
        }
    }
    let mut uses: Vec<Use> =
        uses.into_values().filter(|one| one.time_ratio() > 0.0 || one.resident_bytes.is_some()).collect();
    uses.sort_by(|one, other| {
        let resident = |one: &Use| one.resident_bytes.unwrap_or(0.0);
        other
            .time_ratio()
            .total_cmp(&one.time_ratio())
            .then_with(|| resident(other).total_cmp(&resident(one)))
    });
    uses
}

/// What people call it: `nginx`, `postgresql.service`, `shop-db`, `shop/web-5f7/nginx` of Kubernetes.
fn name_of(series: &SeriesName) -> String {
    match ["comm", "container", "unit"].map(|label| series.get(label)) {
        ["", "", unit] => unit.to_owned(),
        ["", container, _] => {
            let parts = [series.get("namespace"), series.get("pod"), container];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
        }
        [comm, ..] => comm.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use query::Point;

    use super::*;

    #[test]
    fn figures_of_one_name_are_one_use() {
        let series = [
            ("comm:whit_task_on_cpu_seconds:rate1m{comm=\"cc1\"}", 1.5),
            ("comm:whit_task_resident_bytes{comm=\"cc1\"}", 3e7),
            ("comm:whit_task_block_io_seconds:rate1m{comm=\"tar\"}", 2.0),
            ("comm:whit_task_threads{comm=\"dd\"}", 4.0),
            ("unit:whit_task_resident_bytes{unit=\"user@1.service\",container=\"db\"}", 1e6),
            ("unit:whit_task_resident_bytes{unit=\"user@2.service\",container=\"db\"}", 2e6),
        ];
        let vector =
            series.map(|(name, value)| (SeriesName::parse(name).unwrap(), Point { at_ms: 0, value }));
        let uses = grouped(Answer::Vector(vector.to_vec()));
        let named = |name: &str| Use { name: name.to_owned(), ..Use::default() };
        assert_eq!(
            uses,
            [
                Use { block_io_ratio: Some(2.0), ..named("tar") },
                Use { on_cpu_ratio: Some(1.5), resident_bytes: Some(3e7), ..named("cc1") },
                Use { resident_bytes: Some(3e6), ..named("db") },
            ]
        );
    }

    #[test]
    fn a_pod_is_named_before_its_container() {
        let named = |labels: &str| name_of(&SeriesName::parse(&format!("a{{{labels}}}")).unwrap());
        assert_eq!(named("unit=\"ssh.service\""), "ssh.service");
        assert_eq!(named("unit=\"docker.service\",container=\"shop-db\""), "shop-db");
        assert_eq!(named("container=\"nginx\",pod=\"web-5f7\",namespace=\"shop\""), "shop/web-5f7/nginx");
        assert_eq!(named("env=\"prod\""), "");
    }
}
