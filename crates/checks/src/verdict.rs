//! The result of a plugin's run.

use formats::plugin_output;

use super::runner::{Fate, Report};
use super::state::State;
use super::status::Finding;

/// Longer texts are cut, where Nagios does: MAX_PLUGIN_OUTPUT_LENGTH.
const MAX_TEXT_BYTES: usize = 8192;
/// So much of the performance data is kept as it was written.
const MAX_FIGURE_BYTES: usize = 4096;
/// Of other lines as well: of plugins no more is read.
const MAX_LONG_TEXT_BYTES: usize = 64 * 1024;
/// The last line of a text that was cut.
const IS_CUT: &str = "\n(there was more: it is cut after 64 KiB)";

/// Returns the result of a run; `timeout_s` is the time that it had.
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
        long_text.push_str(IS_CUT);
    }
    Finding {
        state,
        text: cut(text, MAX_TEXT_BYTES),
        long_text,
        figures: cut_figures(said.data),
        at_ms,
        is_passive: false,
    }
}

/// A passive result.
pub(super) fn submitted(state: State, output: &str, at_ms: i64) -> Finding {
    let said = plugin_output::read(output.as_bytes());
    let mut long_text = said.long_text;
    if long_text.len() > MAX_LONG_TEXT_BYTES {
        long_text.truncate(long_text.floor_char_boundary(MAX_LONG_TEXT_BYTES));
        long_text.push_str(IS_CUT);
    }
    Finding {
        state,
        text: cut(said.text, MAX_TEXT_BYTES),
        long_text,
        figures: cut_figures(said.data),
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

/// Performance data on one line, and not too long. It is cut between two figures, and ends with `…` then, which is reported as no figure.
fn cut_figures(text: String) -> String {
    let mut text = on_one_line(&text);
    if text.len() > MAX_FIGURE_BYTES {
        text.truncate(text.floor_char_boundary(MAX_FIGURE_BYTES));
        text.truncate(text.rfind(' ').unwrap_or(0));
        text.push_str(" …");
    }
    text
}

/// Without control characters, which a terminal would obey: those that are white space are blanks.
fn on_one_line(text: &str) -> String {
    let blank = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
    text.chars().map(blank).filter(|letter| !letter.is_control()).collect()
}

/// On one line, and not too long.
fn cut(text: String, most: usize) -> String {
    let mut text = on_one_line(&text);
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_cut_between_two_of_them() {
        let cut = cut_figures("metric=123456789;;;0; ".repeat(300));
        let (figures, faults) = plugin_output::read_data(&cut);
        assert!(cut.len() <= MAX_FIGURE_BYTES + 4 && figures.len() > 150, "{}", figures.len());
        assert!(figures.iter().all(|figure| figure.value == Some(123_456_789.0)));
        assert!(faults.len() == 1 && faults[0].contains('…'), "{faults:?}");
        assert_eq!(cut_figures("a=1\tb=2\rc=3\u{1b}".to_owned()), "a=1 b=2 c=3");
    }
}
