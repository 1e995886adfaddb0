//! All exits of the machine, until ended or beside a command.

use std::ffi::OsString;
use std::ops::ControlFlow;

use facts::task::TaskKey;
use facts::task::exit_record::ExitRecord;
use probe::clock_now;
use probe::control::{self, TaskSignal};
use probe::exits::ExitRecords;
use probe::signals::{Signal, Signals};
use probe::spawn::{Command, reap_any};
use probe::wait::{Waiter, Watch};
use rustix::fd::{AsFd, BorrowedFd};

use super::supervise::{Outcome, SOURCE, soon_if, start, wait};
use command::failure::Failure;

/// The token of the signals that end it.
const SIGNALS: u64 = SOURCE + 1;

/// How listening ended.
#[derive(Debug)]
pub(crate) struct Listened {
    pub(crate) lost_records: u64,
    /// The exit status of the command, where there was one.
    pub(crate) code: Option<u8>,
    /// An error if not all could be written.
    pub(crate) written: Result<(), Failure>,
}

/// Calls `each` with each record, and with a descriptor that becomes readable when whit is to end, until Ctrl-C or TERM or until `each`
/// breaks. With a command: until that ends; then Ctrl-C is left to the command (the terminal sends it to both) and TERM is passed on. A reader that closed the pipe
/// does not end the command.
pub(crate) fn listen(
    records: ExitRecords,
    command: Option<&[OsString]>,
    mut each: impl FnMut(ExitRecord, BorrowedFd<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<Listened, Failure> {
    let signals = Signals::open(&[Signal::Interrupt, Signal::Terminate]).map_err(Failure::of_system)?;
    let mut waiter = Waiter::open(&[Signal::Child]).map_err(Failure::of_system)?;
    waiter.watch(SIGNALS, Watch::Readable(signals.as_fd())).map_err(Failure::of_system)?;
    let command = command.map(|words| Command { words: words.to_vec(), ..Command::default() });
    let child = command.as_ref().map(start).transpose()?;
    let child = child.map(|pid| TaskKey { pid, start: clock_now().boottime });
    let (mut written, mut ended) = (Ok(()), None);
    let (mut is_over, mut is_own_told) = (false, false);
    let (mut records, mut lost_records) = (Some(records), 0);
    let mut ready = Vec::new();
    loop {
        while let Some(reaped) = reap_any() {
            if child.is_some_and(|child| child.pid == reaped.pid) {
                ended = Some(Outcome::Ended(reaped.ending).code());
            }
        }
        // After the command's end its record lies in the queue, so the queue is read once more. What ended later lies behind it, and beside a
        // storm that is far more.
        let is_complete = |is_own_told: bool| ended.is_some() && is_own_told;
        if let Some(open) = records.as_mut().filter(|_| !is_complete(is_own_told)) {
            let received = open.receive(|record| {
                if written.is_ok() && !is_over && !is_complete(is_own_told) {
                    is_own_told |= child.is_some_and(|child| child.pid == record.row.key.pid);
                    written = each(record, signals.as_fd()).map(|flow| is_over = flow.is_break());
                }
            });
            lost_records = open.lost();
            // The command goes on without a listener.
            if let Err(absence) = received {
                records = None;
                written = written.and(Err(Failure::new(format!("exit records: {absence}"))));
            }
        }
        if ended.is_some() || is_over || (child.is_none() && written.is_err()) {
            return Ok(Listened { lost_records, code: ended, written });
        }
        let is_watched = records
            .as_ref()
            .is_none_or(|records| waiter.watch(SOURCE, Watch::Readable(records.as_fd())).is_ok());
        wait(&mut waiter, soon_if(!is_watched, None), &mut ready);
        while waiter.next_signal().is_some() {}
        while let Some(signal) = signals.next() {
            match (signal, child) {
                (Signal::Terminate, Some(child)) => {
                    // It may have ended already.
                    let _ = control::send(child, TaskSignal::Terminate);
                }
                (Signal::Interrupt | Signal::Terminate, None) => is_over = true,
                _ => {}
            }
        }
    }
}
