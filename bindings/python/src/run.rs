//! A command, and what it took.

use std::ffi::OsString;

use facts::task::figure::FigureSet;
use facts::unit::Nanos;
use probe::spawn::{Command, Ending, Reaped, kill_child, reap};
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use probe::{Roots, clock_now, timespec};
use pyo3::exceptions::{PyChildProcessError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use rustix::thread::nanosleep;

use crate::error::{failed, of_system};
use crate::sampler::MAX_SLEEP;
use crate::tasks::account;

/// Runs a command with the standard streams of this process, and returns how it ended and what it took.
///
/// Times of CPUs, memory and faults are those of the command and of all its descendants that were waited for (wait4(2)). `account` says
/// what the command itself waited for, with all of its threads; None if that may not be read. The command is killed if a signal handler raises
/// meanwhile.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, command: Vec<OsString>) -> PyResult<Bound<'_, PyDict>> {
    if command.is_empty() {
        return Err(PyValueError::new_err("a command has a program, and its arguments"));
    }
    let request = TaskRequest { sources: &TaskSource::FOR_ONE_READING, extra: FigureSet::default() };
    let mut reader = TaskReader::open(&Roots::live(), &request).map_err(failed)?;
    let program = command[0].to_string_lossy().into_owned();
    let started = clock_now().boottime;
    let command = Command { words: command, ..Command::default() };
    let pid = command.start().map_err(|error| of_system(&program, &error))?;
    if let Err(raised) = wait(py, pid) {
        kill_child(pid);
        py.detach(|| reap(pid));
        return Err(raised);
    }
    let wall = clock_now().boottime.saturating_sub(started);
    // It has ended, and is there until it is reaped.
    let ended = reader.read_ended(pid).ok();
    let reaped = reap(pid)
        .ok_or_else(|| PyChildProcessError::new_err(format!("{program}: it was reaped elsewhere")))?;
    let described = describe(py, pid, wall, &reaped)?;
    described.set_item("account", ended.map(|ended| account(py, &ended)).transpose()?)?;
    Ok(described)
}

/// The pause where the kernel gives no descriptor of a process (before 5.3).
const POLL_INTERVAL: Nanos = Nanos(10_000_000);

/// Waits until a child has ended, without the interpreter's lock.
///
/// # Errors
/// What a signal handler raises.
fn wait(py: Python<'_>, pid: u32) -> PyResult<()> {
    let Some(child) = Pid::from_raw(pid.cast_signed()) else { return Ok(()) };
    let descriptor = pidfd_open(child, PidfdFlags::empty()).ok();
    let has_ended =
        || waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG);
    loop {
        py.check_signals()?;
        match has_ended() {
            Ok(None) | Err(Errno::INTR) => {}
            // Also if it was reaped elsewhere, which is found when it is to be reaped here.
            Ok(Some(_)) | Err(_) => return Ok(()),
        }
        py.detach(|| match &descriptor {
            Some(descriptor) => {
                let mut watched = [PollFd::new(descriptor, PollFlags::IN)];
                let _ = poll(&mut watched, Some(&timespec(Nanos::from(MAX_SLEEP))));
            }
            None => {
                let _ = nanosleep(&timespec(POLL_INTERVAL));
            }
        });
    }
}

fn describe<'py>(py: Python<'py>, pid: u32, wall: Nanos, reaped: &Reaped) -> PyResult<Bound<'py, PyDict>> {
    let (usage, described) = (&reaped.usage, PyDict::new(py));
    let (exit_status, signal) = match reaped.ending {
        Ending::Exited(status) => (Some(status), None),
        Ending::Signaled(signal) => (None, Some(signal)),
        Ending::Unknown => (None, None),
    };
    described.set_item("pid", pid)?;
    described.set_item("exit_status", exit_status)?;
    described.set_item("signal", signal)?;
    described.set_item("wall_ns", wall.0)?;
    described.set_item("user_ns", usage.user.0)?;
    described.set_item("system_ns", usage.system.0)?;
    described.set_item("peak_resident_bytes", usage.peak_resident.0)?;
    described.set_item("minor_faults", usage.minor_faults)?;
    described.set_item("major_faults", usage.major_faults)?;
    described.set_item("voluntary_switches", usage.voluntary_switches)?;
    described.set_item("involuntary_switches", usage.involuntary_switches)?;
    Ok(described)
}
