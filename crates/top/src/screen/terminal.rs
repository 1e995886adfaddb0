//! Sets the terminal up for the full-screen view, restores it in all cases, and waits for input and signals.

use std::collections::VecDeque;
use std::io::Write as _;
use std::time::Duration;

use facts::unit::Nanos;
use probe::signals::{Signal, stop};
use probe::wait::{Ready, Waiter, Watch};
use ratatui::crossterm::event::Event;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
    size as terminal_size,
};
use ratatui::crossterm::{cursor, queue};
use ratatui::layout::Rect;
use ratatui::{Frame, TerminalOptions, Viewport, backend::CrosstermBackend};
use rustix::fd::AsFd as _;
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use super::input::Input;
use super::screen_output::ScreenOutput;
use command::failure::Failure;

/// The largest area that is drawn, since a terminal can report any size: the screen is kept in memory twice, with 56 bytes per cell.
const WIDEST: u16 = 1_000;
const HIGHEST: u16 = 500;
/// Buttons and the wheel, by decimal numbers: XTerm Control Sequences, "Mouse Tracking". Mouse motion is not reported.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Signals of one kind do not queue; there are fewer kinds.
const MAX_WAITING: usize = 64;

/// The tokens of what is waited for.
const INPUT: u64 = 0;
const ROOM: u64 = 1;

/// A terminal in raw mode, on its other screen.
pub(super) struct Terminal {
    terminal: ratatui::Terminal<CrosstermBackend<ScreenOutput>>,
    output: ScreenOutput,
    area: Rect,
    /// It has said how large it is.
    is_sized: bool,
    input: Input,
    waiter: Waiter,
    /// Kept for its memory.
    ready: Vec<Ready>,
    /// It is waited for room on the terminal.
    is_room_watched: bool,
    /// Signals that came and were not attended to.
    later: VecDeque<Signal>,
}

/// The event that ended a wait.
#[derive(Debug)]
pub(super) enum Wake {
    Timeout,
    Events(Vec<Event>),
    /// SIGTSTP arrived. (In raw mode a typed Ctrl-Z is an event, not a signal.)
    Suspend,
    /// SIGCONT arrived.
    Continued,
    /// The terminal is gone, or a signal requests the end.
    Ended,
    /// By a signal that leaves no time for more.
    Killed(Signal),
}

