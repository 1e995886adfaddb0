//! Which exit record belongs to which task.
//!
//! A task is identified by its id and its start. Two things make that difficult. An exit record does not contain the start, only the
//! age: the start follows from the time of the exit, which lies between two readings of the records. And a thread that calls
//! execve(2) takes over the id *and* the start of its main thread, while its counters continue: the main thread ends with a record,
//! and the thread disappears without one. The tasks that have had one id and start are called incarnations.

use foldhash::{HashMap, HashSet};

use super::{Change, EndedTask, Gone, Origin, SLACK, TaskStore};
use crate::task::exit_record::ExitRecord;
use crate::task::figure::{Figure, Figures};
use crate::task::row::TaskRow;
use crate::unit::Nanos;

/// Counters that are exact in every source and never decrease.
const EXACT: [Figure; 3] = [Figure::VOLUNTARY_SWITCHES, Figure::INVOLUNTARY_SWITCHES, Figure::MINOR_FAULTS];

/// Returns true if `earlier` and `later` can be readings of one task, in this order. Absent figures are ignored.
fn can_precede(earlier: &Figures, later: &Figures) -> bool {
    EXACT.iter().all(|figure| {
        earlier.get(*figure).zip(later.get(*figure)).is_none_or(|(earlier, later)| earlier <= later)
    })
}

/// Rows that left the store, by id. Several tasks may have had one id; the last is found.
type GoneByPid = HashMap<u32, usize>;

impl TaskStore {
    /// Moves the exit records of tasks that are not in the store from `exits` to `ended`. The records that stay in `exits` are of tasks
    /// that are still in the store: zombies, and tasks that ended after their row was read.
    pub(super) fn take_exits(&mut self, exits: &mut Vec<ExitRecord>) {
        exits.retain(|exit| {
            let slot = self.by_pid.get(&exit.row.key.pid).copied();
            let is_there = slot.is_some_and(|slot| self.is_of(slot, exit));
            if !is_there {
                self.ended.push(EndedTask {
                    record: *exit,
                    origin: Origin::Unknown,
                    before: TaskRow::default(),
                    delta: Figures::NONE,
                    wall_ns: 0,
                    impossible_values: 0,
                });
            }
            is_there
        });
    }

    /// Returns true if a record belongs to the living task in a slot.
    fn is_of(&self, slot: u32, exit: &ExitRecord) -> bool {
        let row = &self.slots[slot].row;
        let start = row.key.start;
        if !exit.can_have_begun(start, self.suspended()) {
            return false;
        }
        let record = &exit.row.figures;
        let is_after = exit.can_have_ended_after(start, self.clock.boottime, self.suspended());
        match row.state {
            Some(state) if b"ZX".contains(&state) => true,
            Some(_) => is_after && can_precede(&row.figures, record),
            // taskstats does not contain the state. A zombie has used a little CPU time after its record was made; a thread that took
            // over the id and start has used much more or less.
            None => {
                let on_cpu = row.figures.get(Figure::ON_CPU).zip(record.get(Figure::ON_CPU));
                let is_near = on_cpu.is_none_or(|(row, record)| row.abs_diff(record) <= SLACK.0);
                let is_alone = !self.has_lost_threads(row.key.pid);
                (is_after && can_precede(&row.figures, record))
                    || (is_near && can_precede(record, &row.figures) && is_alone)
            }
        }
    }

    /// Returns true if threads of a process disappeared in this round, the main thread aside.
    fn has_lost_threads(&self, tgid: u32) -> bool {
        self.gone.iter().any(|gone| !gone.is_taken && is_thread_of(gone, tgid))
    }

    /// Finds living threads that took over the id and start of their main thread by execve(2), and corrects the row that their
    /// counters are subtracted from. Signs of it are an exit record with that id and start, counters that decreased, and more CPU time
    /// than fits into the interval.
    pub(super) fn find_replaced(&mut self) {
        if self.interval.is_none() {
            return;
        }
        let ended: HashSet<u32> = self.ended.iter().map(|one| one.record.row.key.pid).collect();
        let with_record: Vec<u32> = ended.iter().filter_map(|pid| self.by_pid.get(pid).copied()).collect();
        for slot in with_record {
            if self.slots[slot].changed_in != self.round {
                self.change_without_activity(slot);
            }
        }
        for index in 0..self.changes.len() {
            if !self.is_current(index) {
                continue;
            }
            let Change { slot, origin, before, .. } = &self.changes[index];
            let row = self.slots[*slot].row;
            let pid = row.key.pid;
            if *origin != Origin::Row || row.tgid.is_some_and(|tgid| tgid != pid) {
                continue;
            }
            let (old, new) = (before.figures, row.figures);
            let wall_ns = self.wall_ns(&row);
            let on_cpu = old.get(Figure::ON_CPU).zip(new.get(Figure::ON_CPU));
            let is_too_much = on_cpu
                .is_some_and(|(old, new)| new.saturating_sub(old) > wall_ns + wall_ns / 8 + 5 * SLACK.0);
            let start = before.key.start;
            let has_record = ended.contains(&pid)
                && self.ended.iter().any(|one| {
                    one.record.row.key.pid == pid && one.record.can_have_begun(start, self.suspended())
                });
            let has_gone_back = !can_precede(&old, &new);
            if has_record || is_too_much || has_gone_back {
                self.gone.push(Gone { row: self.changes[index].before, is_taken: false });
                let heir = self.heir(pid, &ended, &new);
                if heir.is_none() && !has_record && !has_gone_back {
                    // No thread was replaced. The row was read late, so that it contains CPU time from after the end of the
                    // interval.
                    self.gone.pop();
                    continue;
                }
                let change = &mut self.changes[index];
                (change.origin, change.before) =
                    heir.map_or((Origin::Start, TaskRow::default()), |row| (Origin::Row, row));
            }
        }
    }

