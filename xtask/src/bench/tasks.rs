//! Reading all tasks into a store, beside the least that reading them costs: one round a second, each source in turn.

use std::time::Duration;

use facts::task::figure::FigureSet;
use facts::task::store::TaskStore;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use probe::{Roots, own_cpu_time};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::process::{Crowd, Spread, cpu_ns_of_whole};
use super::programs::Programs;
use super::row::print_row;
use crate::outcome::Outcome;

const ROUNDS: usize = 12;
const SLEEPING: &str = "5000";
const BUSY: &str = "50";

/// Runs all ways in turn: on a quiet machine, and cold, beside a process on the same CPU that sweeps more memory than the caches nearest
/// to it hold.
pub(crate) fn run(programs: &Programs) -> Outcome {
    let _crowd = Crowd::start(&programs.crowd, &[SLEEPING, BUSY])?;
    measure(programs, "")?;
    let _sweep = Crowd::start(&programs.sweep, &["0"])?;
    let everywhere = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let mut first = CpuSet::new();
    first.set(0);
    sched_setaffinity(None, &first).map_err(|error| error.to_string())?;
    let measured = measure(programs, ", cold");
    sched_setaffinity(None, &everywhere).map_err(|error| error.to_string())?;
    measured
}

fn measure(programs: &Programs, circumstance: &str) -> Outcome {
    let open = |source| {
        let request = TaskRequest { sources: &[source], extra: FigureSet::ALL };
        TaskReader::open(&Roots::live(), &request).map_err(|error| format!("{error:?}"))
    };
    let (mut bare, mut bpf) = (open(TaskSource::Bpf)?, open(TaskSource::Bpf)?);
    let mut taskstats = open(TaskSource::Taskstats)?;
    let (mut store, mut by_taskstats) = (TaskStore::default(), TaskStore::default());
    let mut costs: [Vec<f64>; 5] = Default::default();
    for round in 0..=ROUNDS {
        let mut cost = [0.0; 5];
        // So that what one way touched is as cold for the next as it is for everybody.
        let pause = || std::thread::sleep(Duration::from_secs(1));
        pause();
        cost[0] = own_cost(|| bare.read_bare().map(drop))?;
        pause();
        cost[1] = own_cost(|| read(&mut bpf, &mut store))?;
        pause();
        cost[2] = own_cost(|| read(&mut taskstats, &mut by_taskstats))?;
        pause();
        cost[3] = cpu_ns_of_whole(&[&programs.taskstats_batch])?;
        pause();
        cost[4] = cpu_ns_of_whole(&[&programs.proc_stat])?;
        if round > 0 {
            costs.iter_mut().zip(cost).for_each(|(all, one)| all.push(one));
        }
    }
    for (what, ours, theirs, limit) in [
        ("table by BPF: the bare iterator", 1, 0, "1.80"),
        ("table by BPF: /proc/PID/stat of each", 1, 4, "0.10"),
        ("table by taskstats: bare batches", 2, 3, "1.30"),
        ("  (bare batches: /proc/PID/stat)", 3, 4, ""),
    ] {
        let ratios = costs[ours].iter().zip(&costs[theirs]).map(|(a, b)| a / b).collect();
        let median = |which: usize| Spread::of(costs[which].clone()).median;
        print_row(&format!("{what}{circumstance}"), median(ours), median(theirs), &Spread::of(ratios), limit);
    }
    let a_task = Spread::of(costs[1].clone()).median / store.len() as f64;
    println!(
        "{:<36} {:>8.2} % of a CPU            limit 1 %",
        "  (10 000 tasks at 1 Hz, by BPF)",
        a_task * 10_000.0 / 1e7
    );
    Ok(())
}

/// A round: what was read, and what each task did since.
fn read(reader: &mut TaskReader, store: &mut TaskStore) -> Result<(), facts::sample::Absence> {
    reader.read(store)?;
    store.finish(&mut Vec::new());
    Ok(())
}

fn own_cost(what: impl FnOnce() -> Result<(), facts::sample::Absence>) -> Result<f64, String> {
    let before = own_cpu_time();
    what().map_err(|absence| absence.to_string())?;
    Ok(own_cpu_time().saturating_sub(before).0 as f64)
}
