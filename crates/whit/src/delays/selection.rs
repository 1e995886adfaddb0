//! From a selection on the command line to tasks, and to rows.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use facts::cgroup::CgroupUsage;
use facts::name::Name;
use facts::sample::Absence;
use facts::task::{Accounting, TaskAccount, TaskRow, TaskSum};
use facts::unit::Nanos;
use probe::tasks::TaskReader;
use sampling::containers::{MetContainers, find_cgroup};

use super::{CgroupFacts, Kind, Row, States};
use crate::delays::arguments::Selection;
use command::failure::Failure;
use command::past::EndedProcess;

/// The threads that one row is about, each read by itself.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    /// Identifies it from reading to reading: the pid or tid; 0 for the cgroup.
    pub(crate) id: u32,
    /// The properties of a cgroup.
    facts: Option<CgroupFacts>,
    /// As they were read; the leader first.
    pub(crate) members: Vec<TaskRow>,
    /// The CPU time of a process that was asked for, with that of its ended threads.
    pub(crate) process_cpu: Option<Nanos>,
}

/// A task that was given by its id and could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// "process" or "thread".
    what: &'static str,
    id: u32,
    absence: Absence,
}

impl Missing {
    pub(crate) fn failure(self) -> Failure {
        Failure::of_task(self.what, self.id, self.absence)
    }
}

/// Reads the selected tasks as rows, the threads of each summed. Tasks that were given by their ids and could not be read are added
/// to `missing`; it fails if all of them are. In other selections, skips tasks that end during the reading.
pub(crate) fn read(
    reader: &mut TaskReader,
    selection: &Selection,
    missing: &mut Vec<Missing>,
) -> Result<Vec<Row>, Failure> {
    match selection {
        // All at once is worth a way of its own, see there.
        Selection::AllProcesses => read_all_processes(reader),
        Selection::Name(name) => {
            let mut rows = read_all_processes(reader)?;
            rows.retain(|row| row.task.comm.is_named(name));
            if rows.is_empty() { Err(Failure::no_process_named(name)) } else { Ok(rows) }
        }
        Selection::Ids { processes, threads } => {
            let mut rows = Vec::with_capacity(processes.len() + threads.len());
            for pid in processes {
                match reader.read_process(*pid) {
                    Ok(process) => {
                        let ended = process.ended.map(Box::new);
                        rows.push(Row { ended, ..Row::new(Kind::Process, process.living) });
                    }
                    Err(absence) => missing.push(Missing { what: "process", id: *pid, absence }),
                }
            }
            let threads = read_threads(reader, threads, missing);
            rows.extend(threads.iter().filter_map(Group::since_their_start));
            unless_all_are_missing(rows, missing)
        }
        selection => {
            let groups = read_groups(reader, selection, missing)?;
            Ok(groups.iter().filter_map(Group::since_their_start).collect())
        }
    }
}

/// Reads what is selected thread by thread, so that two readings can be subtracted thread by thread.
pub(crate) fn read_groups(
    reader: &mut TaskReader,
    selection: &Selection,
    missing: &mut Vec<Missing>,
) -> Result<Vec<Group>, Failure> {
    match selection {
        Selection::Ids { processes, threads } => {
            let mut groups = read_processes(reader, processes, missing);
            read_process_cpu(reader, &mut groups);
            groups.extend(read_threads(reader, threads, missing));
            unless_all_are_missing(groups, missing)
        }
        Selection::Name(name) => {
            let pids = list(reader)?;
            let mut groups = read_members(reader, &pids);
            groups.retain(|group| group.members.first().is_some_and(|leader| leader.comm.is_named(name)));
            read_process_cpu(reader, &mut groups);
            if groups.is_empty() { Err(Failure::no_process_named(name)) } else { Ok(groups) }
        }
        Selection::AllProcesses => {
            let pids = list(reader)?;
            Ok(read_members(reader, &pids))
        }
        Selection::EachThread { of } => {
            let groups = match of {
                None => {
                    let pids = list(reader)?;
                    read_members(reader, &pids)
                }
                Some(pids) => {
                    let groups = read_processes(reader, pids, missing);
                    unless_all_are_missing(groups, missing)?
                }
            };
            let threads = groups.into_iter().flat_map(|group| group.members);
            Ok(threads.map(|row| Group::of_thread(&row)).collect())
        }
        Selection::Cgroup(path) => Ok(vec![read_cgroup(reader, path)?]),
        Selection::Command(_) | Selection::Exits(_) | Selection::Nothing => Ok(Vec::new()),
    }
}

