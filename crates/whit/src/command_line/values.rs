//! What the values of options may be, below the help of a command that has such options.

use command::kind::Kind;

/// Those that nobody can guess.
const EXPLAINED: [Kind; 6] = [Kind::Duration, Kind::Age, Kind::Size, Kind::Rate, Kind::Instant, Kind::Cgroup];
const WIDTH: usize = 80;
const INDENT: usize = 12;

/// Explains the kinds of values that a help names; empty if it names none of those.
pub(super) fn explained(help: &str) -> String {
    let mut text = String::new();
    for kind in EXPLAINED.into_iter().filter(|kind| help.contains(&format!("<{}>", kind.name()))) {
        if text.is_empty() {
            text.push_str("\nValues:\n");
        }
        let mut line = format!("  {:<width$}", kind.name(), width = INDENT - 3);
        for word in kind.help().replace('`', "").split(' ') {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                text.push_str(&line);
                text.push('\n');
                line = " ".repeat(INDENT - 1);
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_a_help_names_are_explained() {
        assert_eq!(explained("--json  Print JSON"), "");
        let text = explained("--at <INSTANT>  Show the past\n--older <AGE>");
        assert!(text.starts_with("\nValues:\n  AGE       a duration whose unit is named"), "{text}");
        assert!(text.contains("\n  INSTANT   when: 03:12, yesterday 14:00"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
