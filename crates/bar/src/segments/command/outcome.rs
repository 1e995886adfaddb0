//! The meaning of a command's output.

use std::io;

use facts::unit::Nanos;
use probe::spawn::{Ended, Ending};
use serde::Deserialize;

use crate::Color;

/// How output is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON where it begins with a brace.
    #[default]
    Auto,
    Plain,
    Json,
}

/// How a command fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Ok,
    Failed,
    TimedOut,
    Missing,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::TimedOut => "timeout",
            Self::Missing => "missing",
        }
    }
}

/// The outcome of a command, to be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) short: String,
    pub(super) color: Option<Color>,
    pub(super) background: Option<Color>,
    pub(super) is_urgent: bool,
    pub(super) percent: Option<f64>,
    pub(super) state: State,
    pub(super) status: Option<i32>,
    /// The CPU time of all that it did.
    pub(super) cpu: Option<Nanos>,
}

/// A block for i3bar or a line for waybar.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Json {
    full_text: Option<String>,
    text: Option<String>,
    short_text: Option<String>,
    color: Option<String>,
    background: Option<String>,
    urgent: Option<bool>,
    percentage: Option<f64>,
    class: Option<Class>,
}

/// One word or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Class {
    One(String),
    Several(Vec<String>),
}

impl Class {
    fn has(&self, word: &str) -> bool {
        match self {
            Self::One(one) => one == word,
            Self::Several(several) => several.iter().any(|one| one == word),
        }
    }
}

/// The status by which scripts for i3blocks ask for attention.
const URGENT_STATUS: i32 = 33;

impl Outcome {
    /// Parses all that a command printed: text, short text and colour, a line each, or an object.
    pub(super) fn of_output(output: &[u8], syntax: Syntax) -> Self {
        let text = String::from_utf8_lossy(output);
        if is_json(&text, syntax) {
            return Self::of_json(&text);
        }
        let mut lines = text.lines().map(str::trim_end);
        let mut next = || lines.next().unwrap_or_default();
        let (text, short, color) = (next().to_owned(), next().to_owned(), next().parse().ok());
        Self { text, short, color, ..Self::default() }
    }

    /// Parses one line.
    pub(super) fn of_line(line: &[u8], syntax: Syntax) -> Self {
        let text = String::from_utf8_lossy(line);
        // Blocks for i3bar come in an endless array.
        let object = text.trim_start_matches([',', '[']).trim_start();
        if is_json(object, syntax) {
            return Self::of_json(object);
        }
        Self { text: text.trim_end().to_owned(), ..Self::default() }
    }

    fn of_json(text: &str) -> Self {
        let json: Json = match serde_json::from_str(text) {
            Ok(json) => json,
            Err(error) => {
                let text = format!("no JSON: {error}");
                return Self { text, state: State::Failed, ..Self::default() };
            }
        };
        let color = |text: Option<String>| text.and_then(|text| text.parse().ok());
        Self {
            text: json.full_text.or(json.text).unwrap_or_default(),
            short: json.short_text.unwrap_or_default(),
            color: color(json.color),
            background: color(json.background),
            is_urgent: json.urgent == Some(true)
                || json.class.is_some_and(|class| class.has("critical") || class.has("urgent")),
            percent: json.percentage.filter(|percent| percent.is_finite()),
            ..Self::default()
        }
    }

    /// With how it ended. Where it failed and said nothing, that is what is said.
    pub(super) fn ended(mut self, program: &str, ended: Ended) -> Self {
        let Ended { ending, usage } = ended;
        self.cpu = usage.map(|usage| usage.cpu());
        let what = match ending {
            Ending::Exited(0) | Ending::Unknown => {
                self.status = (ending != Ending::Unknown).then_some(0);
                return self;
            }
            Ending::Exited(URGENT_STATUS) => {
                self.is_urgent = true;
                self.status = Some(URGENT_STATUS);
                return self;
            }
            Ending::Exited(status) => {
                self.status = Some(status);
                format!("exit {status}")
            }
            Ending::Signaled(signal) => format!("signal {signal}"),
        };
        self.fail(State::Failed, program, &what)
    }

    pub(super) fn timed_out(self, program: &str) -> Self {
        self.fail(State::TimedOut, program, "timeout")
    }

    pub(super) fn not_started(program: &str, error: &io::Error) -> Self {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "not found".to_owned(),
            io::ErrorKind::PermissionDenied => "not executable".to_owned(),
            _ => error.to_string(),
        };
        Self::default().fail(State::Missing, program, &what)
    }

    fn fail(mut self, state: State, program: &str, what: &str) -> Self {
        self.state = state;
        if self.text.is_empty() || state == State::TimedOut {
            let name = program.rsplit('/').next().unwrap_or(program);
            self.text = format!("{name}: {what}");
            self.short.clear();
        }
        self
    }

    /// Returns true if there is nothing to show.
    pub(super) fn is_nothing(&self) -> bool {
        self.text.is_empty() && self.short.is_empty() && self.percent.is_none() && self.state == State::Ok
    }
}

fn is_json(text: &str, syntax: Syntax) -> bool {
    match syntax {
        Syntax::Auto => text.trim_start().starts_with('{'),
        Syntax::Plain => false,
        Syntax::Json => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_objects_are_read() {
        let plain = Outcome::of_output(b"80 %\n80\n#FF0000\nmore", Syntax::Auto);
        assert_eq!((plain.text.as_str(), plain.short.as_str()), ("80 %", "80"));
        assert_eq!(plain.color, "#ff0000".parse().ok());
        let i3bar =
            Outcome::of_line(br##",{"full_text":"a","color":"#00ff00","urgent":true}"##, Syntax::Auto);
        assert_eq!((i3bar.text.as_str(), i3bar.is_urgent), ("a", true));
        let waybar = br#"{"text":"b","percentage":40,"class":["x","critical"]}"#;
        let waybar = Outcome::of_output(waybar, Syntax::Auto);
        assert_eq!((waybar.text.as_str(), waybar.percent, waybar.is_urgent), ("b", Some(40.0), true));
        let nulls = Outcome::of_output(br#"{"text":"c","class":null,"urgent":null}"#, Syntax::Auto);
        assert_eq!((nulls.text.as_str(), nulls.is_urgent, nulls.state), ("c", false, State::Ok));
        assert_eq!(Outcome::of_output(b"{a}", Syntax::Plain).text, "{a}");
        assert_eq!(Outcome::of_output(b"{a}", Syntax::Auto).state, State::Failed);
        assert!(Outcome::of_output(b"", Syntax::Auto).is_nothing());
    }

    fn by(ending: Ending) -> Ended {
        Ended { ending, usage: None }
    }

    #[test]
    fn a_failure_is_reported_and_output_is_kept() {
        let failed = Outcome::default().ended("/usr/bin/x", by(Ending::Exited(3)));
        assert_eq!(
            (failed.text.as_str(), failed.state, failed.status),
            ("x: exit 3", State::Failed, Some(3))
        );
        let said = Outcome { text: "y".into(), ..Outcome::default() };
        assert_eq!(said.clone().ended("x", by(Ending::Signaled(9))).text, "y");
        assert_eq!(said.clone().timed_out("x").text, "x: timeout");
        assert!(said.ended("x", by(Ending::Exited(33))).is_urgent);
        let missing = Outcome::not_started("x", &io::Error::from(io::ErrorKind::NotFound));
        assert_eq!((missing.text.as_str(), missing.state.name()), ("x: not found", "missing"));
    }
}
