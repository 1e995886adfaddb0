//! Starts a command and waits until it ends: receives exit records and fork events of its tree, forwards signals, and enforces the
//! timeout.

use std::io;

use facts::linux::taskstats::ExitInfo;
use facts::sample::Absence;
use facts::task::TaskAccount;
use facts::task::figure::{Figure, FigureSet};
use facts::unit::{Bytes, Nanos};
use probe::control::TaskSignal;
use probe::descendants::adopt_orphans;
use probe::exits::ExitRecords;
use probe::process_events::ProcessEvents;
use probe::signals::{Signal, keep_children};
use probe::spawn::{Command, Ending, Usage, own_usage, reap_any};
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use probe::wait::{Ready, Waiter, Watch};
use probe::waits::WaitReader;
use probe::{Roots, clock_now, sleep_until};
use rustix::fd::{AsFd, BorrowedFd};

use super::account::{Account, Tree};
use super::execs::Execs;
use super::family::{Family, Survivor};
use super::options::RunOptions;
use super::signals::{ends, forwarded, taken};
use command::failure::Failure;
use sampling::asleep::{Asleep, AsleepWatch};
use text::printable::Shown as _;

/// The token of records and forks.
pub(super) const SOURCE: u64 = 0;
/// How long records and forks are collected.
const MOMENT: Nanos = Nanos(20_000_000);
/// After how long the name of a program that has just started is read.
const NAMED_WITHIN: Nanos = MOMENT;

/// Pauses between rounds of killing: the first, and the longest that it grows to by doubling.
const FIRST_PAUSE: Nanos = Nanos(20_000_000);
const MAX_PAUSE: Nanos = Nanos(1_000_000_000);
/// Pauses between rounds of SIGKILL before whit gives up, about five seconds in all. Processes that hang in the kernel or belong to
/// another user are then left running and reported.
const MAX_KILLS: u32 = 10;
/// The interval of checks whether a tree that was asked to end has ended.
const LOOK_AGAIN: Nanos = Nanos(250_000_000);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ended(Ending),
    /// Its time was over, and its tree was ended.
    TimedOut,
}

impl Outcome {
    /// The exit status, as shells and timeout(1) define it: 128+n after signal n, 124 after a timeout.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Ended(Ending::Exited(code)) => u8::try_from(code & 0xff).unwrap_or(1),
            Self::Ended(Ending::Signaled(signal)) => u8::try_from(128 + signal).unwrap_or(1),
            Self::Ended(Ending::Unknown) => 1,
            Self::TimedOut => 124,
        }
    }
}

/// The results of a command that ended.
#[derive(Debug)]
pub(crate) struct Supervised {
    pub(crate) outcome: Outcome,
    pub(crate) pid: u32,
    pub(crate) wall: Nanos,
    /// From wait4(2): exact, for all descendants that were waited for.
    pub(crate) usage: Usage,
    /// whit's own, when it started the command.
    own_peak_resident: Bytes,
    /// From exit records, where they are permitted.
    pub(crate) tree: Tree,
    /// For what its processes slept, as far as that was seen.
    pub(crate) asleep: Asleep<String>,
    /// Why there are none.
    pub(crate) records_absence: Option<Absence>,
    /// Why fork events are unavailable, without which descendants are not known.
    pub(crate) events_absence: Option<Absence>,
    /// Times that forks were lost.
    pub(crate) lost_forks: u64,
    /// The command's own account, read after it ended and before it was reaped. Only if there are no exit records.
    pub(crate) own_from_proc: Option<TaskAccount>,
    pub(crate) lost_records: u64,
    /// Descendants that were still there.
    pub(crate) survivors: Vec<Survivor>,
    /// Adopted descendants whose parents had ended.
    pub(crate) adopted: u64,
    /// Ctrl-C or the like came to whit.
    pub(crate) stopped_by: Option<Signal>,
}

