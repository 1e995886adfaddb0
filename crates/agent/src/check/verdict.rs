//! What a plugin's run says.

use formats::plugin_output;

use super::runner::{Fate, Report};
use super::standing::Finding;
use super::state::State;

/// Longer texts are cut, where Nagios does: MAX_PLUGIN_OUTPUT_LENGTH.
const MOST_TEXT_BYTES: usize = 8192;
/// So much of the performance data is kept as it was written.
const MOST_FIGURE_BYTES: usize = 4096;

/// What a run says; `timeout_s` is what it had.
pub(super) fn verdict(report: &Report, timeout_s: f64, timeout_state: State, at_ms: i64) -> Finding {
    let said = plugin_output::read(&report.output);
    let (state, reason) = match &report.fate {
        Fate::Exited(status) => match State::of_number(*status) {
            Some(state) => (state, String::new()),
            None => (State::Unknown, odd_status(*status)),
        },
        Fate::Signaled(signal) => (State::Unknown, format!("ended by signal {}", signal_name(*signal))),
        Fate::TimedOut => (timeout_state, format!("it did not end within {timeout_s} s")),
        Fate::NotFound(error) => (State::Unknown, format!("the plugin is not there: {error}")),
        Fate::NotExecutable(error) => (State::Unknown, format!("the plugin cannot be executed: {error}")),
        Fate::NotStarted(error) => (State::Unknown, format!("the plugin cannot be started: {error}")),
        Fate::Lost | Fate::Gone => (State::Unknown, "its end was not seen".to_owned()),
    };
    let mut text = said.text;
    if text.is_empty() && said.long_text.is_empty() && !report.errors.is_empty() {
        let errors = String::from_utf8_lossy(&report.errors);
        let line = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        text = format!("(no output; standard error: {})", line.trim());
    }
    text = match (text.as_str(), reason.as_str()) {
        ("", "") => "(no output)".to_owned(),
        (text, "") => text.to_owned(),
        ("", reason) => format!("({reason})"),
        (text, reason) => format!("{text} ({reason})"),
    };
    let mut long_text = said.long_text;
    if report.is_cut {
        long_text.push_str("\n(there was more: it is cut after 64 KiB)");
    }
    Finding {
        state,
        text: cut(text, MOST_TEXT_BYTES),
        long_text,
        figures: cut(said.data, MOST_FIGURE_BYTES),
        at_ms,
        is_passive: false,
    }
}

/// A passive result.
pub(super) fn submitted(state: State, output: &str, at_ms: i64) -> Finding {
    let said = plugin_output::read(output.as_bytes());
    Finding {
        state,
        text: cut(said.text, MOST_TEXT_BYTES),
        long_text: said.long_text,
        figures: cut(said.data, MOST_FIGURE_BYTES),
        at_ms,
        is_passive: true,
    }
}

fn odd_status(status: i32) -> String {
    match status {
        126 => "exit status 126: what it runs cannot be executed".to_owned(),
        127 => "exit status 127: what it runs is not there".to_owned(),
        // As shells say it.
        129..=192 => format!("exit status {status}: ended by signal {}", signal_name(status - 128)),
        status => format!("exit status {status}, which is none of 0 to 3"),
    }
}

fn signal_name(signal: i32) -> String {
    let name = probe::signals::name_of(signal);
    name.map_or_else(|| signal.to_string(), |name| format!("{signal} ({name})"))
}

/// On one line, and not too long. Control characters, which a terminal would obey, are left out.
fn cut(mut text: String, most: usize) -> String {
    text.retain(|letter| !letter.is_control());
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}
