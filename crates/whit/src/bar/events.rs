//! What wakes the bar between its ticks: signals, clicks, answers, commands, a reader that goes away.

use facts::unit::Nanos;
use probe::errand::Bell;
use probe::signals::Signal;
use probe::wait::{Waiter, Watch};
use rustix::fd::AsFd;
use rustix::io::{Errno, read};
use rustix::stdio::{stdin, stdout};
use wire::i3bar::{Click, Clicks};

use super::line::Line;
use super::outputs::STOP_SIGNAL;
use crate::args::BarOutput;
use crate::failure::Failure;

/// What happened while the bar slept.
#[derive(Debug, Default)]
pub(crate) struct Woken {
    pub(crate) signals: Vec<Signal>,
    pub(crate) clicks: Vec<Click>,
    /// Segments whose commands printed something.
    pub(crate) commands: Vec<usize>,
    /// Slow answers are there.
    pub(crate) has_answers: bool,
    /// Nobody reads any more.
    pub(crate) is_abandoned: bool,
}

/// Waits for all of it.
pub(crate) struct Events {
    waiter: Waiter,
    bell: Bell,
    /// None where nobody tells clicks, or no longer.
    clicks: Option<Clicks>,
    watches_stdout: bool,
    ready: Vec<bool>,
    calls: u64,
}

impl Events {
    /// For a reader.
    ///
    /// # Errors
    /// Where the kernel has no more descriptors.
    pub(crate) fn open(output: BarOutput) -> Result<Self, Failure> {
        use Signal::{Child, Continue, Hangup, Interrupt, Redraw, Terminate};
        let mut signals = vec![Interrupt, Terminate, Child, Hangup, Redraw, Continue];
        let is_i3bar = output == BarOutput::I3bar;
        if is_i3bar {
            signals.push(STOP_SIGNAL);
        }
        Ok(Self {
            waiter: Waiter::open(&signals).map_err(Failure::internal)?,
            bell: Bell::new().map_err(Failure::internal)?,
            clicks: is_i3bar.then(Clicks::default),
            watches_stdout: output != BarOutput::Dwm,
            ready: Vec::new(),
            calls: 0,
        })
    }

    /// The bell that slow answers ring.
    pub(crate) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// System calls made.
    pub(crate) fn calls(&self) -> u64 {
        self.calls + self.waiter.calls
    }

    /// Sleeps until something happens, at the latest until `deadline` on the real-time clock.
    ///
    /// # Errors
    /// Where the kernel refuses to wait.
    pub(crate) fn wait(
        &mut self,
        line: &Line,
        deadline: Option<Nanos>,
        woken: &mut Woken,
    ) -> Result<(), Failure> {
        woken.signals.clear();
        woken.clicks.clear();
        woken.commands.clear();
        let mut watches = vec![Watch::Readable(self.bell.as_fd())];
        if self.watches_stdout {
            watches.push(Watch::Abandoned(stdout()));
        }
        if self.clicks.is_some() {
            watches.push(Watch::Readable(stdin()));
        }
        let own = watches.len();
        watches.extend(line.watches().map(|(_, watch)| watch));
        self.waiter.wait(deadline, &watches, &mut self.ready).map_err(Failure::internal)?;

        let mut ready = self.ready.iter().copied();
        woken.has_answers = ready.next() == Some(true);
        woken.is_abandoned = self.watches_stdout && ready.next() == Some(true);
        let has_clicks = self.clicks.is_some() && ready.next() == Some(true);
        let commands = line.watches().zip(&self.ready[own.min(self.ready.len())..]);
        woken.commands.extend(commands.filter(|(_, ready)| **ready).map(|((index, _), _)| index));
        if woken.has_answers {
            self.calls += 1;
            self.bell.hear();
        }
        if has_clicks {
            self.read_clicks(&mut woken.clicks);
        }
        while let Some(signal) = self.waiter.next_signal() {
            woken.signals.push(signal);
        }
        Ok(())
    }

    fn read_clicks(&mut self, found: &mut Vec<Click>) {
        let mut bytes = [0; 4096];
        self.calls += 1;
        match read(stdin(), &mut bytes) {
            // Whoever told clicks has gone; lines may still be read.
            Ok(0) => self.clicks = None,
            Ok(length) => {
                if let Some(clicks) = &mut self.clicks {
                    clicks.push(&bytes[..length], |click| found.push(click));
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.clicks = None,
        }
    }
}