/// The groups of tasks that were recorded.
///
/// # Errors
/// If what was asked for was not there, or is not recorded.
pub(crate) fn of_recorded<'r>(
    rows: impl Iterator<Item = &'r TaskRow>,
    selection: &Selection,
) -> Result<Vec<Group>, Failure> {
    let mut by_process: BTreeMap<u32, Vec<TaskRow>> = BTreeMap::new();
    for row in rows {
        let members = by_process.entry(row.process()).or_default();
        // The leader first.
        let place = if row.key.pid == row.process() { 0 } else { members.len() };
        members.insert(place, *row);
    }
    let group = |(id, members)| Group { kind: Kind::Process, id, facts: None, members, process_cpu: None };
    let mut take = |pid: &u32| {
        let missing = Missing { what: "process", id: *pid, absence: Absence::Gone };
        by_process.remove(pid).map(|members| group((*pid, members))).ok_or_else(|| missing.failure())
    };
    match selection {
        Selection::Ids { processes, threads } => {
            let mut groups = processes.iter().map(&mut take).collect::<Result<Vec<_>, _>>()?;
            for tid in threads {
                let of_groups = groups.iter().flat_map(|group| &group.members);
                let found = by_process.values().flatten().chain(of_groups).find(|row| row.key.pid == *tid);
                let missing = Missing { what: "thread", id: *tid, absence: Absence::Gone };
                groups.push(Group::of_thread(found.ok_or_else(|| missing.failure())?));
            }
            Ok(groups)
        }
        Selection::Name(name) => {
            let mut groups: Vec<Group> = by_process.into_iter().map(group).collect();
            groups.retain(|group| group.members.first().is_some_and(|leader| leader.comm.is_named(name)));
            if groups.is_empty() { Err(Failure::no_process_named(name)) } else { Ok(groups) }
        }
        Selection::AllProcesses => Ok(by_process.into_iter().map(group).collect()),
        Selection::EachThread { of } => {
            let groups = match of {
                Some(pids) => pids.iter().map(&mut take).collect::<Result<Vec<_>, _>>()?,
                None => by_process.into_iter().map(group).collect(),
            };
            Ok(groups.iter().flat_map(|group| &group.members).map(Group::of_thread).collect())
        }
        Selection::Cgroup(_) | Selection::Command(_) | Selection::Exits(_) | Selection::Nothing => {
            Err(Failure::usage("--at and --since are about -p, -t, --comm or -a; whit why is about cgroups"))
        }
    }
}

/// The groups of tasks that were recorded, where those that were asked for may have ended.
///
/// # Errors
/// If what was asked for was neither there nor has ended, or is not recorded.
pub(crate) fn groups_beside<'r>(
    rows: impl Iterator<Item = &'r TaskRow>,
    selection: &Selection,
    ended: &[EndedProcess],
) -> Result<Vec<Group>, Failure> {
    let rows: Vec<&TaskRow> = rows.collect();
    let has_ended = |pid: &u32| ended.iter().any(|process| process.threads[0].key.pid == *pid);
    let is_there = |pid: &u32| rows.iter().any(|row| row.process() == *pid);
    let left = |pids: &[u32]| pids.iter().copied().filter(|pid| is_there(pid) || !has_ended(pid)).collect();
    let left = match selection {
        Selection::Ids { processes, threads } => {
            &Selection::Ids { processes: left(processes), threads: threads.clone() }
        }
        Selection::EachThread { of: Some(pids) } => &Selection::EachThread { of: Some(left(pids)) },
        selection => selection,
    };
    match (left, of_recorded(rows.into_iter(), left)) {
        (Selection::Name(_), Err(_)) if !ended.is_empty() => Ok(Vec::new()),
        (_, groups) => groups,
    }
}

