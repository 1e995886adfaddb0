//! The process that runs plugins. It adopts what they leave behind; when the agent is gone, it ends all of it.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use facts::task::figure::FigureSet;
use facts::unit::Nanos;
use probe::orphans::{Known, Orphans};
use probe::signals::Signal;
use probe::spawn::{Inherited, next_ended, reap_ended};
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use probe::wait::{Ready, Waiter, Watch};
use probe::{Roots, clock_now, privilege};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags, open};

use super::frames::Order;
use super::run::{Run, report_failure};
use service::frames::take;

/// The token of the agent's socket. That of a stream is the pid of its plugin, shifted, and 0 for its output or 1 for its errors.
const AGENT: u64 = 0;
/// A run has its output watched after so long. Most have ended by then, and were spared three system calls.
const WATCH_AFTER: Nanos = Nanos(20_000_000);
/// Between two looks for what plugins left behind.
const SWEEP_INTERVAL: Nanos = Nanos(1_000_000_000);
/// Reports wait for others so long.
const SEND_INTERVAL: Nanos = Nanos(50_000_000);
/// Of this size they are sent at once.
const SEND_AT_BYTES: usize = 32 * 1024;
/// When the agent is gone, what cannot be killed is waited for so long.
const LAST_WAIT: Nanos = Nanos(5_000_000_000);
/// Orders are read in such parts.
const READ_BYTES: usize = 16 * 1024;

/// Runs what the agent at the other end of a socket orders, until that is closed.
///
/// # Errors
/// If the kernel refuses a resource, or an order is malformed.
pub fn run(agent: OwnedFd) -> io::Result<()> {
    // The limits of the server do not apply to plugins. Without privileges the priority stays.
    probe::raise_memory_limit();
    probe::restore_priority();
    let _ = std::fs::write("/proc/self/oom_score_adj", "0");
    privilege::keep_for_commands()?;
    let agent = UnixStream::from(agent);
    agent.set_nonblocking(true)?;
    // These are received and do nothing: only the end of the agent, which closes its socket, ends this process.
    let signals = [Signal::Child, Signal::Terminate, Signal::Interrupt, Signal::Hangup];
    let mut waiter = Waiter::open(&signals)?;
    waiter.watch(AGENT, Watch::Edges { descriptor: agent.as_fd(), with_room: true })?;
    let request = TaskRequest { sources: &[TaskSource::Taskstats], extra: FigureSet::default() };
    let mut server = Server {
        id: std::process::id(),
        agent,
        waiter,
        null: open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?,
        inherited: Inherited::of_process(),
        // Without it what plugins waited for is not known.
        reader: TaskReader::open(&Roots::live(), &request).ok(),
        orphans: Orphans::adopt_and_end_all(),
        orders: Vec::new(),
        reports: Vec::new(),
        running: HashMap::new(),
        deadlines: BTreeSet::new(),
        unwatched: BTreeSet::new(),
        swept_at: Nanos(0),
        send_at: None,
        must_sweep: false,
    };
    let served = server.serve();
    // Whatever happened, nothing that was started stays.
    server.end_all().and(served)
}

struct Server {
    /// The pid of this process.
    id: u32,
    agent: UnixStream,
    waiter: Waiter,
    null: OwnedFd,
    inherited: Inherited,
    reader: Option<TaskReader>,
    orphans: Orphans,
    /// Bytes of orders that have not come wholly.
    orders: Vec<u8>,
    /// Bytes of reports that the agent has not taken.
    reports: Vec<u8>,
    /// By process id.
    running: HashMap<u32, Run>,
    deadlines: BTreeSet<(Nanos, u32)>,
    /// The runs whose output is not watched, by when it is to be.
    unwatched: BTreeSet<(Nanos, u32)>,
    swept_at: Nanos,
    /// When reports are sent, if there are some.
    send_at: Option<Nanos>,
    /// Something ended, and may have left something behind.
    must_sweep: bool,
}

impl Server {
    fn serve(&mut self) -> io::Result<()> {
        let mut ready: Vec<Ready> = Vec::new();
        let (mut has_orders, mut has_ended) = (true, true);
        loop {
            if std::mem::take(&mut has_orders) && !self.take_orders()? {
                return Ok(());
            }
            if std::mem::take(&mut has_ended) {
                self.reap();
            }
            let now = clock_now().boottime;
            self.end_overdue(now);
            self.watch_slow(now);
            self.sweep(now);
            self.send_reports(now);
            let timeout = self.next_deadline().map(|next| next.saturating_sub(clock_now().boottime));
            self.waiter.wait(timeout, &mut ready)?;
            while let Some(received) = self.waiter.next_signal() {
                has_ended |= received.signal == Signal::Child;
            }
            for happened in &ready {
                if happened.token == AGENT {
                    has_orders = true;
                    continue;
                }
                let (pid, stream) = ((happened.token >> 1) as u32, (happened.token & 1) as usize);
                if let Some(run) = self.running.get_mut(&pid) {
                    run.read(stream);
                }
            }
        }
    }

