//! From a selection on the command line to rows.

use std::path::{Path, PathBuf};

use facts::sample::Absence;
use facts::task::{Accounting, Task};
use probe::cgroup_tasks::Cgroup;
use probe::tasks::TaskReader;

use super::{Kind, Row, States};
use crate::args::Selection;
use crate::failure::Failure;

/// Reads what is selected. A task that was named and is not there is an error; of many, those that are there count.
pub(crate) fn read(reader: &mut TaskReader, selection: &Selection) -> Result<Vec<Row>, Failure> {
    match selection {
        Selection::Ids { processes, threads } => read_ids(reader, processes, threads),
        Selection::Name(name) => {
            let mut rows = read_all_processes(reader)?;
            rows.retain(|row| row.task.comm.as_str() == name.get(..15).unwrap_or(name));
            if rows.is_empty() {
                return Err(Failure::new(format!("no process is named \"{name}\"")));
            }
            Ok(rows)
        }
        Selection::AllProcesses => read_all_processes(reader),
        Selection::AllThreads => read_all_threads(reader),
        Selection::Cgroup(path) => Ok(vec![read_cgroup(reader, path)?]),
        Selection::Command(_) | Selection::Exits(_) | Selection::Nothing => Ok(Vec::new()),
    }
}

fn read_ids(reader: &mut TaskReader, processes: &[u32], threads: &[u32]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::with_capacity(processes.len() + threads.len());
    for pid in processes {
        let process = reader.read_process(*pid).map_err(|absence| named("process", *pid, absence))?;
        rows.push(Row { kind: Kind::Process, task: process.living, ended: process.ended.map(Box::new) });
    }
    let mut failure = None;
    reader.read_threads(threads, |index, task| match task {
        Ok(task) => rows.push(Row { kind: Kind::Thread, task: *task, ended: None }),
        Err(absence) => failure = Some(named("thread", threads[index], absence)),
    });
    failure.map_or(Ok(rows), Err)
}

fn named(what: &str, id: u32, absence: Absence) -> Failure {
    Failure::new(match absence {
        Absence::Gone => format!("{what} {id}: there is none (it may have ended)"),
        absence => format!("{what} {id}: {absence}"),
    })
}

fn list(reader: &mut TaskReader) -> Result<Vec<u32>, Failure> {
    let mut pids = Vec::new();
    reader.processes(&mut pids).map_err(|absence| Failure::unreadable("/proc", absence))?;
    Ok(pids)
}

fn read_all_processes(reader: &mut TaskReader) -> Result<Vec<Row>, Failure> {
    let row = |task| Row { kind: Kind::Process, task, ended: None };
    reader.read_all_processes(row).map_err(|absence| Failure::unreadable("/proc", absence))
}

fn read_all_threads(reader: &mut TaskReader) -> Result<Vec<Row>, Failure> {
    let (mut tids, mut of_process) = (Vec::new(), Vec::new());
    for pid in list(reader)? {
        // A process that ended meanwhile has no threads to add.
        if reader.threads(pid, &mut of_process).is_ok() {
            tids.extend_from_slice(&of_process);
        }
    }
    let mut rows = Vec::with_capacity(tids.len());
    reader.read_threads(&tids, |_, task| {
        rows.extend(task.ok().map(|task| Row { kind: Kind::Thread, task: *task, ended: None }));
    });
    Ok(rows)
}

fn read_cgroup(reader: &mut TaskReader, path: &Path) -> Result<Row, Failure> {
    let fail = |error| Failure::new(format!("cgroup {}: {error}", path.display()));
    let cgroup = Cgroup::find(path).map_err(fail)?;
    let mut tids = Vec::new();
    let directories = cgroup.tasks(&mut tids).map_err(fail)?;
    let mut sum: Option<Task> = None;
    reader.read_threads(&tids, |_, task| match (&mut sum, task) {
        (Some(sum), Ok(task)) => {
            sum.add(task);
            // Tasks of all ages: one that may not be counted makes the sum uncertain.
            if task.accounting != Accounting::On {
                sum.accounting = Accounting::Unsure;
            }
        }
        (None, Ok(task)) => sum = Some(*task),
        (_, Err(_)) => {}
    });
    let mut task = sum.ok_or_else(|| Failure::new(format!("cgroup {}: no task is in it", path.display())))?;
    task.comm = facts::name::Name::new(
        cgroup.directory.file_name().map_or(b"/", std::os::unix::ffi::OsStrExt::as_bytes),
    );
    let states = states(reader, &directories, &tids);
    Ok(Row { kind: Kind::Cgroup(states), task, ended: None })
}

/// Counted from each task's state. CGROUPSTATS, which v1 answers, has lost whoever sleeps freezably since Linux 6.1 (it
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
