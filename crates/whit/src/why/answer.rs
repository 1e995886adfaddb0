//! What `whit why` says.

use std::fmt::Write as _;

use ::history::why::{Findings, Window};
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;
use command::progress;
use facts::task::chain::Chain;
use facts::unit::Nanos;
use text::printable::Shown as _;
use text::units::Span;

use super::arguments::WhyArgs;
use super::present;

/// The answer about a window.
pub(super) struct Answer {
    pub(super) findings: Findings,
    pub(super) window: Window,
    /// When the window was fixed.
    pub(super) fixed_at: Nanos,
}

/// Prints the answer.
pub(super) fn print(answer: &Answer, chains: &[Chain], args: &WhyArgs) -> Result<(), Failure> {
    let mut text = String::new();
    if args.is_json {
        push_json(answer, chains, &mut text)?;
    } else {
        push_words(&answer.findings, chains, args, &mut text);
    }
    Output::stdout().write(text.as_bytes())
}

/// Does something that takes the longer the more time is examined.
pub(super) fn during<T>(window: Window, done: impl FnOnce() -> T) -> T {
    let span = Nanos((window.to_ms - window.from_ms).unsigned_abs() * 1_000_000);
    progress::during(|| format!("examining {} of history", Span(span)), done)
}

fn push_words(findings: &Findings, chains: &[Chain], args: &WhyArgs, text: &mut String) {
    let nothing = match args.target {
        Some(_) => "Nothing is known of such a task in this time.\n",
        None => "Nothing is wrong.\n",
    };
    if findings.sentences.is_empty() && chains.is_empty() {
        text.push_str(nothing);
    }
    for sentence in &findings.sentences {
        let _ = writeln!(text, "{}", sentence.text.shown());
        for evidence in sentence.evidence.iter().filter(|_| args.shows) {
            let _ = writeln!(text, "    {} = {}", evidence.expression.shown(), evidence.value);
        }
    }
    for missing in &findings.missing {
        let _ = writeln!(text, "Not known: {}", missing.shown());
    }
    if !chains.is_empty() {
        text.push_str("Now:\n");
    }
    chains.iter().for_each(|chain| text::chain::push(chain, text));
}

/// Appends a document that is stamped with the time at which the window was fixed.
fn push_json(
    Answer { findings, window, fixed_at }: &Answer,
    chains: &[Chain],
    text: &mut String,
) -> Result<(), Failure> {
    let mut body = findings.to_json();
    body["from_realtime_ns"] = (window.from_ms * 1_000_000).into();
    body["to_realtime_ns"] = (window.to_ms * 1_000_000).into();
    body["chains"] = present::to_json(chains);
    Documents::of_live().push(DocumentKind::Why, *fixed_at, &body, text)
}
