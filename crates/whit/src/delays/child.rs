//! A command that is run to see what it waits for, and the records of what ends meanwhile.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Child, ExitCode};

use facts::linux::taskstats::{ExitInfo, TaskStats};
use facts::task::Task;
use probe::exits::ExitRecords;
use probe::signals::{Signal, Signals, keep_children};
use probe::tasks::TaskReader;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::{Kind, Row};
use crate::failure::Failure;

/// The one place where whit starts a program: the user's own.
///
/// Starts a command without a shell. It has whit's own standard streams.
///
/// # Errors
/// 127 where it is not found, 126 where it cannot be executed, as shells say.
#[allow(clippy::disallowed_types)]
pub(crate) fn start(command: &[OsString]) -> Result<Child, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::usage("which command?"));
    };
    keep_children();
    process::Command::new(program).args(arguments).spawn().map_err(|error| {
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        Failure::with_code(format!("{}: {error}", program.display()), code)
    })
}

/// Reaps a child that ended: how it did, and the status that a shell would give; 1 where someone else reaped it.
pub(crate) fn reap(child: &mut Child) -> (Option<ExitInfo>, ExitCode) {
    let Ok(status) = child.wait() else { return (None, ExitCode::FAILURE) };
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let exit = ExitInfo { code: status.into_raw().cast_unsigned(), flags: 0 };
    (Some(exit), ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// What is waited for beside the child's own end.
pub(crate) const SIGNALS: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::Child];

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    ChildEnded,
    Interrupted,
}

/// Waits until the child ended (it is left to be reaped) or, without a child, until Ctrl-C or TERM. What ends
/// meanwhile goes to `each`, as far as exit records are open. With a child, Ctrl-C is the child's affair (the terminal
/// sends it to both) and TERM is passed on.
pub(crate) fn wait(
    signals: &Signals,
    child: Option<&Child>,
    records: &mut Option<ExitRecords>,
    mut each: impl FnMut(TaskStats) -> Result<(), Failure>,
) -> Result<Ending, Failure> {
    let child = child.and_then(|child| Pid::from_raw(child.id().cast_signed()));
    loop {
        let ending = ending(signals, child);
        // After the child's end its record lies in the queue, so the queue is emptied once more.
        if let Some(records) = records {
            let mut failure = Ok(());
            let received = records.receive(|stats| {
                if failure.is_ok() {
                    failure = each(stats);
                }
            });
            failure?;
            received.map_err(|absence| Failure::new(format!("exit records: {absence}")))?;
        }
        if let Some(ending) = ending {
            return Ok(ending);
        }
        let mut descriptors = vec![PollFd::new(signals, PollFlags::IN)];
        descriptors.extend(records.as_ref().map(|records| PollFd::new(records, PollFlags::IN)));
        match poll(&mut descriptors, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Failure::internal(error)),
        }
    }
}

fn ending(signals: &Signals, child: Option<Pid>) -> Option<Ending> {
    let mut ending = None;
    while let Some(signal) = signals.next() {
        match (signal, child) {
            (Signal::Child, _) => {}
            (Signal::Interrupt, Some(_)) => {}
            (Signal::Terminate, Some(child)) => {
                // It may have ended already; then there is nobody to tell.
                let _ = rustix::process::kill_process(child, rustix::process::Signal::TERM);
            }
            (Signal::Interrupt | Signal::Terminate, None) => ending = Some(Ending::Interrupted),
            // Not asked for.
            (Signal::Hangup | Signal::Redraw | Signal::Stop | Signal::Continue, _) => {}
        }
    }
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // Without a child to wait for (someone else reaped it) it has ended, too.
    let has_ended = |child| matches!(waitid(WaitId::Pid(child), options), Ok(Some(_)) | Err(Errno::CHILD));
    let ended = child.is_some_and(has_ended);
    if ended { Some(Ending::ChildEnded) } else { ending }
}

/// The account of one process, from the exit records of its threads.
#[derive(Debug)]
pub(crate) struct Account {
    pid: u32,
    leader: Option<(Task, ExitInfo)>,
    /// Its other threads so far, summed.
    others: Option<Task>,
}

impl Account {
    pub(crate) fn of(child: &Child) -> Self {
        Self { pid: child.id(), leader: None, others: None }
    }

    /// Adds a record if it is of this process.
    pub(crate) fn add(&mut self, stats: &TaskStats) {
        if stats.task.key.pid == self.pid {
            self.leader = Some((stats.task, stats.exit));
        } else if stats.task.tgid == Some(self.pid) {
            // Before version 12 the record does not name the process, and its threads cannot be told from others.
            match &mut self.others {
                Some(others) => others.add(&stats.task),
                None => self.others = Some(stats.task),
            }
        }
    }

    /// The row, from the records or, where the leader's was not to be had, from the child that ended and was not reaped.
    pub(crate) fn finish(self, reader: &mut TaskReader) -> Result<Row, Failure> {
        if let Some((mut task, exit)) = self.leader {
            self.others.iter().for_each(|others| task.add(others));
            return Ok(Row::new(Kind::Ended(exit), task));
        }
        let ended = reader.read_ended(self.pid);
        let task = ended.map_err(|absence| Failure::new(format!("the command's account: {absence}")))?;
        Ok(Row::new(Kind::Ended(ExitInfo::default()), task))
    }
}
