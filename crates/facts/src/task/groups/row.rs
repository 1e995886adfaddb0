//! A row of the view: its identity, and its sum.

use super::group::{Busy, SHARED};
use super::{GroupBy, RowId, TaskGroups};
use crate::rate::Interval;
use crate::task::comm::Comm;
use crate::task::figure::Figure;
use crate::task::row::TaskRow;
use crate::task::store::TaskStore;
use crate::task::sum::TaskSum;
use crate::task::{Accounting, TaskKey, TimeBreakdown};
use crate::unit::Nanos;

/// A thread, a process, a user or a cgroup, and what it did in the last interval.
#[derive(Clone, Debug)]
pub struct GroupRow<'a> {
    /// The sum of what its tasks did.
    pub sum: TaskSum,
    by: GroupBy,
    /// The task that stands for the row: a living one if there is one, the main thread of a process.
    first: &'a TaskRow,
    /// All of its tasks have ended.
    pub is_ended: bool,
    interval: Option<Interval>,
}

impl TaskGroups {
    /// A row with its sum.
    pub fn row<'a>(&self, store: &'a TaskStore, id: RowId) -> GroupRow<'a> {
        let (by, interval) = (self.by, store.interval());
        match id {
            RowId::Ended(place) => {
                let ended = &self.ended[place as usize];
                let first = store.ended_task(ended.first).row();
                let mut sum = ended.sum.clone();
                // It has none any more.
                SHARED.into_iter().for_each(|figure| sum.set(figure, Some(0)));
                GroupRow { sum, by, first, is_ended: true, interval }
            }
            RowId::Living(index) => {
                let group = &self.groups[index];
                let slot = group.units.first().and_then(|unit| self.units[*unit].slots().next());
                let first = slot.and_then(|slot| store.row_in(slot)).unwrap_or(&TaskRow::NONE);
                let mut sum = match self.active_sum(index) {
                    Some(active) => active.sum.clone(),
                    None => self.idle_sum(index, interval),
                };
                for (figure, bytes) in SHARED.into_iter().zip(group.memory()) {
                    sum.set(figure, bytes);
                }
                GroupRow { sum, by, first, is_ended: false, interval }
            }
        }
    }

    /// The sum of a group that did nothing.
    fn idle_sum(&self, index: u32, interval: Option<Interval>) -> TaskSum {
        let group = &self.groups[index];
        let mut sum = TaskSum::default();
        group.add_idle(&mut sum, &Busy::default(), interval);
        sum.processes = group.units.len() as u32;
        sum
    }
}

impl GroupRow<'_> {
    /// Returns true if it stands for several processes, so that the properties of one of them are not the row's.
    pub fn is_several(&self) -> bool {
        self.sum.processes > 1
    }

    /// Returns true if it stands for all kernel threads.
    pub fn is_kernel_threads(&self) -> bool {
        self.by == GroupBy::Process && !self.is_ended && self.is_several()
    }

    /// The key of the task that stands for the row.
    pub fn key(&self) -> TaskKey {
        self.first.key
    }

    /// The process, or the thread if each is a row.
    pub fn pid(&self) -> u32 {
        if self.by == GroupBy::Process { self.tgid() } else { self.first.key.pid }
    }

    /// The process.
    pub fn tgid(&self) -> u32 {
        self.first.process()
    }

    /// The parent process; `None` if the row is several.
    pub fn ppid(&self) -> Option<u32> {
        self.first.ppid.filter(|_| !self.is_several())
    }

    /// The user; `None` if the row may be of several.
    pub fn uid(&self) -> Option<u32> {
        self.first.uid.filter(|_| !self.is_several() || self.by != GroupBy::Cgroup)
    }

    /// The name; `None` if the row may have several.
    pub fn comm(&self) -> Option<Comm> {
        let is_one = !self.is_several() || !matches!(self.by, GroupBy::User | GroupBy::Cgroup);
        is_one.then_some(self.first.comm)
    }

    /// The state's letter, `X` if it has ended; `None` if the row is several.
    pub fn state(&self) -> Option<u8> {
        if self.is_ended { Some(b'X') } else { self.first.state.filter(|_| !self.is_several()) }
    }

    /// -20 to 19; `None` if the row is several.
    pub fn nice(&self) -> Option<i8> {
        (!self.is_several()).then_some(self.first.nice)
    }

    /// The cgroup's id; `None` if the row may be in several.
    pub fn cgroup(&self) -> Option<u64> {
        self.first.cgroup.filter(|_| !self.is_several() || self.by == GroupBy::Cgroup)
    }

    /// Returns the delay accounting of the task that stands for the row.
    pub fn accounting(&self) -> Accounting {
        self.first.accounting
    }

    /// A figure.
    pub fn get(&self, figure: Figure) -> Option<u64> {
        self.sum.get(figure)
    }

    /// The rate of a figure a second.
    pub fn per_second(&self, figure: Figure) -> Option<f64> {
        Some(self.get(figure)? as f64 / self.interval?.elapsed().as_secs_f64())
    }

    /// A time as a share of the interval; above 1 for several threads.
    pub fn share(&self, time: Option<Nanos>) -> Option<f64> {
        Some(time?.0 as f64 / self.interval?.elapsed().0 as f64)
    }

    /// Divides the time of the row into its parts.
    pub fn breakdown(&self) -> TimeBreakdown {
        let breakdown = self.sum.breakdown();
        match self.interval {
            Some(_) => breakdown,
            // No time has passed in which something could have been done.
            None => TimeBreakdown { unrecorded: None, sleeping: None, undivided: None, ..breakdown },
        }
    }
}
