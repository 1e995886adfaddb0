//! The loop: wait, read and draw what is due, write the line if it changed.

use std::process::ExitCode;
use std::time::Duration;

use facts::unit::Nanos;
use jiff::tz::TimeZone;
use probe::clock_now;
use probe::orphans::Orphans;
use probe::signals::Signal;

use super::clicks::Started;
use super::config::{BarConfig, Origin};
use super::debug::Debug;
use super::events::{Events, Woken};
use super::line::Line;
use super::outflow::Outflow;
use super::{LineOutput, LineStyle, SegmentContext, outputs};
use crate::arguments::{BarArgs, BarOutput};
use command::failure::Failure;
use command::time_zone;

/// How long the first line waits for a second sample, and for results of background jobs.
const FIRST_WAIT: Nanos = Nanos(100_000_000);
/// Between two lines that are not of the schedule: output of commands, results and changes of the network can come thousands of times a
/// second.
const UNASKED_PAUSE: Nanos = Nanos(100_000_000);
/// How often orphans are looked for at the end, with a pause before each time: a second at most. On a busy machine a killed process needs
/// some of it to end, and only then its children are seen.
const LAST_SWEEPS: usize = 200;
const SWEEP_PAUSE: Duration = Duration::from_millis(5);
/// How long a bar of one line waits for results.
const ONE_LINE_WAIT: Nanos = Nanos(3_000_000_000);

/// Draws until the count is reached, the reader closes the pipe or a signal ends it.
pub(crate) fn run(args: &BarArgs) -> Result<ExitCode, Failure> {
    Bar::open(args)?.run()
}

struct Bar {
    args: BarArgs,
    line: Line,
    style: LineStyle,
    context: SegmentContext,
    time_zone: TimeZone,
    output: Box<dyn LineOutput>,
    outflow: Outflow,
    events: Events,
    woken: Woken,
    started: Started,
    /// `None` if no segment runs commands.
    orphans: Option<Orphans>,
    debug: Option<Debug>,
    /// The line as it was written last, and as it is now.
    written: Vec<u8>,
    drawn: Vec<u8>,
    /// When the line was opened, on the boot clock; `None` once the first line was drawn.
    opened_at: Option<Nanos>,
    /// Lines that are not of the schedule are not written before this time.
    unasked_from: Nanos,
    /// When a line that was held back is to be written.
    held_until: Option<Nanos>,
    /// Everything is to be drawn, due or not.
    is_all_due: bool,
    /// The reader shows nothing.
    is_hidden: bool,
    is_captured: bool,
    remaining: Option<u64>,
}

impl Bar {
    fn open(args: &BarArgs) -> Result<Self, Failure> {
        let (config, fault) = match configuration(args) {
            Ok(config) => (config, None),
            // Who has no terminal to read it from sees it in the bar, which reads a mended configuration at SIGHUP.
            Err(failure) => match args.output.unwrap_or_else(outputs::detect) {
                BarOutput::Plain => return Err(failure),
                _ if args.count.is_some() => return Err(failure),
                _ => (BarConfig::empty(), Some(failure)),
            },
        };
        let kind = args.output.or(config.output).unwrap_or_else(outputs::detect);
        let output = outputs::open(kind)?;
        // Before signals are blocked: TZ may name a file on a filesystem that never answers.
        let time_zone = time_zone::system();
        let mut events = Events::open(kind)?;
        let style = config.style.clone();
        let context = SegmentContext {
            roots: args.roots.clone(),
            notifier: Some(events.notifier()),
            past: args.past.clone(),
            before: args.before.clone(),
        };
        // Before the commands are started.
        let orphans = config.has_commands().then(Orphans::adopt);
        let line = Line::open(config, &context)?;
        events.watch_network(&line)?;
        let mut bar = Self {
            args: args.clone(),
            orphans,
            line,
            style,
            context,
            time_zone,
            output,
            outflow: Outflow::stdout(),
            events,
            woken: Woken::default(),
            started: Started::default(),
            debug: args.is_debug.then(Debug::start),
            written: Vec::with_capacity(1024),
            drawn: Vec::with_capacity(1024),
            opened_at: Some(clock_now().boottime),
            unasked_from: Nanos(0),
            held_until: None,
            is_all_due: true,
            is_hidden: false,
            is_captured: args.roots.is_captured() || args.past.is_some(),
            remaining: args.count,
        };
        if let Some(failure) = fault {
            bar.show_fault(&failure);
        }
        bar.output.start(&mut bar.drawn);
        bar.outflow.write(&bar.drawn)?;
        bar.drawn.clear();
        bar.await_room(false)?;
        Ok(bar)
    }

