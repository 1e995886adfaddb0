//! One task of a table.

use super::comm::Comm;
use super::figure::{Figure, Figures};
use super::{Accounting, Cause, Delay, Task, TaskKey};
use crate::name::Name;
use crate::unit::Nanos;

/// One task, as it is put into a table or taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskRow {
    /// Which.
    pub key: TaskKey,
    /// Its process.
    pub tgid: Option<u32>,
    /// The parent process.
    pub ppid: Option<u32>,
    /// Real user id.
    pub uid: Option<u32>,
    /// The name it gave itself.
    pub comm: Comm,
    /// `R`, `S`, `D`, `Z` … as /proc/PID/stat prints it; none where the source does not say.
    pub state: Option<u8>,
    /// -20 to 19.
    pub nice: i8,
    /// SCHED_OTHER 0, FIFO 1, RR 2, BATCH 3, IDLE 5, DEADLINE 6.
    pub policy: Option<u8>,
    /// The cgroup's id; its highest bit set where it is of version 1's memory hierarchy.
    pub cgroup: Option<u64>,
    /// Whether delays other than the run queue's are counted.
    pub accounting: Accounting,
    /// The rest.
    pub figures: Figures,
}

impl TaskRow {
    /// The account, with the time that it spans.
    pub fn account(&self, wall: Nanos) -> Task {
        let nanos = |figure| self.figures.get(figure).map(Nanos);
        let mut task = Task {
            key: self.key,
            tgid: self.tgid,
            ppid: self.ppid,
            uid: self.uid,
            comm: Name::new(self.comm.as_bytes()),
            nice: Some(self.nice),
            wall,
            thread_time: wall,
            threads: 1,
            on_cpu: nanos(Figure::ON_CPU),
            cpu_real: nanos(Figure::USER).zip(nanos(Figure::SYSTEM)).map(|(user, system)| user + system),
            user: nanos(Figure::USER),
            system: nanos(Figure::SYSTEM),
            accounting: self.accounting,
            ..Task::default()
        };
        for cause in Cause::ALL {
            task.delays[cause] = Delay::new(
                self.figures.get(Figure::count(cause)),
                nanos(Figure::delay(cause)),
                nanos(Figure::maximum(cause)),
            );
        }
        task
    }

    /// From an account, with what it does not hold left absent.
    pub fn of_account(task: &Task) -> Self {
        let mut figures = Figures::NONE;
        let mut set = |figure, value: Option<Nanos>| figures.set(figure, value.map(|value| value.0));
        set(Figure::ON_CPU, task.on_cpu);
        set(Figure::USER, task.user);
        set(Figure::SYSTEM, task.system);
        for cause in Cause::ALL {
            let delay = task.delays[cause];
            set(Figure::delay(cause), delay.total());
            set(Figure::maximum(cause), delay.max());
        }
        for cause in Cause::ALL {
            figures.set(Figure::count(cause), task.delays[cause].count());
        }
        Self {
            key: task.key,
            tgid: task.tgid,
            ppid: task.ppid,
            uid: task.uid,
            comm: Comm::new(task.comm.as_bytes()),
            state: None,
            nice: task.nice.unwrap_or(0),
            policy: None,
            cgroup: None,
            accounting: task.accounting,
            figures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_survives_the_table() {
        let mut task = Task {
            on_cpu: Some(Nanos(3)),
            nice: Some(0),
            wall: Nanos(9),
            thread_time: Nanos(9),
            threads: 1,
            accounting: Accounting::On,
            ..Task::default()
        };
        task.delays[Cause::Copy] = Delay::new(Some(1), Some(Nanos(2)), None);
        assert_eq!(TaskRow::of_account(&task).account(Nanos(9)), task);
    }
}
