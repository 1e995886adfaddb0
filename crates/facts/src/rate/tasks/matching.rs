//! Which task of the older table each task of the newer one is, and each that ended.
//!
//! A task is told by its id and its start. Two things make that hard. A record does not say when its task began, only how long it
//! lived: the start follows from when it ended, which lies between two readings of the records. And a thread that executes another
//! program (execve(2)) takes over its main thread's id *and* start, while its counters go on: the main thread ends with a record,
//! and the thread vanishes without one. Each such takeover makes another *incarnation* of one id and start.

use std::collections::HashSet;

use super::{Ended, Origin, SLACK, TaskChanges, place_in};
use crate::task::figure::Figure;
use crate::task::table::TaskTable;
use crate::unit::Nanos;

/// By how much two readings may place the start of one task apart: a tick in which /proc tells it, and as much again.
const SAME_START: Nanos = Nanos(20_000_000);

/// Counters that every source has exactly, and that never go back.
const EXACT: [Figure; 3] = [Figure::VOLUNTARY_SWITCHES, Figure::INVOLUNTARY_SWITCHES, Figure::MINOR_FAULTS];

/// Whether one account can be an earlier one of the same task than the other. What either does not know says nothing.
fn can_precede(earlier: impl Fn(Figure) -> Option<u64>, later: impl Fn(Figure) -> Option<u64>) -> bool {
    EXACT
        .iter()
        .all(|figure| earlier(*figure).zip(later(*figure)).is_none_or(|(earlier, later)| earlier <= later))
}

impl TaskChanges {
    /// Finds each living task in the older table.
    pub(super) fn find_origins(&mut self, before: &TaskTable, now: &TaskTable) {
        self.by_pid.clear();
        self.by_pid.extend(before.pids().iter().zip(0..).map(|(pid, index)| (*pid, index)));
        // Nearly sorted, by process and here and there a thread: the stable sort makes use of that.
        if !self.by_pid.is_sorted() {
            self.by_pid.sort();
        }
        self.is_taken.clear();
        self.is_taken.resize(before.len(), false);
        let mut next = 0;
        for index in 0..now.len() {
            let key = now.key(index);
            // Tasks mostly stand where they stood.
            let place = match before.pids().get(next) {
                Some(pid) if *pid == key.pid => Some(next),
                _ => place_in(&self.by_pid, key.pid),
            };
            let same = place.filter(|place| before.key(*place).start.0.abs_diff(key.start.0) <= SAME_START.0);
            let origin = match same {
                Some(place) => {
                    next = place + 1;
                    self.is_taken[place] = true;
                    Origin::Row(place as u32)
                }
                None if self.is_in_interval(before, key.start) => Origin::Birth,
                None => Origin::Unknown,
            };
            self.origins.push(origin);
            self.wall_ns.push(self.span(&now.clock, key.start));
        }
    }

    /// Takes those that are not among the living. What is left in `ended` is of tasks that are: zombies, and tasks that ended after
    /// they had been read.
    pub(super) fn take_ended(&mut self, before: &TaskTable, now: &TaskTable, ended: &mut Vec<Ended>) {
        self.ended.clear();
        self.living_by_pid.clear();
        if ended.is_empty() {
            return;
        }
        self.living_by_pid.extend(now.pids().iter().zip(0..).map(|(pid, index)| (*pid, index)));
        self.living_by_pid.sort();
        ended.retain(|ended| {
            let place = place_in(&self.living_by_pid, ended.row.key.pid);
            let is_there = place.is_some_and(|place| self.is_of(before, now, place, ended));
            if !is_there {
                self.ended.push(*ended);
            }
            is_there
        });
    }

    /// Whether a record is of a task of the newer table.
    fn is_of(&self, before: &TaskTable, now: &TaskTable, place: usize, ended: &Ended) -> bool {
        let start = now.key(place).start;
        if !ended.can_have_begun(start, self.suspended()) {
            return false;
        }
        let row = |figure| now.get(place, figure);
        let record = |figure| ended.row.figures.get(figure);
        match now.state(place) {
            Some(state) if b"ZX".contains(&state) => true,
            Some(_) => {
                ended.can_have_ended_after(start, now.clock.boottime, self.suspended())
                    && can_precede(row, record)
            }
            // taskstats does not say what is a zombie. A zombie has gone on a little after its record was made; a thread that took
            // over the id and start did something else.
            None => {
                let is_after = ended.can_have_ended_after(start, now.clock.boottime, self.suspended());
                let went_on = row(Figure::ON_CPU).zip(record(Figure::ON_CPU));
                let is_near = went_on.is_none_or(|(row, record)| row.abs_diff(record) <= SLACK.0);
                let is_alone = !self.has_vanished_threads(before, now, place);
                (is_after && can_precede(row, record)) || (is_near && can_precede(record, row) && is_alone)
            }
        }
    }