impl Terminal {
    pub(super) fn open(mut waiter: Waiter) -> Result<Self, Failure> {
        waiter.watch(INPUT, Watch::Readable(stdin())).map_err(failure)?;
        // A panic in the release build aborts without running `Drop`, so a hook restores the terminal.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave(&ScreenOutput::new());
            before(info);
        }));
        let output = ScreenOutput::new();
        let mut area = area();
        let is_sized = !area.is_empty();
        if !is_sized {
            (area.width, area.height) = UNKNOWN;
        }
        let opened = enter(&output).and_then(|()| blank(&output, area));
        match opened {
            Ok(terminal) => {
                let (input, later) = (Input::default(), VecDeque::new());
                let (ready, is_room_watched) = (Vec::new(), false);
                Ok(Self { terminal, output, area, is_sized, input, waiter, ready, is_room_watched, later })
            }
            Err(failure) => {
                leave(&output);
                Err(failure)
            }
        }
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), Failure> {
        // A terminal that does not take what was drawn before is asked again later.
        self.output.flush().map_err(failure)?;
        if self.output.is_full() {
            return Ok(());
        }
        let area = area();
        self.is_sized |= !area.is_empty();
        if area != self.area && self.is_sized {
            self.area = area;
            self.terminal = blank(&self.output, area)?;
        }
        // A terminal that is minimised may have no room at all.
        if self.area.is_empty() {
            return Ok(());
        }
        self.terminal.draw(draw).map(drop).map_err(failure)
    }

    /// Draws all of it the next time.
    pub(super) fn redraw(&mut self) -> Result<(), Failure> {
        self.terminal = blank(&self.output, self.area)?;
        Ok(())
    }

    /// Waits for keys, the mouse, another size, a signal.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<Wake, Failure> {
        let timeout = if self.later.is_empty() { timeout } else { Duration::ZERO };
        self.watch_room()?;
        self.waiter.wait(Some(Nanos::from(timeout)), &mut self.ready).map_err(failure)?;
        let of_input = self.ready.iter().find(|ready| ready.token == INPUT).copied();
        let is_gone = of_input.is_some_and(|input| input.is_closed);
        match self.next_signal() {
            None if is_gone => return Ok(Wake::Ended),
            // The next drawing looks at the size.
            None | Some(Signal::Resize) => {}
            Some(Signal::Interrupt | Signal::Terminate | Signal::Hangup) => return Ok(Wake::Ended),
            Some(Signal::Stop) => return Ok(Wake::Suspend),
            Some(Signal::Continue) => return Ok(Wake::Continued),
            Some(signal) => return Ok(Wake::Killed(signal)),
        }
        if !of_input.is_some_and(|input| input.is_readable) {
            return Ok(Wake::Timeout);
        }
        match self.input.read() {
            Ok(events) => Ok(Wake::Events(events)),
            // The terminal is gone, or whit is in the background and no shell is left that could bring it to the foreground.
            Err(Errno::IO) => Ok(Wake::Ended),
            Err(error) => Err(failure(error.into())),
        }
    }

    /// Waits for room on a terminal that does not take what was drawn, and no longer on one that does.
    fn watch_room(&mut self) -> Result<(), Failure> {
        let is_full = self.output.is_full();
        if is_full != self.is_room_watched {
            let room = Watch::Writable(self.output.outlet().as_fd());
            match is_full {
                true => self.waiter.watch(ROOM, room).map_err(failure)?,
                false => self.waiter.forget(room),
            }
            self.is_room_watched = is_full;
        }
        Ok(())
    }

    fn collect_signals(&mut self) {
        let signals = std::iter::from_fn(|| self.waiter.next_signal());
        self.later.extend(signals.map(|received| received.signal));
    }

    /// The next signal. Signals that end the program come first, since others may arrive without end.
    fn next_signal(&mut self) -> Option<Signal> {
        self.collect_signals();
        let ends = |signal: &Signal| !matches!(signal, Signal::Stop | Signal::Continue | Signal::Resize);
        let first = self.later.iter().position(ends).unwrap_or(0);
        let signal = self.later.remove(first);
        self.later.truncate(MAX_WAITING);
        signal
    }

    /// Restores the terminal, stops whit until it is continued, and sets the terminal up again. Does not stop if no process could
    /// continue whit. A typed Ctrl-Z stops the whole process group, as the terminal driver would do, so that a script that runs whit
    /// stops as well.
    pub(super) fn suspend(&mut self, was_typed: bool) -> Result<(), Failure> {
        leave(&self.output);
        // If it was continued already, no second SIGCONT will come.
        self.waiter.wait(Some(Nanos(0)), &mut self.ready).map_err(failure)?;
        self.collect_signals();
        if !self.later.contains(&Signal::Continue) {
            stop(was_typed);
        }
        self.resume()
    }

    /// Takes the terminal again: other programs may have changed it.
    pub(super) fn resume(&mut self) -> Result<(), Failure> {
        // Crossterm remembers that it enabled raw mode, and would not enable it again without this.
        leave(&self.output);
        enter(&self.output)?;
        self.redraw()
    }
}

/// The size of a terminal that does not say it, as a serial line.
const UNKNOWN: (u16, u16) = (80, 24);

/// As much of the terminal as is drawn on.
fn area() -> Rect {
    let (width, height) = terminal_size().unwrap_or(UNKNOWN);
    Rect { x: 0, y: 0, width: width.min(WIDEST), height: height.min(HIGHEST) }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave(&self.output);
    }
}

/// Creates an empty screen. It is created anew instead of cleared, because ratatui asks the terminal for the cursor position to clear
/// a screen, and not every terminal answers.
fn blank(
    output: &ScreenOutput,
    area: Rect,
) -> Result<ratatui::Terminal<CrosstermBackend<ScreenOutput>>, Failure> {
    let mut output = output.clone();
    queue!(output, Clear(ClearType::All)).map_err(failure)?;
    let options = TerminalOptions { viewport: Viewport::Fixed(area) };
    ratatui::Terminal::with_options(CrosstermBackend::new(output), options).map_err(failure)
}

fn enter(output: &ScreenOutput) -> Result<(), Failure> {
    enable_raw_mode().map_err(failure)?;
    // With VMIN and VTIME 0, read(2) does not block if another process has already read the input that was reported.
    // `disable_raw_mode` restores the old settings, these included.
    let mut modes = tcgetattr(stdin()).map_err(|error| failure(error.into()))?;
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &modes).map_err(|error| failure(error.into()))?;
    let mut output = output.clone();
    queue!(output, EnterAlternateScreen, Print(MOUSE_ON), cursor::Hide).map_err(failure)?;
    output.flush().map_err(failure)
}

fn leave(output: &ScreenOutput) {
    let mut bytes = Vec::new();
    // A vector takes whatever is written.
    let _ = queue!(bytes, Print(MOUSE_OFF), LeaveAlternateScreen, cursor::Show);
    output.write_last(&bytes);
    // If the terminal is gone, there is nothing to restore.
    let _ = disable_raw_mode();
}

fn failure(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot use the terminal: {error}"))
}
