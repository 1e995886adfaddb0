//! The delays of all tasks, by a round trip each, in batches, by the task iterator.

use facts::task::figure::FigureSet;
use facts::task::store::TaskStore;
use probe::Roots;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};

use super::measurement::{Measurement, Unit, own_cpu};
use super::programs::Running;

/// Sleepers that are there meanwhile, so that there is something to read.
const SLEEPERS: usize = 500;
const ROUNDS: u32 = 5;

pub(super) fn measurements() -> Vec<Measurement> {
    let by = |source: TaskSource| {
        let mut reader = None;
        let mut store = TaskStore::default();
        move || {
            if reader.is_none() {
                let request = TaskRequest { sources: &[source], extra: FigureSet::ALL };
                let opened = TaskReader::open(&Roots::live(), &request);
                reader = Some(opened.map_err(|_| format!("{} is not permitted here", source.name()))?);
            }
            let Some(reader) = &mut reader else { return Err("no reader".to_owned()) };
            let mut failure = None;
            let cost = own_cpu(ROUNDS, || {
                failure = reader.read(&mut store).err();
                store.finish(&mut Vec::new());
            });
            match failure {
                Some(absence) => Err(absence.to_string()),
                None => Ok(cost / store.len() as f64),
            }
        }
    };
    let round_trips = || {
        let request = TaskRequest { sources: &[TaskSource::Taskstats], extra: FigureSet::default() };
        let opened = TaskReader::open(&Roots::live(), &request);
        let mut reader = opened.map_err(|_| "taskstats is not permitted here".to_owned())?;
        let (mut pids, mut count) = (Vec::new(), 0_u32);
        let cost = own_cpu(1, || {
            if reader.processes(&mut pids).is_err() {
                return;
            }
            for pid in &pids {
                reader.read_threads(&[*pid], |_, row| count += u32::from(row.is_ok()));
            }
        });
        if count == 0 {
            Err("taskstats is not permitted here".to_owned())
        } else {
            Ok(cost / f64::from(count))
        }
    };
    let mut sleepers: Vec<Running> = Vec::new();
    let mut iterator = by(TaskSource::Bpf);
    let first = move || {
        while sleepers.len() < SLEEPERS {
            sleepers.push(Running::start(&["sleep", "600"])?);
        }
        iterator()
    };
    vec![
        Measurement::new(
            "accounting",
            "The delays of every task",
            Unit::Cpu("a task"),
            "CPU time of a task of some 500 that sleep and whatever else runs here: whit's iterator in the kernel, which leaves out \
             those that did not run; taskstats in batches; a round trip for each, as getdelays has it; /proc alone.",
        )
        .side("whit, the BPF iterator", &["sleep"], first)
        .side("taskstats in batches", &[], by(TaskSource::Taskstats))
        .side("taskstats, a round trip each", &[], round_trips)
        .side("/proc alone", &[], by(TaskSource::Procfs)),
    ]
}