    /// Whether threads of a process that were in the older table are not in the newer one.
    fn has_vanished_threads(&self, before: &TaskTable, now: &TaskTable, leader: usize) -> bool {
        let tgid = now.pid(leader);
        let is_thread = |row: &usize| before.tgid(*row) == tgid && before.pid(*row) != tgid;
        (0..before.len()).filter(is_thread).any(|row| !self.is_taken[row])
    }

    /// Finds the living main threads that took over the id and start of another: those whose predecessor ended with a record, and
    /// those whose counters went back or further than the interval has room for.
    pub(super) fn find_replaced(&mut self, before: &TaskTable, now: &TaskTable) {
        let ended: HashSet<u32> = self.ended.iter().map(|ended| ended.row.key.pid).collect();
        for index in 0..self.living {
            let Origin::Row(place) = self.origins[index] else { continue };
            let (pid, place) = (now.pid(index), place as usize);
            if now.tgid(index) != pid {
                continue;
            }
            let old = |figure| before.get(place, figure);
            let new = |figure| now.get(index, figure);
            let on_cpu = old(Figure::ON_CPU).zip(new(Figure::ON_CPU));
            let is_too_much = on_cpu.is_some_and(|(old, new)| {
                new.saturating_sub(old) > self.wall_ns[index] + self.wall_ns[index] / 8 + 5 * SLACK.0
            });
            let start = before.key(place).start;
            let has_record = ended.contains(&pid) && {
                let is_of_predecessor = |ended: &&Ended| {
                    ended.row.key.pid == pid && ended.can_have_begun(start, self.suspended())
                };
                self.ended.iter().any(|ended| is_of_predecessor(&ended))
            };
            if self.interval.is_some() && (has_record || is_too_much || !can_precede(old, new)) {
                self.is_taken[place] = false;
                self.origins[index] = self.heir(before, pid, &ended, new);
            }
        }
    }

    /// Where a thread comes from that took over the id of its main thread: from a row of its process that vanished without a record
    /// and whose counters it can have continued, the one with the most CPU time; else it began in the interval.
    fn heir(
        &mut self,
        before: &TaskTable,
        pid: u32,
        with_record: &HashSet<u32>,
        account: impl Fn(Figure) -> Option<u64>,
    ) -> Origin {
        let is_candidate = |row: &usize| {
            before.tgid(*row) == pid
                && before.pid(*row) != pid
                && !self.is_taken[*row]
                && !with_record.contains(&before.pid(*row))
                && before.get(*row, Figure::ON_CPU) <= account(Figure::ON_CPU)
                && can_precede(|figure| before.get(*row, figure), &account)
        };
        let candidates = (0..before.len()).filter(is_candidate);
        match candidates.max_by_key(|row| before.get(*row, Figure::ON_CPU)) {
            Some(row) => {
                self.is_taken[row] = true;
                Origin::Row(row as u32)
            }
            None => Origin::Birth,
        }
    }

    /// Finds each that ended in the older table, in the order in which they ended.
    pub(super) fn find_origins_of_ended(&mut self, before: &TaskTable) {
        let (elapsed, suspended) = (self.elapsed(), self.suspended());
        let with_record: HashSet<u32> = self.ended.iter().map(|ended| ended.row.key.pid).collect();
        // The last record of each id, for incarnations.
        let mut last: std::collections::HashMap<u32, Nanos> = std::collections::HashMap::new();
        for index in 0..self.ended.len() {
            let ended = self.ended[index];
            let (pid, wall) = (ended.row.key.pid, ended.wall);
            let place = place_in(&self.by_pid, pid)
                .filter(|place| ended.can_have_begun(before.key(*place).start, suspended));
            let earlier = last.insert(pid, wall).filter(|earlier| *earlier < wall);
            let is_leader = ended.row.tgid.is_none_or(|tgid| tgid == pid);
            let (origin, lived) = match place {
                Some(place) if !self.is_taken[place] => {
                    self.is_taken[place] = true;
                    (Origin::Row(place as u32), wall)
                }
                // Not a task of the older table, though its id and start are: a thread that took both over.
                Some(_) if is_leader && earlier.is_some() => {
                    let account = |figure| ended.row.figures.get(figure);
                    let origin = self.heir(before, pid, &with_record, account);
                    (origin, wall.saturating_sub(earlier.unwrap_or_default()))
                }
                _ if self.is_in_interval(before, ended.row.key.start) => {
                    let earlier = earlier.filter(|_| is_leader).unwrap_or_default();
                    (Origin::Birth, wall.saturating_sub(earlier))
                }
                _ => (Origin::Unknown, wall),
            };
            self.origins.push(origin);
            self.wall_ns.push(lived.0.min(elapsed.0));
        }
    }

    fn is_in_interval(&self, before: &TaskTable, start: Nanos) -> bool {
        self.interval.is_some() && start + SLACK >= before.clock.boottime
    }

    /// How long the machine has slept since it was booted. Records leave that out of ages.
    fn suspended(&self) -> Nanos {
        self.clock.boottime.saturating_sub(self.clock.monotonic)
    }
}
