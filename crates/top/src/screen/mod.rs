//! The screen: what was typed changes the state, the state and the session are drawn.

mod act;
mod agent_watch;
mod body;
mod detail;
mod foot;
mod head;
mod history;
mod input;
mod keys;
mod menu;
mod notes;
mod outcome;
mod palette;
mod screen_output;
mod state;
mod target;
mod terminal;
mod time_bar;
mod time_line;
mod typing;

use std::process::ExitCode;
use std::time::Duration;

use facts::unit::Nanos;
use probe::signals::{Signal, die_by};
use probe::wait::Waiter;

use self::agent_watch::AgentWatch;
use self::history::Histories;
use self::outcome::Outcome;
use self::state::State;
use self::terminal::{Terminal, Wake};
use super::session::Session;
use crate::options::TopOptions;
use command::agent_problems::AgentProblems;
use command::failure::Failure;

/// Between the first two readings.
const FIRST_INTERVAL: Nanos = Nanos(300_000_000);

/// Draws until ended.
pub(super) fn run(options: &TopOptions) -> Result<ExitCode, Failure> {
    // Some forty columns a table, each of which would begin one.
    probe::refuse_huge_pages();
    let mut session = Session::open(options)?;
    // Every signal that would leave the terminal as it is.
    let mut signals = Signal::all_that_end();
    signals.extend([Signal::Stop, Signal::Continue, Signal::Resize]);
    let waiter = Waiter::open(&signals).map_err(Failure::of_system)?;
    session.tick()?;
    session.refuse_empty_selection()?;
    let mut terminal = Terminal::open(waiter)?;
    let mut state = State::new();
    let mut histories = Histories::default();
    let mut watch = (!session.is_captured).then(AgentWatch::start);
    // Two readings make a difference: the second comes soon.
    let mut next_tick = probe::clock_now().boottime + interval(&session).min(FIRST_INTERVAL);
    let mut remaining = options.count;
    // By a key: also a screen that stands still is read once.
    let mut is_asked = false;
    loop {
        let now = probe::clock_now().boottime;
        if next_tick <= now {
            if !state.is_paused || std::mem::take(&mut is_asked) {
                remaining = remaining.map(|remaining| remaining - 1);
                if remaining == Some(0) {
                    return Ok(ExitCode::SUCCESS);
                }
                session.tick()?;
                if !session.is_of_past {
                    histories.record(&session);
                    state.is_stale = true;
                }
            }
            let planned = next_tick + interval(&session);
            next_tick = if planned > now { planned } else { now + interval(&session) };
        }
        let is_of_now = !state.is_paused && !session.is_of_past;
        if let Some(watch) = watch.as_mut().filter(|_| is_of_now) {
            watch.tick(now);
        }
        let problems = watch.as_ref().filter(|_| !session.is_of_past).and_then(|watch| watch.problems(now));
        draw(&mut terminal, &mut session, &mut state, &histories, problems)?;
        let look = watch.as_ref().filter(|_| is_of_now).and_then(|watch| watch.next_look(now));
        let wake = look.map_or(next_tick, |look| look.min(next_tick));
        let timeout = Duration::from_nanos(wake.saturating_sub(probe::clock_now().boottime).0);
        match terminal.wait(timeout)? {
            Wake::Ended => return Ok(ExitCode::SUCCESS),
            Wake::Killed(signal) => {
                drop(terminal);
                die_by(signal)
            }
            Wake::Suspend => terminal.suspend(false)?,
            Wake::Continued => terminal.resume()?,
            Wake::Events(events) => {
                for event in events {
                    // What the last key changed is what this one is about.
                    if state.is_stale {
                        state.arrange(&mut session);
                    }
                    match keys::handle(&event, &mut state, &mut session) {
                        Outcome::Go => {}
                        Outcome::Quit => return Ok(ExitCode::SUCCESS),
                        Outcome::Suspend => terminal.suspend(true)?,
                        Outcome::Now => (next_tick, is_asked) = (probe::clock_now().boottime, true),
                        Outcome::Redraw => terminal.redraw()?,
                    }
                }
            }
            Wake::Timeout => {}
        }
    }
}

fn interval(session: &Session) -> Nanos {
    Nanos::from(session.settings.interval)
}

fn draw(
    terminal: &mut Terminal,
    session: &mut Session,
    state: &mut State,
    histories: &Histories,
    problems: Option<AgentProblems>,
) -> Result<(), Failure> {
    if state.is_stale {
        state.arrange(session);
    }
    terminal.draw(|frame| {
        let area = frame.area();
        if let Some(detail) = &mut state.detail {
            detail::draw(detail, session, histories, state.palette, frame.buffer_mut(), area);
        } else {
            let head = head::draw(session, problems, state.palette, frame.buffer_mut(), area);
            let notes = match session.past() {
                Some(place) => {
                    time_line::draw(place, &mut state.parts, state.palette, frame.buffer_mut(), area)
                }
                None => notes::draw(session, state.palette, frame.buffer_mut(), area),
            };
            let body = body::area(area, head, notes);
            body::draw(state, session, frame.buffer_mut(), body);
        }
        foot::draw(state, session, frame.buffer_mut(), area);
        if let Some(menu) = &mut state.menu {
            menu::draw(menu, state.palette, frame.buffer_mut(), area);
        }
    })
}
