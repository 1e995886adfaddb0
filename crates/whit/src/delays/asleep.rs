//! For what the processes of a table sleep.

use std::sync::{Arc, Mutex, PoisonError};

use probe::waits::WaitReader;
use sampling::asleep::{Asleep, AsleepWatch};

use super::selection::Group;
use super::{Kind, Row};

/// More processes are not looked at: of a whole machine `whit top` says it.
const MAX_PROCESSES: usize = 32;

/// Looks at the processes of rows from one table to the next.
pub(super) struct Watch {
    watch: AsleepWatch<u32>,
    pids: Arc<Mutex<Vec<u32>>>,
}

impl Watch {
    /// Begins with no processes; `None` if that is not possible.
    pub(super) fn start() -> Option<Self> {
        let pids = Arc::new(Mutex::new(Vec::new()));
        let watched = Arc::clone(&pids);
        let list = move |_: &mut WaitReader| watched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let watch = AsleepWatch::start(list, |process| process.pid)?;
        Some(Self { watch, pids })
    }

    /// Adds to rows for what they slept since the last ones. From now on these are looked at.
    pub(super) fn add(&self, rows: &mut [Row]) {
        add(rows, &self.watch.take());
        self.follow(processes(rows));
    }

    /// From now on looks at the processes of these groups.
    pub(super) fn follow_groups(&self, groups: &[Group]) {
        let of_processes = groups.iter().filter(|group| group.kind == Kind::Process);
        self.follow(bounded(of_processes.map(|group| group.id).collect()));
    }

    fn follow(&self, pids: Vec<u32>) {
        *self.pids.lock().unwrap_or_else(PoisonError::into_inner) = pids;
    }
}

/// The processes that are looked at: none if they are too many.
fn processes(rows: &[Row]) -> Vec<u32> {
    let of_processes = rows.iter().filter(|row| row.kind == Kind::Process);
    bounded(of_processes.map(|row| row.task.key.pid).collect())
}

fn bounded(pids: Vec<u32>) -> Vec<u32> {
    if pids.len() > MAX_PROCESSES { Vec::new() } else { pids }
}

fn add(rows: &mut [Row], asleep: &Asleep<u32>) {
    for row in rows.iter_mut().filter(|row| row.kind == Kind::Process) {
        row.asleep = asleep.of(&row.task.key.pid);
    }
}