/// A process that ended, or each of its threads.
pub(crate) fn of_ended(process: &EndedProcess, selection: &Selection) -> Vec<Group> {
    let group = |members: Vec<TaskRow>| Group {
        kind: Kind::Ended(process.exit),
        id: members[0].key.pid,
        facts: None,
        members,
        process_cpu: None,
    };
    match selection {
        Selection::EachThread { .. } => process.threads.iter().map(|row| group(vec![*row])).collect(),
        _ => vec![group(process.threads.clone())],
    }
}

impl Selection {
    /// Returns true if a process is selected, by its main thread.
    pub(crate) fn takes_process(&self, row: &TaskRow) -> bool {
        match self {
            Self::Ids { processes, .. } => processes.contains(&row.key.pid),
            Self::Name(name) => row.comm.is_named(name),
            Self::AllProcesses | Self::EachThread { of: None } => true,
            Self::EachThread { of: Some(pids) } => pids.contains(&row.key.pid),
            Self::Cgroup(_) | Self::Command(_) | Self::Exits(_) | Self::Nothing => false,
        }
    }
}

impl Group {
    /// Returns the own counts of a cgroup.
    pub(crate) fn usage(&self) -> Option<CgroupUsage> {
        self.facts.map(|facts| facts.usage)
    }

    fn of_thread(row: &TaskRow) -> Self {
        Self { kind: Kind::Thread, id: row.key.pid, facts: None, members: vec![*row], process_cpu: None }
    }

    /// The row of what the members did since they began.
    pub(crate) fn since_their_start(&self) -> Option<Row> {
        self.row(|row, is_counted| Some((row.wall, row.sum_since_start(is_counted))))
    }

    /// Sums the members into a row. `sum_of` gets a member and whether its delays are counted, and returns its wall time and figures.
    /// Returns `None` if `sum_of` returns `None` for every member.
    pub(crate) fn row(&self, sum_of: impl Fn(&TaskRow, bool) -> Option<(Nanos, TaskSum)>) -> Option<Row> {
        let is_cgroup = self.kind == Kind::Cgroup;
        let leader = self.members.first().filter(|_| !is_cgroup);
        let mut account: Option<TaskAccount> = None;
        for row in &self.members {
            // Tasks of a cgroup are of all ages: what one of them shows says nothing of the others.
            let is_counted =
                [Some(row), leader].into_iter().flatten().any(|row| row.accounting == Accounting::On);
            let Some((wall, sum)) = sum_of(row, is_counted) else { continue };
            match &mut account {
                None => account = Some(TaskAccount::new(row, wall, sum)),
                Some(account) => {
                    account.sum.add(&sum);
                    account.wall = if is_cgroup { account.wall.max(wall) } else { account.wall };
                }
            }
        }
        let mut account = account?;
        if is_cgroup && account.sum.uncounted > 0 {
            account.accounting = Accounting::Unsure;
        }
        Some(Row { cgroup: self.facts.map(Box::new), ..Row::new(self.kind, account) })
    }
}

#[cfg(test)]
impl Group {
    pub(crate) fn for_test(kind: Kind, members: Vec<TaskRow>) -> Self {
        Self { kind, id: 1, facts: None, members, process_cpu: None }
    }
}

fn list(reader: &mut TaskReader) -> Result<Vec<u32>, Failure> {
    let mut pids = Vec::new();
    reader.processes(&mut pids).map_err(|absence| Failure::unreadable("/proc", absence))?;
    Ok(pids)
}

fn read_all_processes(reader: &mut TaskReader) -> Result<Vec<Row>, Failure> {
    let row = |task| Row::new(Kind::Process, task);
    reader.read_all_processes(row).map_err(|absence| Failure::unreadable("/proc", absence))
}

fn read_threads(reader: &mut TaskReader, tids: &[u32], missing: &mut Vec<Missing>) -> Vec<Group> {
    let mut groups = Vec::with_capacity(tids.len());
    reader.read_threads(tids, |index, row| match row {
        Ok(row) => groups.push(Group::of_thread(&row)),
        Err(absence) => missing.push(Missing { what: "thread", id: tids[index], absence }),
    });
    groups
}

