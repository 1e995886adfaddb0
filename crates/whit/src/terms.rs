//! `whit help terms`: the words that whit has for time and memory, from docs/TERMS.md.

use std::process::ExitCode;

use command::failure::Failure;
use command::output::{Output, line_width};
use text::wrap::wrapped;

const TERMS: &str = include_str!("../../../docs/TERMS.md");

/// Prints them.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    Output::stdout().write(text(line_width()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Each term in a line, with its meaning below it, in lines of this width.
fn text(width: usize) -> String {
    let mut text = String::new();
    for (term, meaning) in terms() {
        text.push_str(&format!("{term}\n"));
        for line in wrapped(&meaning.replace(char::from(96), ""), width.saturating_sub(2)) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// The terms and their meanings.
fn terms() -> impl Iterator<Item = (String, &'static str)> {
    let item = |line: &'static str| line.strip_prefix("- ")?.split_once(": ");
    TERMS.lines().filter_map(item).map(|(term, meaning)| (term.replace(['*', '`'], ""), meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_has_a_meaning() {
        assert!(terms().count() > 20);
        assert!(terms().all(|(term, meaning)| !term.is_empty() && meaning.ends_with('.')));
        let listed = TERMS.lines().filter(|line| line.starts_with("- ")).count();
        assert_eq!(terms().count(), listed);
        assert!(text(40).lines().all(|line| line.chars().count() <= 40));
    }
}
