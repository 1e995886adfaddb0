//! The last line: what is typed, what is to be said, or the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::head::set;
use super::state::{State, Typing};
use crate::session::Session;

const KEYS: [(&str, &str); 12] = [
    ("?", "help"),
    ("Enter", "task"),
    ("/", "search"),
    ("\\", "filter"),
    ("s", "sort"),
    ("t", "tree"),
    ("H", "threads"),
    ("g", "group"),
    ("C", "columns"),
    ("F", "follow"),
    ("k", "signal"),
    ("q", "quit"),
];

const KEYS_OF_PAST: [(&str, &str); 8] = [
    ("[ ]", "tick"),
    ("{ }", "minute"),
    ("( )", "hour"),
    (", .", "spike"),
    ("@", "time"),
    ("w", "now"),
    ("?", "help"),
    ("q", "quit"),
];

pub(super) fn draw(state: &State, session: &Session, buffer: &mut Buffer, area: Rect) {
    let Some(y) = area.bottom().checked_sub(1) else { return };
    let line = Rect { y, height: 1.min(area.height), ..area };
    let palette = state.palette;
    if let Some(typing) = state.typing {
        let (what, text) = match typing {
            Typing::Search => ("search: ", &state.search),
            Typing::Filter => ("filter: ", &session.arrangement.filter),
            Typing::Interval => ("time between readings: ", &state.search),
            Typing::Instant => ("at (03:12, yesterday 14:00, -2h): ", &state.search),
        };
        set(buffer, line.x, y, line, &format!("{what}{text}▏"), palette.strong());
        return;
    }
    if let Some(message) = &state.message {
        set(buffer, line.x, y, line, message, palette.caution());
        return;
    }
    let mut x = line.x;
    let mut flags = Vec::new();
    if state.is_paused {
        flags.push("PAUSED".to_owned());
    }
    if let Some(followed) = state.followed {
        flags.push(format!("following {}", followed.pid));
    }
    flags.extend(session.narrowed_to().into_iter().map(|words| format!("only {words}")));
    if !session.arrangement.filter.is_empty() {
        flags.push(format!("filter \"{}\"", session.arrangement.filter));
    }
    for flag in flags {
        set(buffer, x, y, line, &flag, palette.caution());
        x = x.saturating_add(flag.chars().count() as u16 + 2);
    }
    let keys = match () {
        () if state.detail.is_some() => &[("Esc", "back"), ("?", "help"), ("q", "quit")][..],
        () if session.is_of_past => &KEYS_OF_PAST,
        () => &KEYS,
    };
    for (key, what) in keys {
        let width = (key.chars().count() + what.len() + 3) as u16;
        if x + width > line.right() {
            break;
        }
        set(buffer, x, y, line, key, palette.heading());
        set(buffer, x + key.chars().count() as u16 + 1, y, line, what, palette.faint());
        x += width;
    }
}