/// Returns what was read. If that is nothing, returns the failure of the last of the missing; the others remain to be reported.
fn unless_all_are_missing<T>(read: Vec<T>, missing: &[Missing]) -> Result<Vec<T>, Failure> {
    match missing.last().copied().filter(|_| read.is_empty()) {
        Some(last) => Err(last.failure()),
        None => Ok(read),
    }
}

/// The threads of processes that were given by their ids.
fn read_processes(reader: &mut TaskReader, pids: &[u32], missing: &mut Vec<Missing>) -> Vec<Group> {
    let groups = read_members(reader, pids);
    let is_missing = |pid: &&u32| !groups.iter().any(|group| group.id == **pid);
    let of_pid = |pid: &u32| Missing { what: "process", id: *pid, absence: Absence::Gone };
    missing.extend(pids.iter().filter(is_missing).map(of_pid));
    groups
}

/// The threads of processes; a process or thread that ended meanwhile is left out.
fn read_members(reader: &mut TaskReader, pids: &[u32]) -> Vec<Group> {
    let (mut tids, mut owners, mut of_process) = (Vec::new(), Vec::new(), Vec::new());
    for pid in pids {
        if reader.threads(*pid, &mut of_process).is_ok() {
            tids.extend_from_slice(&of_process);
            owners.resize(tids.len(), *pid);
        }
    }
    let mut groups: Vec<Group> = Vec::with_capacity(pids.len());
    reader.read_threads(&tids, |index, row| {
        let Ok(row) = row else { return };
        match groups.last_mut().filter(|group| group.id == owners[index]) {
            Some(group) => group.members.push(row),
            None => groups.push(Group {
                kind: Kind::Process,
                id: owners[index],
                facts: None,
                members: vec![row],
                process_cpu: None,
            }),
        }
    });
    groups
}

/// Reads the CPU time of each process. Not used for all processes of a machine, where it would double the cost.
fn read_process_cpu(reader: &mut TaskReader, groups: &mut [Group]) {
    for group in groups {
        group.process_cpu = reader.process_cpu(group.id);
    }
}

fn read_cgroup(reader: &mut TaskReader, path: &Path) -> Result<Group, Failure> {
    let fail = |error| Failure::of_cgroup(path.display(), error);
    let cgroup = find_cgroup(path).map_err(fail)?;
    let mut tids = Vec::new();
    let directories = cgroup.tasks(&mut tids).map_err(fail)?;
    let mut members = Vec::with_capacity(tids.len());
    reader.read_threads(&tids, |_, row| members.extend(row));
    if members.is_empty() {
        return Err(Failure::of_cgroup(path.display(), "no task is in it"));
    }
    let container = MetContainers::live().cgroup_name(&cgroup.path).container.map(|one| one.to_string());
    let directory = || cgroup.directory.file_name().map_or(&b"/"[..], |name| name.as_bytes());
    let name = Name::new(container.as_ref().map_or_else(directory, |name| name.as_bytes()));
    let facts = CgroupFacts { name, states: states(reader, &directories, &tids), usage: cgroup.usage() };
    Ok(Group { kind: Kind::Cgroup, id: 0, facts: Some(facts), members, process_cpu: None })
}

/// Counted from each task's state. CGROUPSTATS of v1 does not count tasks that sleep freezably since Linux 6.1 (it
/// compares the state as a whole), so only the tasks in I/O wait are taken from it.
fn states(reader: &mut TaskReader, directories: &[PathBuf], tids: &[u32]) -> States {
    let mut states = States::default();
    for tid in tids {
        match reader.state(*tid) {
            Ok(b'R') => states.running += 1,
            Ok(b'D') => states.uninterruptible += 1,
            Ok(b'T' | b't') => states.stopped += 1,
            Ok(_) => states.sleeping += 1,
            Err(_) => {}
        }
    }
    states.io_wait = directories.iter().map(|directory| reader.cgroup_io_wait(directory)).sum();
    states
}
