//! Events that wake the bar between its ticks: signals, clicks, results of background jobs, output of commands, changes of the network, and
//! a reader that closes the pipe.

use facts::unit::Nanos;
use formats::i3bar::{Click, Clicks};
use probe::background_job::Notifier;
use probe::clock_now;
use probe::signals::{Signal, keep_children};
use probe::wait::{Ready, Waiter, Watch};
use rustix::fd::AsFd;
use rustix::io::{Errno, read};
use rustix::stdio::{stdin, stdout};

use super::line::Line;
use super::outputs::STOP_SIGNAL;
use crate::arguments::BarOutput;
use command::failure::Failure;

/// The events that happened while the bar slept.
#[derive(Debug, Default)]
pub(crate) struct Woken {
    pub(crate) signals: Vec<Signal>,
    pub(crate) clicks: Vec<Click>,
    /// Segments whose commands printed something or ended.
    pub(crate) commands: Vec<usize>,
    /// Samplers for which the network has changed.
    pub(crate) network: Vec<usize>,
    /// A background job has a result.
    pub(crate) has_results: bool,
    /// The reader has closed the pipe.
    pub(crate) is_abandoned: bool,
    /// There is room to write again.
    pub(crate) has_room: bool,
}

impl Woken {
    fn clear(&mut self) {
        self.signals.clear();
        self.clicks.clear();
        self.commands.clear();
        self.network.clear();
        (self.has_results, self.is_abandoned, self.has_room) = (false, false, false);
    }
}

/// The tokens of what is waited for. The index of a segment or sampler is added to the last two.
const NOTIFIER: u64 = 0;
const STDOUT: u64 = 1;
const STDIN: u64 = 2;
const ROOM: u64 = 3;
const COMMANDS: u64 = 1 << 32;
const NETWORK: u64 = 2 << 32;

/// Waits for all of these.
pub(crate) struct Events {
    waiter: Waiter,
    notifier: Notifier,
    clicks: Clicks,
    ready: Vec<Ready>,
    /// Commands are not read before this time: they can print more than is shown.
    commands_from: Nanos,
    calls: u64,
}

/// Between two readings of what commands print.
const COMMANDS_PAUSE: Nanos = Nanos(20_000_000);

impl Events {
    /// Waits for what concerns an output of this kind.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub(crate) fn open(output: BarOutput) -> Result<Self, Failure> {
        use Signal::{Child, Continue, Hangup, Interrupt, Redraw, Terminate};
        let mut signals = vec![Interrupt, Terminate, Child, Hangup, Redraw, Continue];
        let is_i3bar = output == BarOutput::I3bar;
        if is_i3bar {
            signals.push(STOP_SIGNAL);
        }
        // The program that starts the bar may have it ignored: then the kernel would forget how commands ended.
        keep_children();
        let mut waiter = Waiter::open(&signals).map_err(Failure::of_system)?;
        waiter.watch_clock().map_err(Failure::of_system)?;
        let notifier = Notifier::new().map_err(Failure::of_system)?;
        waiter.watch(NOTIFIER, Watch::Readable(notifier.as_fd())).map_err(Failure::of_system)?;
        if output != BarOutput::Dwm {
            waiter.watch(STDOUT, Watch::Abandoned(stdout())).map_err(Failure::of_system)?;
        }
        if is_i3bar {
            // If it is closed, there will be no clicks.
            let _ = waiter.watch(STDIN, Watch::Readable(stdin()));
        }
        Ok(Self {
            waiter,
            notifier,
            clicks: Clicks::default(),
            ready: Vec::new(),
            commands_from: Nanos(0),
            calls: 0,
        })
    }

    /// Notified when a background job has a result.
    pub(crate) fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// System calls made.
    pub(crate) fn calls(&self) -> u64 {
        self.calls + self.waiter.calls
    }

    /// From now on waits for changes of the network that a line shows, as long as the line exists.
    ///
    /// # Errors
    /// If the kernel has no room for it.
    pub(crate) fn watch_network(&mut self, line: &Line) -> Result<(), Failure> {
        for (sampler, watch) in line.network_watches() {
            self.waiter.watch(NETWORK + sampler as u64, watch).map_err(Failure::of_system)?;
        }
        Ok(())
    }

    /// Waits, or no longer waits, for room to write.
    ///
    /// # Errors
    /// If the kernel has no room for it.
    pub(crate) fn watch_room(&mut self, watch: Watch<'_>, is_full: bool) -> Result<(), Failure> {
        if is_full {
            return self.waiter.watch(ROOM, watch).map_err(Failure::of_system);
        }
        self.waiter.forget(watch);
        Ok(())
    }

    /// Sleeps until something happens, at the latest until `deadline` on the real-time clock. Whether something happened.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub(crate) fn wait(
        &mut self,
        line: &Line,
        deadline: Option<Nanos>,
        woken: &mut Woken,
    ) -> Result<bool, Failure> {
        let pause_end = self.watch_commands(line)?;
        let deadline = Nanos::earlier(deadline, pause_end);
        let timeout = deadline.map(|deadline| deadline.saturating_sub(clock_now().realtime));
        let is_woken = self.waiter.wait(timeout, &mut self.ready).map_err(Failure::of_system)?;
        if is_woken {
            self.sort_events(woken);
        }
        Ok(is_woken)
    }

    /// Waits for output of commands, unless they are paused. Returns the end of the pause, on the real-time clock.
    fn watch_commands(&mut self, line: &Line) -> Result<Option<Nanos>, Failure> {
        for (index, watch) in line.commands() {
            let now = clock_now();
            let pause = self.commands_from.saturating_sub(now.boottime);
            if pause > Nanos(0) {
                return Ok(Some(now.realtime + pause));
            }
            self.waiter.watch(COMMANDS + index as u64, watch).map_err(Failure::of_system)?;
        }
        Ok(None)
    }

    /// Sorts the events by their kind.
    #[cold]
    fn sort_events(&mut self, woken: &mut Woken) {
        woken.clear();
        for index in 0..self.ready.len() {
            match self.ready[index].token {
                NOTIFIER => {
                    woken.has_results = true;
                    self.calls += 1;
                    self.notifier.drain();
                }
                STDOUT => woken.is_abandoned = true,
                ROOM => woken.has_room = true,
                STDIN => self.read_clicks(&mut woken.clicks),
                token @ NETWORK.. => woken.network.push((token - NETWORK) as usize),
                token => woken.commands.push(token.saturating_sub(COMMANDS) as usize),
            }
        }
        if !woken.commands.is_empty() {
            self.commands_from = clock_now().boottime + COMMANDS_PAUSE;
        }
        while let Some(received) = self.waiter.next_signal() {
            woken.signals.push(received.signal);
        }
    }

    fn read_clicks(&mut self, found: &mut Vec<Click>) {
        let mut bytes = [0; 4096];
        self.calls += 1;
        match read(stdin(), &mut bytes) {
            Ok(length @ 1..) => self.clicks.push(&bytes[..length], |click| found.push(click)),
            Err(Errno::INTR | Errno::AGAIN) => {}
            // There will be no more clicks; lines may still be read.
            Ok(0) | Err(_) => self.waiter.forget(Watch::Readable(stdin())),
        }
    }
}