impl Supervised {
    /// The highest resident memory of any one process of the tree; `None` if all that is known is an upper bound: wait4(2)'s value is
    /// never below whit's own memory, which the child has until it executes the command.
    pub(crate) fn peak_resident(&self) -> Option<Bytes> {
        match self.tree.whole.figure(Figure::PEAK_RESIDENT_BYTES) {
            0 => Some(self.usage.peak_resident).filter(|peak| *peak > self.own_peak_resident),
            reported => Some(Bytes(reported)),
        }
    }

    /// CPU time: that of wait4(2), or that of the records if it is more. Children that the kernel reaped by itself
    /// (SIGCHLD ignored) are in the records alone.
    pub(crate) fn cpu(&self) -> Nanos {
        let whole = &self.tree.whole;
        self.usage.cpu().max(whole.cpu + whole.unrecorded)
    }

    /// How the command ended, as an exit record has it.
    pub(crate) fn exit_info(&self) -> ExitInfo {
        let code = match self.outcome {
            Outcome::Ended(Ending::Exited(code)) => (code.cast_unsigned() & 0xff) << 8,
            Outcome::Ended(Ending::Signaled(signal)) => signal.cast_unsigned() & 0x7f,
            Outcome::Ended(Ending::Unknown) | Outcome::TimedOut => 0,
        };
        ExitInfo { code, flags: 0 }
    }
}

/// Starts the command. Its standard streams are whit's own.
///
/// # Errors
/// With exit status 127 if the program is not found, and 126 if it cannot be executed, as in shells.
pub(crate) fn start(command: &Command<'_>) -> Result<u32, Failure> {
    keep_children();
    command.start().map_err(|error| {
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        let program = command.words.first().map(|word| word.shown().to_string()).unwrap_or_default();
        Failure::with_code(format!("{program}: {error}"), code)
    })
}

/// Runs the command once.
pub(crate) fn supervise(options: &RunOptions, kept: Option<BorrowedFd<'_>>) -> Result<Supervised, Failure> {
    // Without it orphans are not found; everything else works.
    let _ = adopt_orphans();
    let mut family = Family::new(options.timeout.is_some());
    let sources: &[TaskSource] = match options.is_procfs_only {
        true => &TaskSource::UNPRIVILEGED,
        false => &TaskSource::FOR_ONE_READING,
    };
    let request = TaskRequest { sources, extra: FigureSet::default() };
    let mut reader = TaskReader::open(&Roots::live(), &request)?;
    let records = match options.is_procfs_only {
        true => Err(Absence::NotWanted),
        false => ExitRecords::open(reader.accounting_on()),
    };
    let mut records_absence = records.as_ref().err().copied();
    let command = Command {
        words: options.command.clone(),
        environment: options.environment.clone(),
        directory: options.directory.clone(),
        limits: options.limits.clone(),
        kept,
        cgroup: family.cgroup_processes(),
        ..Command::default()
    };
    // Before the command, so that nothing that it does is missed; the child gets no blocked signals.
    let events = ProcessEvents::open();
    let events_absence = events.as_ref().err().copied();
    let signals: Vec<Signal> = taken().into_iter().chain([Signal::Child]).collect();
    let waiter = Waiter::open(&signals).map_err(Failure::of_system)?;
    let started = clock_now().boottime;
    let pid = start(&command)?;
    let own_peak_resident = own_usage().peak_resident;
    drop(command);
    family.child = Some(pid);
    let mut watch = Supervision {
        pid,
        waiter,
        ready: Vec::new(),
        family,
        records: records.ok(),
        records_failure: None,
        events: events.ok(),
        account: Account::of(pid),
        execs: Execs::default(),
        usage: Usage::default(),
        ending: None,
        adopted: 0,
        stopped_by: None,
    };
    let of_tree = |reader: &mut WaitReader| reader.descendants(std::process::id());
    let asleep = AsleepWatch::start(of_tree, |process| process.comm().to_owned());
    let outcome = watch.wait(options, started, &mut reader);
    let asleep = asleep.map_or_else(Asleep::default, |watch| watch.take());
    let outcome = outcome?;
    let wall = clock_now().boottime.saturating_sub(started);
    let survivors = watch.family.survivors().unwrap_or_default();
    records_absence = records_absence.or(watch.records_failure);
    let exact_cpu = watch.usage.cpu();
    Ok(Supervised {
        outcome: outcome.0,
        pid,
        wall,
        usage: watch.usage,
        own_peak_resident,
        tree: watch.account.close(exact_cpu),
        asleep,
        records_absence,
        events_absence,
        lost_forks: watch.events.map_or(0, |events| events.gaps),
        own_from_proc: outcome.1,
        lost_records: watch.records.map_or(0, |records| records.lost()),
        survivors,
        adopted: watch.adopted,
        stopped_by: watch.stopped_by,
    })
}

