//! The delays of all tasks, by a round trip each, in batches, by the task iterator.

use facts::task::table::TaskTable;
use probe::Roots;
use probe::task_table::{TaskTableReader, Way};
use probe::tasks::TaskReader;

use super::measurement::{Measurement, Unit, own_cpu};
use super::programs::Running;

/// Sleepers that are there meanwhile, so that there is something to read.
const SLEEPERS: usize = 500;
const ROUNDS: u32 = 5;

pub(super) fn measurements() -> Vec<Measurement> {
    let by = |way: Way| {
        let mut reader = None;
        let (mut before, mut now) = (TaskTable::default(), TaskTable::default());
        move || {
            if reader.is_none() {
                let opened = TaskTableReader::open(&Roots::live(), Some(way));
                reader = Some(opened.map_err(|_| format!("{} is not permitted here", way.name()))?);
            }
            let Some(reader) = &mut reader else { return Err("no reader".to_owned()) };
            let mut failure = None;
            let cost = own_cpu(ROUNDS, || {
                std::mem::swap(&mut before, &mut now);
                failure = reader.read(&before, &mut now).err();
            });
            // What ended meanwhile must not pile up.
            let _ = reader.receive_ended(&mut Vec::new());
            match failure {
                Some(absence) => Err(absence.to_string()),
                None => Ok(cost / now.len() as f64),
            }
        }
    };
    let round_trips = || {
        let mut reader = TaskReader::open(&Roots::live()).map_err(|error| error.to_string())?;
        let (mut pids, mut count) = (Vec::new(), 0_u32);
        let cost = own_cpu(1, || {
            if reader.processes(&mut pids).is_err() {
                return;
            }
            for pid in &pids {
                reader.read_threads(&[*pid], |_, task| count += u32::from(task.is_ok()));
            }
        });
        if count == 0 {
            Err("taskstats is not permitted here".to_owned())
        } else {
            Ok(cost / f64::from(count))
        }
    };
    let mut sleepers: Vec<Running> = Vec::new();
    let mut iterator = by(Way::Bpf);
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
            "CPU time of a task of some 500 that sleep and whatever else runs here: whit's iterator in the kernel, to which who \
             did not run is an id; taskstats in batches of 32; a round trip for each, as getdelays has it; /proc alone.",
        )
        .side("whit, the BPF iterator", &["sleep"], first)
        .side("taskstats in batches", &[], by(Way::Taskstats))
        .side("taskstats, a round trip each", &[], round_trips)
        .side("/proc alone", &[], by(Way::Procfs)),
    ]
}
