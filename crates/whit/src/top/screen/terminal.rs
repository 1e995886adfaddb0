//! The terminal: taken, given back whatever happens, and waited for beside signals.

use std::io::{Stdout, stdout};
use std::time::Duration;

use facts::unit::Nanos;
use probe::signals::Signals;
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::{Frame, backend::CrosstermBackend};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use rustix::stdio::stdin;

use crate::failure::Failure;

/// A terminal in raw mode, on its other screen.
pub(super) struct Terminal {
    terminal: ratatui::Terminal<CrosstermBackend<Stdout>>,
    signals: Signals,
}

/// What waiting ended with.
#[derive(Debug)]
pub(super) enum Wake {
    Timeout,
    Events(Vec<Event>),
    /// By a signal, or because the terminal is gone.
    Ended,
}

impl Terminal {
    pub(super) fn open(signals: Signals) -> Result<Self, Failure> {
        // The release does not unwind: what would be dropped then is not.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
        let opened =
            enter().and_then(|()| ratatui::Terminal::new(CrosstermBackend::new(stdout())).map_err(failure));
        match opened {
            Ok(terminal) => Ok(Self { terminal, signals }),
            Err(failure) => {
                leave();
                Err(failure)
            }
        }
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), Failure> {
        self.terminal.draw(draw).map(drop).map_err(failure)
    }

    /// Waits for keys, the mouse, another size, a signal.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<Wake, Failure> {
        let timeout = probe::timespec(Nanos::from(timeout));
        let input = stdin();
        let mut descriptors =
            [PollFd::from_borrowed_fd(input, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        match poll(&mut descriptors, Some(&timeout)) {
            // Another size comes as a signal that ends the wait.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(failure(error.into())),
        }
        let is_gone = descriptors[0].revents().intersects(PollFlags::HUP | PollFlags::ERR);
        if is_gone || self.signals.next().is_some() {
            return Ok(Wake::Ended);
        }
        let mut events = Vec::new();
        while event::poll(Duration::ZERO).map_err(failure)? {
            events.push(event::read().map_err(failure)?);
        }
        Ok(if events.is_empty() { Wake::Timeout } else { Wake::Events(events) })
    }

    /// Ctrl-Z: gives the terminal back, stops (unless nobody could continue us), and takes it again.
    pub(super) fn suspend(&mut self) -> Result<(), Failure> {
        leave();
        let _ = kill_process(getpid(), Signal::TSTP);
        enter()?;
        self.terminal.clear().map_err(failure)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> Result<(), Failure> {
    enable_raw_mode().map_err(failure)?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, cursor::Hide).map_err(failure)
}

/// Where the terminal is gone there is nothing to give back.
fn leave() {
    let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

fn failure(error: std::io::Error) -> Failure {
    Failure::new(format!("the terminal: {error}"))
}