/// A running command.
struct Supervision {
    /// The command's own process.
    pid: u32,
    waiter: Waiter,
    /// Kept for its memory.
    ready: Vec<Ready>,
    family: Family,
    records: Option<ExitRecords>,
    /// Why they ended before the command did.
    records_failure: Option<Absence>,
    events: Option<ProcessEvents>,
    account: Account,
    execs: Execs,
    usage: Usage,
    ending: Option<Ending>,
    adopted: u64,
    stopped_by: Option<Signal>,
}

impl Supervision {
    fn wait(
        &mut self,
        options: &RunOptions,
        started: Nanos,
        reader: &mut TaskReader,
    ) -> Result<(Outcome, Option<TaskAccount>), Failure> {
        let mut deadline = options.timeout.map(|timeout| started + Nanos::from(timeout));
        let mut ended_by_us: Option<TaskSignal> = None;
        let mut own = None;
        let (mut kills, mut pause) = (0, FIRST_PAUSE);
        loop {
            self.listen(reader);
            if own.is_none() && self.records.is_none() && has_ended(self.pid) {
                own = reader.read_ended(self.pid).ok();
            }
            self.reap();
            if let Some(ending) = self.ending {
                // The records of processes that ended before the command are in the queue by now.
                self.listen(reader);
                // After a timeout, whit waits until the rest of the tree has ended as well.
                if ended_by_us.is_none() {
                    return Ok((Outcome::Ended(ending), own));
                }
                if self.family.survivors().map_or(true, |survivors| survivors.is_empty()) {
                    return Ok((Outcome::TimedOut, own));
                }
            }
            if kills > MAX_KILLS {
                return Ok((Outcome::TimedOut, own));
            }
            let now = clock_now().boottime;
            if deadline.is_some_and(|deadline| deadline <= now) {
                let signal = if ended_by_us.is_none() { options.signal } else { TaskSignal::Kill };
                self.family.send_all(signal);
                ended_by_us = Some(signal);
                if signal != TaskSignal::Kill {
                    // A stopped process would not receive it.
                    self.family.send_all(TaskSignal::Continue);
                    deadline = Some(now + Nanos::from(options.kill_after));
                } else {
                    // The next round finds processes that were forked during this one.
                    kills += 1;
                    deadline = Some(now + pause);
                    pause = (pause + pause).min(MAX_PAUSE);
                }
                continue;
            }
            self.sleep(deadline.map(|deadline| deadline.saturating_sub(now)), ended_by_us.is_some());
        }
    }

