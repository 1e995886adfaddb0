//! What is typed: a filter, a search, an interval, an instant.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::outcome::Outcome;
use super::state::{State, Typing};
use crate::session::Session;
use crate::settings::parse_interval;
use command::options::parse_instant;

/// What is being typed.
fn typed<'t>(typing: Typing, state: &'t mut State, session: &'t mut Session) -> &'t mut String {
    match typing {
        Typing::Filter => &mut session.arrangement.filter,
        Typing::Search | Typing::Interval | Typing::Instant => &mut state.search,
    }
}

fn was_typed(typing: Typing, state: &mut State, session: &mut Session) {
    match typing {
        Typing::Filter => {
            // What is looked for is found among kernel threads, too.
            session.group();
            state.is_stale = true;
        }
        Typing::Search => state.find(session, state.selected),
        Typing::Interval | Typing::Instant => {}
    }
}

/// Takes a key.
pub(super) fn key(key: &KeyEvent, state: &mut State, session: &mut Session) -> Outcome {
    let Some(typing) = state.typing else { return Outcome::Go };
    let text = typed(typing, state, session);
    let mut outcome = Outcome::Go;
    match key.code {
        KeyCode::Esc => {
            text.clear();
            state.typing = None;
        }
        KeyCode::Enter => {
            state.typing = None;
            match typing {
                Typing::Interval => {
                    set_interval(state, session);
                    // The one before may be long.
                    outcome = Outcome::Now;
                }
                Typing::Instant => go_to(state, session),
                Typing::Search | Typing::Filter => {}
            }
        }
        KeyCode::Backspace => drop(text.pop()),
        KeyCode::Char(letter) if text.len() < 64 => text.push(letter),
        _ => {}
    }
    was_typed(typing, state, session);
    outcome
}

/// Erases the last word of what is being typed, or all of it, as a shell does.
pub(super) fn erase(is_word: bool, state: &mut State, session: &mut Session) {
    let Some(typing) = state.typing else { return };
    let text = typed(typing, state, session);
    let kept = text.trim_end().rfind(char::is_whitespace).map_or(0, |place| place + 1);
    text.truncate(if is_word { kept } else { 0 });
    was_typed(typing, state, session);
}

fn go_to(state: &mut State, session: &mut Session) {
    let text = std::mem::take(&mut state.search);
    let gone = parse_instant(&text).and_then(|at_ns| session.go_to(at_ns));
    state.show_other_time(gone);
}

fn set_interval(state: &mut State, session: &mut Session) {
    let text = std::mem::take(&mut state.search);
    match parse_interval(&text) {
        Ok(interval) => {
            session.settings.interval = interval;
            state.keep(session);
        }
        Err(message) => state.message = Some(message),
    }
}