    /// Starts what was ordered. Returns whether the agent is there.
    fn take_orders(&mut self) -> io::Result<bool> {
        let mut chunk = [0; READ_BYTES];
        loop {
            match self.agent.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(length) => self.orders.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(false),
            }
        }
        let mut taken = 0;
        while let Some((order, _, length)) = take::<Order>(&self.orders[taken..], 0)? {
            taken += length;
            self.start(order);
        }
        self.orders.drain(..taken);
        Ok(true)
    }

    fn start(&mut self, order: Order) {
        match Run::start(order, self.id, self.null.as_fd(), &self.inherited) {
            Ok((pid, run)) => {
                self.deadlines.insert((run.deadline, pid));
                self.unwatched.insert((run.started + WATCH_AFTER, pid));
                self.running.insert(pid, run);
            }
            Err((id, fate)) => report_failure(id, fate, &mut self.reports),
        }
    }

    /// Takes those that have ended.
    fn reap(&mut self) {
        while let Some(pid) = next_ended() {
            self.must_sweep = true;
            let Some(mut run) = self.running.remove(&pid) else {
                // Something that a plugin left behind.
                reap_ended(pid.cast_signed());
                continue;
            };
            let delays = self.reader.as_mut().and_then(|reader| reader.read_ended_delays(pid).ok());
            run.finish(pid, delays.as_ref());
            self.deadlines.remove(&(run.deadline, pid));
            self.unwatched.remove(&(run.started + WATCH_AFTER, pid));
            run.close(reap_ended(pid.cast_signed()), clock_now().boottime, &mut self.reports);
        }
    }

    /// Ends the runs that are past their deadline: first asks, then kills, again and again.
    fn end_overdue(&mut self, now: Nanos) {
        while let Some((deadline, pid)) = self.deadlines.first().copied()
            && deadline <= now
        {
            self.deadlines.remove(&(deadline, pid));
            if let Some(run) = self.running.get_mut(&pid) {
                run.end_next(pid, now, &mut self.reports);
                self.deadlines.insert((run.deadline, pid));
            }
        }
    }

    /// Watches the output of runs that take longer than most: what they write must not fill their pipes.
    fn watch_slow(&mut self, now: Nanos) {
        while let Some((at, pid)) = self.unwatched.first().copied()
            && at <= now
        {
            self.unwatched.remove(&(at, pid));
            let Some(run) = self.running.get(&pid) else { continue };
            for stream in 0..2 {
                if let Some(pipe) = run.pipe(stream) {
                    // One that cannot be watched is read when its time is over.
                    let _ = self.waiter.watch(u64::from(pid) << 1 | stream as u64, Watch::Readable(pipe));
                }
            }
        }
    }

    /// Ends what plugins left behind in groups of their own.
    fn sweep(&mut self, now: Nanos) {
        if !self.must_sweep || now < self.swept_at + SWEEP_INTERVAL {
            return;
        }
        let known: Vec<Known<'_>> =
            self.running.iter().map(|(pid, run)| Known { pid: *pid, run: Some(run.run()) }).collect();
        self.must_sweep = self.orphans.sweep(&known) > 0;
        self.swept_at = now;
    }

    /// Sends reports, several at a time, since each send wakes the agent. While nothing runs, they are sent at once.
    fn send_reports(&mut self, now: Nanos) {
        if self.reports.is_empty() {
            return;
        }
        let at = *self.send_at.get_or_insert(now + SEND_INTERVAL);
        if now < at && !self.running.is_empty() && self.reports.len() < SEND_AT_BYTES {
            return;
        }
        self.send_at = None;
        while !self.reports.is_empty() {
            match self.agent.write(&self.reports) {
                Ok(sent) => drop(self.reports.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // There is an event when there is room.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Reading says that it is gone.
                Err(_) => break,
            }
        }
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let sweep = self.must_sweep.then(|| self.swept_at + SWEEP_INTERVAL);
        let [deadline, unwatched] =
            [&self.deadlines, &self.unwatched].map(|queue| queue.first().map(|(at, _)| *at));
        [deadline, unwatched, sweep, self.send_at].into_iter().flatten().min()
    }

    /// Ends everything, and then this process.
    fn end_all(&mut self) -> io::Result<()> {
        let until = clock_now().boottime + LAST_WAIT;
        for pid in self.running.keys() {
            probe::spawn::end_group(*pid, true);
        }
        loop {
            self.reap();
            let left = self.orphans.sweep(&[]);
            let now = clock_now().boottime;
            if (self.running.is_empty() && left == 0) || now >= until {
                return Ok(());
            }
            self.waiter.wait(Some(Nanos(20_000_000)), &mut Vec::new())?;
            while self.waiter.next_signal().is_some() {}
        }
    }
}