    fn run(&mut self) -> Result<ExitCode, Failure> {
        loop {
            let now = clock_now().realtime;
            let quiet_until = self.quiet_until(now);
            if quiet_until.is_none() && !self.is_hidden && self.remaining != Some(0) {
                self.draw(now)?;
            }
            // The last line is written when the reader has taken all of it.
            let is_last = self.remaining == Some(0);
            if is_last && !self.outflow.is_full() {
                return Ok(ExitCode::SUCCESS);
            }
            let next_tick = if self.is_hidden || is_last { None } else { self.line.next_tick(now) };
            let held = self.held_until.take().map(|until| now + until.saturating_sub(clock_now().boottime));
            let unscheduled = Nanos::earlier(self.line.poll_deadline(now), held);
            let deadline = Nanos::earlier(quiet_until.or(next_tick), unscheduled);
            self.debug.iter_mut().for_each(Debug::sleep);
            let is_woken = self.events.wait(&self.line, deadline, &mut self.woken)?;
            self.debug.iter_mut().for_each(Debug::wake);
            if is_woken && let Some(code) = self.handle_events()? {
                return Ok(code);
            }
            self.poll_overdue();
        }
    }

    /// Until when the first line waits for results. They were requested when the line was opened.
    fn quiet_until(&mut self, now: Nanos) -> Option<Nanos> {
        let opened_at = self.opened_at?;
        self.quiet_since(opened_at, now)
    }

    #[cold]
    fn quiet_since(&mut self, opened_at: Nanos, now: Nanos) -> Option<Nanos> {
        let elapsed = clock_now().boottime.saturating_sub(opened_at);
        let is_waiting = self.line.is_waiting();
        let at_most = match self.remaining {
            Some(1) if is_waiting => ONE_LINE_WAIT,
            // A captured machine stands still: a second sample has no rates.
            Some(1) if self.is_captured => Nanos(0),
            _ => FIRST_WAIT,
        };
        if elapsed >= at_most {
            self.opened_at = None;
            return None;
        }
        Some(now + at_most.saturating_sub(elapsed))
    }

    fn draw(&mut self, now: Nanos) -> Result<(), Failure> {
        let all = std::mem::take(&mut self.is_all_due);
        let is_due = all || self.line.is_due(now);
        if is_due {
            self.begin_debug_cycle();
            self.line.tick(now, all, &self.context, &self.time_zone);
            self.remaining = self.remaining.map(|remaining| remaining - 1);
        }
        // Lines that are not of the schedule are written ten times a second at most; the newest is written then.
        if !is_due && clock_now().boottime < self.unasked_from {
            self.held_until = Some(self.unasked_from);
            return Ok(());
        }
        self.write(all)
    }

    /// Shows what the last cycle cost, with `--debug`.
    fn begin_debug_cycle(&mut self) {
        if let Some(debug) = &mut self.debug {
            let of_output = self.output.calls() + self.outflow.calls();
            debug.begin_cycle(self.line.system_calls() + of_output + self.events.calls());
            debug.render(self.line.debug_text());
        }
    }

    /// Writes the line if it changed, or in any case.
    fn write(&mut self, in_any_case: bool) -> Result<(), Failure> {
        if self.outflow.is_full() {
            // The newest line is written when there is room again.
            return Ok(());
        }
        let is_first = self.written.is_empty();
        self.drawn.clear();
        self.drawn.extend_from_slice(self.output.between());
        self.output.line(self.line.blocks(), &self.style, &mut self.drawn)?;
        if in_any_case || self.drawn != self.written {
            let from = if is_first { self.output.between().len() } else { 0 };
            self.outflow.write(&self.drawn[from..])?;
            std::mem::swap(&mut self.written, &mut self.drawn);
            self.unasked_from = clock_now().boottime + UNASKED_PAUSE;
            self.await_room(false)?;
        }
        Ok(())
    }

    /// After a write: starts to wait for room if the pipe is full, and stops if it `was_full` and has room.
    fn await_room(&mut self, was_full: bool) -> Result<(), Failure> {
        if self.outflow.is_full() == was_full {
            return Ok(());
        }
        self.events.watch_room(self.outflow.watch(), !was_full)
    }

