//! A tick of the task store and its groups over many threads of which few changed, for callgrind to count.

use std::hint::black_box;

use facts::sample::Clock;
use facts::task::figure::Figure;
use facts::task::groups::{GroupBy, TaskGroups};
use facts::task::store::TaskStore;
use facts::task::{Accounting, TaskKey, TaskRow};
use facts::unit::Nanos;

use crate::outcome::Outcome;

/// Threads that change in each tick.
const CHANGED: u32 = 50;
const THREADS_OF_PROCESS: u32 = 10;

/// Takes a first round and so many ticks.
pub(crate) fn run(threads: &str, ticks: &str) -> Outcome {
    let number = |text: &str| text.parse::<u32>().map_err(|error| format!("{text}: {error}"));
    let (threads, ticks) = (number(threads)?, number(ticks)?);
    let (mut store, mut groups) = (TaskStore::default(), TaskGroups::default());
    for tick in 0..=ticks {
        let now = Nanos(u64::from(1_000 + tick) * Nanos::SECOND.0);
        store.begin(Clock { monotonic: now, boottime: now, realtime: now });
        let step = if tick == 0 { 1 } else { threads / CHANGED };
        for index in (0..threads).step_by(step as usize) {
            store.put(&thread(index, tick));
        }
        if tick == 0 {
            store.remove_stale();
        }
        // What was left out is compared with what the kernel says that it left out.
        black_box(store.stale(&[]));
        store.finish(&mut Vec::new());
        groups.update(&store, GroupBy::Process, None);
        for id in groups.active_rows() {
            black_box(groups.row(&store, id).sum.on_cpu());
        }
    }
    Ok(())
}

/// A thread with a millisecond more in each tick.
fn thread(index: u32, tick: u32) -> TaskRow {
    let mut row = TaskRow {
        key: TaskKey { pid: index + 1, start: Nanos(Nanos::SECOND.0 + u64::from(index)) },
        tgid: Some(index - index % THREADS_OF_PROCESS + 1),
        uid: Some(index % 7),
        accounting: Accounting::On,
        ..TaskRow::NONE
    };
    row.figures.set(Figure::ON_CPU, Some(u64::from(tick) * 1_000_000));
    row.figures.set(Figure::RESIDENT_BYTES, Some(1 << 20));
    row
}