    /// Finds the previous row of a thread that took over the id `pid` of its main thread by execve(2), and marks it as taken. The
    /// candidates are threads of the process that disappeared without an exit record and whose counters are not above `account`. Of
    /// several candidates, it takes the one with the most CPU time. Without a candidate it returns `None`: the thread was started within
    /// the interval.
    fn heir(&mut self, pid: u32, with_record: &HashSet<u32>, account: &Figures) -> Option<TaskRow> {
        let is_candidate = |gone: &&mut Gone| {
            !gone.is_taken
                && is_thread_of(gone, pid)
                && !with_record.contains(&gone.row.key.pid)
                && gone.row.figures.get(Figure::ON_CPU) <= account.get(Figure::ON_CPU)
                && can_precede(&gone.row.figures, account)
        };
        let candidates = self.gone.iter_mut().filter(is_candidate);
        let gone = candidates.max_by_key(|gone| gone.row.figures.get(Figure::ON_CPU))?;
        gone.is_taken = true;
        Some(gone.row)
    }

    /// Finds the row that each ended task had in the previous round. Handles the records in the order in which the tasks ended.
    pub(super) fn find_origins_of_ended(&mut self) {
        let suspended = self.suspended();
        let elapsed = self.interval.map_or(Nanos(0), |interval| interval.elapsed());
        let with_record: HashSet<u32> = self.ended.iter().map(|one| one.record.row.key.pid).collect();
        let gone: GoneByPid =
            self.gone.iter().enumerate().map(|(index, gone)| (gone.row.key.pid, index)).collect();
        // The age at the last record of each id, for incarnations.
        let mut last: HashMap<u32, Nanos> = HashMap::default();
        for index in 0..self.ended.len() {
            let ended = self.ended[index].record;
            let (pid, wall) = (ended.row.key.pid, ended.row.wall);
            let earlier = last.insert(pid, wall).filter(|earlier| *earlier < wall);
            let is_leader = ended.row.tgid.is_none_or(|tgid| tgid == pid);
            let place = gone
                .get(&pid)
                .copied()
                .filter(|place| ended.can_have_begun(self.gone[*place].row.key.start, suspended));
            // A living task may have taken over the id and start.
            let was_there = place.is_some()
                || self.row(pid).is_some_and(|row| ended.can_have_begun(row.key.start, suspended));
            let (before, lived) = match place {
                Some(place) if !self.gone[place].is_taken => {
                    self.gone[place].is_taken = true;
                    (Ok(self.gone[place].row), wall)
                }
                // The task of the previous round ended earlier. This is a thread that took over its id and start.
                _ if was_there && is_leader && earlier.is_some() => {
                    let heir = self.heir(pid, &with_record, &ended.row.figures);
                    (heir.ok_or(Origin::Start), wall.saturating_sub(earlier.unwrap_or_default()))
                }
                _ if self.is_in_interval(ended.row.key.start) => {
                    let earlier = earlier.filter(|_| is_leader).unwrap_or_default();
                    (Err(Origin::Start), wall.saturating_sub(earlier))
                }
                _ => (Err(Origin::Unknown), wall),
            };
            let one = &mut self.ended[index];
            one.wall_ns = lived.0.min(elapsed.0);
            match before {
                Ok(row) => (one.origin, one.before) = (Origin::Row, row),
                Err(origin) => one.origin = origin,
            }
        }
    }

    /// The time that the machine has been suspended since boot. The ages in exit records do not contain it.
    fn suspended(&self) -> Nanos {
        self.clock.boottime.saturating_sub(self.clock.monotonic)
    }
}

fn is_thread_of(gone: &Gone, tgid: u32) -> bool {
    gone.row.tgid == Some(tgid) && gone.row.key.pid != tgid
}