    /// Reads exit records first and fork events second, so that the fork of each recorded process is known when records are settled.
    fn listen(&mut self, reader: &mut TaskReader) {
        if let Some(records) = &mut self.records {
            let account = &mut self.account;
            // The command goes on without records; the report contains less.
            if let Err(absence) = records.receive(|record| account.keep(record)) {
                (self.records, self.records_failure) = (None, Some(absence));
            }
        }
        if let Some(events) = &mut self.events {
            let (account, execs) = (&mut self.account, &mut self.execs);
            // The command goes on if this fails. Lost fork events are counted in `gaps`, and the report states them.
            let _ = events.receive(|event| {
                account.see(event);
                if account.has(event.process()) {
                    execs.see(event);
                }
            });
            // Without records there is nothing to divide.
            if self.records.is_some() {
                let mut read = |pid: u32| {
                    let mut found = None;
                    reader.read_threads(&[pid], |_, row| found = row.ok());
                    found
                };
                execs.take(&mut read).into_iter().for_each(|earlier| account.split(earlier));
            }
        }
        self.account.settle();
    }

    fn reap(&mut self) {
        while let Some(reaped) = reap_any() {
            if self.family.descendants.was_there(reaped.pid) {
                continue;
            }
            self.usage.add(&reaped.usage);
            if reaped.pid == self.pid {
                self.ending = Some(reaped.ending);
                self.family.child = None;
            } else {
                self.adopted += 1;
            }
        }
    }

    /// Waits for a record, a fork, a signal or the time.
    fn sleep(&mut self, timeout: Option<Nanos>, is_ending: bool) {
        // SIGCHLD reports only children. If whit is not a subreaper, only a regular check notices that a grandchild has ended.
        let at_most = if is_ending { LOOK_AGAIN } else { Nanos(u64::MAX) };
        let timeout = timeout.map(|timeout| timeout.min(at_most));
        let timeout = Nanos::earlier(timeout, self.execs.has_unnamed().then_some(NAMED_WITHIN));
        let sources = [self.records.as_ref().map(AsFd::as_fd), self.events.as_ref().map(AsFd::as_fd)];
        let mut is_watched = true;
        for source in sources.into_iter().flatten() {
            is_watched &= self.waiter.watch(SOURCE, Watch::ReadableOnce(source)).is_ok();
        }
        let is_woken = wait(&mut self.waiter, soon_if(!is_watched, timeout), &mut self.ready);
        // On a busy machine tasks fork and end all the time: events of a moment are read together, unless a signal comes.
        if is_woken && !self.ready.is_empty() {
            let end = clock_now().boottime + MOMENT;
            while !self.waiter.has_signal() {
                let left = end.saturating_sub(clock_now().boottime);
                if left == Nanos(0) {
                    break;
                }
                wait(&mut self.waiter, Some(left), &mut self.ready);
            }
        }
        while let Some(received) = self.waiter.next_signal() {
            let signal = received.signal;
            self.stopped_by = self.stopped_by.or(Some(signal).filter(|signal| ends(*signal)));
            // The terminal sends its signals to the whole foreground process group, so the command has received them already.
            // The exception is SIGHUP: it is sent only to the session leader, which may be whit.
            let has_it = received.is_from_kernel && signal != Signal::Hangup;
            if let Some(signal) = forwarded(signal).filter(|_| !has_it) {
                self.family.send(signal);
            }
        }
    }
}

/// Waits. If that fails (for example with ENOMEM), sleeps for a moment instead, and the caller retries. Whether something came.
pub(super) fn wait(waiter: &mut Waiter, timeout: Option<Nanos>, ready: &mut Vec<Ready>) -> bool {
    waiter.wait(timeout, ready).unwrap_or_else(|_| {
        sleep_until(clock_now().boottime + MOMENT);
        true
    })
}

/// A moment if a descriptor could not be watched (for example with ENOMEM): it is then read without being asked.
pub(super) fn soon_if(is_blind: bool, timeout: Option<Nanos>) -> Option<Nanos> {
    if is_blind { Nanos::earlier(timeout, Some(MOMENT)) } else { timeout }
}

/// Returns true if a child has ended and waits to be reaped.
fn has_ended(pid: u32) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = Pid::from_raw(pid.cast_signed()) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)))
}
