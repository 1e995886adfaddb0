//! Commands of checks: words, or a text that is split into them. No shell is behind it unless that is asked for.

use super::variables::Variables;
use configuration::{Fault, Options};
use configuration::{expected, text};
use formats::shell;

/// A command before its variables are filled in.
#[derive(Clone, Debug)]
pub(super) enum CommandText {
    Words(Vec<String>),
    /// For a shell.
    Shell(String),
}

const SHELL: &str = "/bin/sh";
/// The letters that a shell would do something about, outside quotation marks.
const ACTIVE: &[char] = &['|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '\n'];
/// The letters that a shell would do something about between double quotation marks.
const ACTIVE_IN_QUOTES: &[char] = &['$', '`'];

impl CommandText {
    /// Reads `command` and `shell`; `None` if there is no command.
    pub(super) fn read(table: &Options<'_, '_>) -> Result<Option<Self>, Fault> {
        let Some(value) = table.get("command") else {
            return match table.get("shell") {
                Some(_) => Err(table.fault_of("shell", "this needs command = \"a text for the shell\"")),
                None => Ok(None),
            };
        };
        let is_for_shell = table.flag("shell")?;
        if value.get_ref().as_array().is_some() {
            if is_for_shell {
                return Err(table.fault_of("shell", "a shell takes a text, not words"));
            }
            return Ok(table.words("command")?.map(Self::Words));
        }
        let command = text(value)?;
        if command.contains('\0') {
            return Err(expected(value, "a command without zero bytes"));
        }
        if is_for_shell {
            return Ok(Some(Self::Shell(command.to_owned())));
        }
        if let Some((at, what)) = active_letter(command) {
            let message = format!(
                "\"{what}\" is for a shell, and none takes this apart: put it between ' marks, or set shell = true"
            );
            // In a text without escapes the letter itself can be marked.
            let span = value.span();
            let is_plain = span.len() == command.len() + 2;
            let mark = span.start + 1 + at;
            return Err(Fault::new(if is_plain { mark..mark + what.len_utf8() } else { span }, message));
        }
        match shell_words::split(command) {
            Ok(words) if !words.is_empty() && !words[0].is_empty() => Ok(Some(Self::Words(words))),
            Ok(_) => Err(expected(value, "a command, such as \"/usr/lib/nagios/plugins/check_load -w 5\"")),
            Err(error) => Err(expected(value, &format!("a command: {error}"))),
        }
    }

    /// The words for these variables.
    pub(super) fn words(&self, variables: &Variables) -> Result<Vec<String>, String> {
        match self {
            Self::Words(words) => {
                if let Some(place) = shell::program_among(words, |word| variables.stand_in(word)) {
                    return Err(format!(
                        "\"{}\" is a program for a shell or an interpreter, which would read values as a part of it: let it be words behind that, as in \
                         [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{{name}}\"], or set shell = true",
                        words[place]
                    ));
                }
                words.iter().map(|word| variables.fill(word)).collect()
            }
            Self::Shell(text) => shell::words(SHELL, &variables.pieces(text)?),
        }
    }
}

/// Returns whether a shell would do something about a command but split it into words.
pub(crate) fn needs_shell(command: &str) -> bool {
    active_letter(command).is_some()
}

/// The first letter that a shell would do something about, and its place in bytes.
fn active_letter(command: &str) -> Option<(usize, char)> {
    let mut quote = None;
    let mut letters = command.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(letters.next()),
            (Some(_), letter) if ACTIVE_IN_QUOTES.contains(&letter) => return Some((at, letter)),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, letter) if ACTIVE.contains(&letter) => return Some((at, letter)),
            (None, '~') if at == 0 || command[..at].ends_with(char::is_whitespace) => return Some((at, '~')),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use configuration::parse;

    fn read(text: &str) -> Result<CommandText, (usize, String)> {
        let document = parse(text).unwrap();
        let options = Options::new(document.get_ref(), 0..0);
        CommandText::read(&options).map(Option::unwrap).map_err(|fault| (fault.span.start, fault.message))
    }

    #[test]
    fn a_text_is_split_without_a_shell() {
        let mut variables = Variables::default();
        variables.set("host", "a b; rm");
        for (command, words) in [
            (
                r#"command = "check_x -w '5 6' \"a'b\" {host}""#,
                vec!["check_x", "-w", "5 6", "a'b", "a b; rm"],
            ),
            (r#"command = ["check_x", "$HOME|"]"#, vec!["check_x", "$HOME|"]),
            (r#"command = 'check_x "a|b" \$ a~'"#, vec!["check_x", "a|b", "$", "a~"]),
            (
                "command = \"a | b {host}\"\nshell = true",
                vec!["/bin/sh", "-c", "a | b \"${1}\"", "sh", "a b; rm"],
            ),
        ] {
            assert_eq!(read(command).unwrap().words(&variables).unwrap(), words, "{command}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_refused_with_its_place() {
        for (command, place) in [
            ("command = \"a | b\"", 13),
            ("command = \"a $(b)\"", 13),
            ("command = 'a \"$b\"'", 14),
            ("command = \"ls *\"", 14),
            ("command = \"ls ~/x\"", 14),
            ("command = \"\"", 10),
            ("command = \"a 'b\"", 10),
            ("shell = true", 8),
            ("command = [\"a\"]\nshell = true", 24),
        ] {
            assert_eq!(read(command).unwrap_err().0, place, "{command}");
        }
    }
}