    /// Handles what woke the bar. Returns the exit code if the bar is to end. Apart from the tick's code, which has caches to itself.
    #[cold]
    fn handle_events(&mut self) -> Result<Option<ExitCode>, Failure> {
        if self.woken.is_abandoned {
            return Ok(Some(ExitCode::SUCCESS));
        }
        if self.woken.has_room {
            self.outflow.flush()?;
            self.await_room(true)?;
        }
        for index in 0..self.woken.signals.len() {
            match self.woken.signals[index] {
                Signal::Interrupt | Signal::Terminate => {
                    return Ok(Some(ExitCode::SUCCESS));
                }
                Signal::Hangup => self.reload()?,
                Signal::Stop => self.is_hidden = true,
                Signal::Continue => (self.is_hidden, self.is_all_due) = (false, true),
                Signal::Redraw => self.is_all_due = true,
                // The bar does not receive these.
                Signal::Quit | Signal::User2 | Signal::Resize | Signal::Fatal(_) => {}
                Signal::Child => {
                    for index in self.started.reap() {
                        self.line.refresh(index, &self.context);
                    }
                    self.line.poll_commands(&self.time_zone);
                    self.sweep_orphans();
                }
            }
        }
        for index in &self.woken.commands {
            self.line.poll(*index, &self.time_zone);
        }
        for sampler in &self.woken.network {
            self.line.drain_events(*sampler, &self.time_zone);
        }
        for click in &self.woken.clicks {
            if let Some(index) = self.started.click(click, self.line.members()) {
                self.line.refresh(index, &self.context);
            }
        }
        if self.woken.has_results {
            self.line.redraw(&self.time_zone);
        }
        Ok(None)
    }

    /// Polls commands whose deadline has passed.
    fn poll_overdue(&mut self) {
        let now = clock_now().realtime;
        if self.line.poll_deadline(now).is_some_and(|by| by <= now) {
            self.line.poll_commands(&self.time_zone);
        }
    }

    /// Ends the processes that commands left behind. Returns their number.
    fn sweep_orphans(&mut self) -> usize {
        let Some(orphans) = &mut self.orphans else { return 0 };
        let known: Vec<_> = self.line.processes().chain(self.started.processes()).collect();
        orphans.sweep(&known)
    }

    /// Reads the configuration again. With an invalid one the bar stays as it is and shows the error. Meanwhile signals wait: TERM, too, if
    /// the file is on a filesystem that never answers.
    fn reload(&mut self) -> Result<(), Failure> {
        let opened = configuration(&self.args).and_then(|config| {
            if self.orphans.is_none() {
                self.orphans = config.has_commands().then(Orphans::adopt);
            }
            Ok((config.style.clone(), Line::open(config, &self.context)?))
        });
        match opened {
            Ok((style, line)) => {
                self.style = style;
                self.time_zone = time_zone::system();
                self.started.take_over(std::mem::replace(&mut self.line, line).shutdown());
                // These belong to the old line.
                self.woken.commands.clear();
                self.woken.network.clear();
                self.events.watch_network(&self.line)?;
                (self.opened_at, self.is_all_due) = (Some(clock_now().boottime), true);
            }
            Err(failure) => self.show_fault(&failure),
        }
        Ok(())
    }

    /// Says what is wrong with the configuration, on standard error and in the bar.
    fn show_fault(&mut self, failure: &Failure) {
        let message = failure.to_string();
        command::failure::write_stderr_if_ready(&format!("whit: {message}\n"));
        self.line.set_notice(message.lines().next().unwrap_or_default());
    }
}

impl Drop for Bar {
    /// Ends the commands, and then the processes that they left behind, which become children of the bar when the commands end. What is
    /// left after a short time is left to init.
    fn drop(&mut self) {
        if self.orphans.is_none() {
            return;
        }
        let mut dying = self.line.shutdown();
        for _ in 0..LAST_SWEEPS {
            std::thread::sleep(SWEEP_PAUSE);
            dying.retain_mut(|process| process.ended().is_none());
            if dying.is_empty() && self.sweep_orphans() == 0 {
                return;
            }
        }
    }
}

/// Looked for each time: a file may have been added.
fn configuration(args: &BarArgs) -> Result<BarConfig, Failure> {
    Origin::find(args.config.as_deref(), args.defaults.clone()).read(args.interval)
}
